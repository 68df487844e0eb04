//! The turn: from a message to its answer, durable at every step.
//!
//! A message is stored with its [run](runs) before anybody is told that it came. The run walks the stages ingest,
//! prepare, think, act, check, respond; what it has is stored with every act, so that a process that dies is
//! followed by one that goes on, pays for no model call twice and does nothing twice. A plain turn is two transactions.
//!
//! Not here: any pack, any channel, HTTP; what a conversation has spoken of and what the person is asked, which is
//! [`munshi_dialogue`]. Channels hand in an [`InboundMessage`](munshi_types::InboundMessage) and follow
//! [`RunEvent`]s; packs come in through [`PackRegistry`](munshi_pack::PackRegistry).
//!
//! # Layout
//! - [`TurnEngine`] (`engine`, `receive`): the one way in; `inbound_routing`, `run_loop`: a message finds its binding, its
//!   run is carried to its end; `background_jobs`: what is done after it
//! - `turn`: the stages, a file each; `recover`, `cancel`: taking up, and stopping; [`holders`], `process_identity`: which
//!   process works on what, and which are dead; `isolation`: runs that may break their process;
//!   `expired_approvals`: questions nobody answered in time, and the minutely sweep of acts; `deferred_results`, `late_acts`: acts that a turn no longer waits for; `notify`: what we
//!   say by ourselves
//! - [`handoffs`]: a conversation that goes on with another team, binding or person
//! - [`follow`], `run_channels`, [`marks`]: following a run, live or as it is stored; [`RunOutcome`]: what came of it
//! - `reply_language`: in which language somebody is answered; `phrases`: our own words; `mask_people`: whose names no
//!   model elsewhere reads
//! - `model_routing`: which models are asked, and who pays; `turn_budget`: what their calls may cost; `rules`: a binding's guardrails, read once
//! - [`background`]: runs that nobody typed
//! - [`state`]: where a run can be; [`event`]: what followers see
//! - [`snapshot`]: what a run takes with it over a crash
//! - [`sessions`], [`messages`], [`runs`], [`steps`], [`decisions`]: the rows; `columns`: how some are read; `sealing`:
//!   whose key they are kept under
//! - [`rollups`]: what turns came to, day by day; `turn_metrics`: what is counted as they end
//! - [`ingest`]: a message comes in; `inbound` and `sender_identity`: whether it can, and whose it is
//! - [`commit`]: what is stored on the way and at the end; [`outbox`]: what leaves, once
//! - [`linking`]: a visitor proves a phone, and two threads become one; [`retention`]: summaries and the archive
//! - `embeddings`: vectors for texts, in the name of a binding
//! - [`direct_tools`]: tools that a program calls itself, without a turn
//! - [`key_use`]: what a message that came through an API key may do
//! - [`client_context`]: the conversation and the tools of a program that keeps them itself

mod act_takeover;
pub mod background;
mod background_jobs;
pub mod cancel;
mod chat_places;
pub mod client_context;
mod columns;
pub mod commit;
pub mod decisions;
mod deferred_results;
pub mod direct_tools;
mod embeddings;
mod engine;
pub mod error;
pub mod event;
mod expired_approvals;
pub mod follow;
pub mod handoffs;
pub mod holders;
pub mod inbound;
mod inbound_routing;
pub mod ingest;
mod isolation;
pub mod key_use;
mod late_acts;
pub mod linking;
pub mod marks;
mod mask_people;
pub mod messages;
mod model_routing;
mod notify;
pub mod outbox;
mod outcome;
mod phrases;
mod process_identity;
mod receive;
mod recover;
mod reply_language;
pub mod retention;
pub mod rollups;
mod rules;
mod run_channels;
pub mod run_load;
mod run_loop;
pub mod runs;
mod sealing;
mod sender_identity;
pub mod sessions;
pub mod settings;
pub mod snapshot;
pub mod state;
pub mod steps;
mod taint_bits;
mod turn;
mod turn_budget;
mod turn_metrics;
pub mod undo;
pub mod violations;
mod waiting_turns;

pub use cancel::RunCancelOutcome;
pub use decisions::TurnTimings;
pub use embeddings::{TextEmbeddingFailure, TextEmbeddings};
pub use engine::{TurnEngine, TurnEngineParts};
pub use error::{Error, Result};
pub use event::{BegunRun, EventId, RunEvent, TurnUsage, UndoOffer, WorkEvent};
pub use follow::RunFollower;
pub use ingest::IngestStatus;
pub use key_use::KeyUse;
pub use munshi_dialogue::{act_words, choices, entities, suggest};
pub use outcome::{RunOutcome, ToolCallRecord};
pub use receive::{MessageReceipt, ReceiveOptions};
pub use runs::RunRecoveryScope;
pub use settings::{IsolationTimes, TurnSettings};
pub use snapshot::RunSnapshot;
pub use state::{HaltReason, RunState};

use munshi_store::{Migration, PlatformScope, migration};

/// Why the installation may look at all tenants' runs: to take up those whose process died.
pub const RUNS: PlatformScope = PlatformScope::new("runs");

pub const MIGRATIONS: &[Migration] = &[
    migration!("0014_turns"),
    migration!("0016_rollups"),
    migration!("0021_brought"),
    migration!("0025_late"),
    migration!("0045_run_holders"),
    migration!("0032_key_use"),
    migration!("0040_aside"),
    migration!("0052_run_causes"),
    migration!("0060_handoffs"),
];
