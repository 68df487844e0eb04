//! The turn: from a message to its answer, durable at every step.
//!
//! A message is stored with its [run](munshi_conversations::runs) before anybody is told that it came. The run walks the
//! stages ingest, prepare, think, act, check, respond; what it has is stored with every act, so that a process that dies is
//! followed by one that goes on, pays for no model call twice and does nothing twice. A plain turn is two transactions.
//!
//! Not here: any table or statement, which is [`munshi_conversations`]; any pack, any channel, HTTP; what a conversation has
//! spoken of and what the person is asked, which is [`munshi_dialogue`]. Channels hand in an
//! [`InboundMessage`](munshi_types::InboundMessage) and follow [`RunEvent`](munshi_conversations::RunEvent)s; packs come in
//! through [`PackRegistry`](munshi_pack::PackRegistry). What can go wrong is one list with the rows':
//! [`Error`](munshi_conversations::Error).
//!
//! # Layout
//! - [`TurnEngine`] (`engine`, `receive`): the one way in; `inbound_routing`, `run_loop`: a message finds its binding, its
//!   run is carried to its end; `background_jobs`: what is done after it
//! - `turn`: the stages, a file each; `recover`, `cancel`: taking up, and stopping; `holders`: which processes are dead;
//!   `isolation`: runs that may break their process; `waiting_turns`, `waiting_counts`: turns that found no free place;
//!   `pending_turns`: turns queued behind another;
//!   `expired_approvals`: questions nobody answered in time, and the minutely sweep of acts; `deferred_results`: acts that a
//!   turn no longer waits for; `notify`: what we say by ourselves
//! - [`follow`], `run_channels`: following a run, live or as it is stored; [`RunOutcome`]: what came of it
//! - `reply_language`: in which language somebody is answered; `phrases`: our own words; `mask_people`: whose names no
//!   model elsewhere reads
//! - `model_routing`: which models are asked, and who pays; `turn_budget`: what their calls may cost; `rules`: a binding's guardrails, read once
//! - [`background`]: runs that nobody typed
//! - `turn_metrics`: what is counted as turns end
//! - `model_summariser`: summaries by a model; `reply_draft`: what a colleague could say next; `held_conversations`: drafts and time limits while a colleague has one in hand; `call_redactor`: whose names such calls do not tell; `embeddings`: vectors for texts, in the name of a binding
//! - [`direct_tools`]: tools that a program calls itself, without a turn; [`undo`]: taking back an act
//!
//! # To add a step to a turn
//! 1. Write it as a method of `Turn` in a file of `turn/`, and call it where its turn is in `turn/stages.rs`. What needs no model stands in
//!    `understand_message`.
//! 2. What it reads before thinking goes into `turn/prepare.rs`, which reads all at once. What must outlive a crash goes into the
//!    `RunSnapshot` of `munshi-conversations`, and is stored with the acts (`turn/journal.rs`) or the reply (`turn/respond.rs`).
//! 3. Test it in `tests/turns/`; `tests/killed/` kills a process at random moments.
//!
//! Most of what a trade wants to add is no step but a part of a pack: a context source, a reader, a check or a turn hook.

mod act_takeover;
pub mod background;
mod background_jobs;
mod call_redactor;
mod cancel;
mod deferred_results;
pub mod direct_tools;
mod embeddings;
mod engine;
mod expired_approvals;
pub mod follow;
mod held_conversations;
mod holders;
mod inbound_routing;
mod isolation;
mod mask_people;
mod model_routing;
mod model_summariser;
mod notify;
mod outcome;
mod pending_turns;
mod phrases;
mod receive;
mod recover;
mod reply_draft;
mod reply_language;
mod rules;
mod run_channels;
mod run_loop;
pub mod settings;
mod turn;
mod turn_budget;
mod turn_metrics;
pub mod undo;
mod waiting_counts;
mod waiting_turns;

pub use cancel::RunCancelOutcome;
pub use embeddings::{TextEmbeddingFailure, TextEmbeddings};
pub use engine::{TurnEngine, TurnEngineParts};
pub use follow::RunFollower;
pub use munshi_dialogue::{act_words, choices, entities, suggest};
pub use outcome::{RunOutcome, ToolCallRecord};
pub use receive::{MessageReceipt, ReceiveOptions};
pub use reply_draft::ReplyDraftOutcome;
pub use settings::{IsolationTimes, TurnSettings};
