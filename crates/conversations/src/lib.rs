//! What is stored of conversations, and of the runs that answer them.
//!
//! A session is a thread with one person; what is said there are its messages; each message has a run, whose steps and
//! snapshot say how far its answer has come. Here are their tables, every statement on them, the types that rows are read
//! into, and what is done with rows alone: a message comes in, a turn's end is stored, what leaves is delivered, old turns
//! become summaries. Whoever works on a run holds a lease; every write names the epoch it was made under.
//!
//! Not here: what a turn does between its message and its end. The stages, models, tools and followers are
//! `munshi_agent`'s, which stores all that it has through this crate. What a model writes comes in through a trait,
//! [`retention::Summariser`].
//!
//! # Layout
//! - [`sessions`], [`messages`], [`runs`], [`steps`], [`decisions`], [`violations`], [`handoffs`]: the rows, a file or a
//!   folder each; `columns`: how some are read; [`sealing`]: whose key they are kept under
//! - [`stored_prompts`]: what models were told, for tenants that keep it
//! - [`state`]: where a run can be; [`event`]: what followers see; [`snapshot`]: what a run takes with it over a crash
//! - [`marks`]: what a stored reply says beside its text; [`taint_bits`]: whose words stand in what is stored
//! - [`ingest`]: a message comes in; [`inbound`] and `sender_identity`: whether it can, and whose it is;
//!   [`client_context`]: the conversation and the tools of a program that keeps them itself; [`key_use`]: what a message
//!   that came through an API key may do
//! - [`commit`]: what is stored on the way and at the end; [`cancel`]: that a run should stop; [`late_acts`]: acts that a
//!   turn no longer waits for
//! - [`background`]: what is stored of runs that nobody typed
//! - [`holders`], `process_identity`: which processes hold runs, and the proof that one is dead; [`chat_places`]: how many
//!   turns one works on; [`run_load`]: how much work waits; [`isolation`]: runs that may have broken a process
//! - [`holds`]: somebody of the business takes a conversation over; [`whispers`]: what they tell the agent of it;
//!   [`human_requests`], [`unanswered_requests`]: the line of those who asked for a human, and those to whom nobody came;
//!   [`session_waits`], [`unanswered_holds`]: who waits for an answer, and those whom a colleague leaves waiting
//! - [`outbox`]: what leaves, once; [`linking`]: a visitor proves a phone, and two threads become one
//! - [`session_changes`]: what has changed for those who follow a session; [`presence`]: who types in it, and how far it was read
//! - [`reach`]: who of a tenant is reached where, and for what
//! - [`erasure`]: what goes when somebody is forgotten; [`personal_records`]: what they are told
//! - [`joining`]: messages that one reply answers together; [`search`]: messages by their words; [`retention`]: summaries and the archive; [`rollups`]: what turns came to, day by day
//!
//! # To add a column or a table
//! A migration in `migrations/` with the next free number, listed in [`MIGRATIONS`]; each column of text in
//! `migrations/columns.toml`, with the key that seals it; the statements beside the type that its rows are read into.

pub mod background;
pub mod cancel;
pub mod chat_places;
pub mod client_context;
mod columns;
pub mod commit;
pub mod decisions;
pub mod erasure;
pub mod error;
pub mod event;
pub mod handoffs;
pub mod holders;
pub mod holds;
pub mod human_requests;
pub mod inbound;
pub mod ingest;
pub mod isolation;
pub mod joining;
pub mod key_use;
pub mod late_acts;
pub mod linking;
pub mod marks;
pub mod messages;
pub mod outbox;
pub mod personal_records;
pub mod presence;
mod process_identity;
pub mod reach;
pub mod retention;
pub mod rollups;
mod rows_of_before;
pub mod run_load;
pub mod runs;
pub mod sealing;
pub mod search;
mod sender_identity;
pub mod session_changes;
pub mod session_waits;
pub mod sessions;
pub mod snapshot;
pub mod state;
pub mod steps;
pub mod stored_prompts;
pub mod taint_bits;
mod transient_calls;
pub mod unanswered_holds;
pub mod unanswered_requests;
pub mod violations;
pub mod whispers;

pub use decisions::TurnTimings;
pub use error::{Error, Result};
pub use event::{BegunRun, EventId, RunEvent, TurnUsage, UndoOffer, WorkEvent};
pub use ingest::IngestStatus;
pub use key_use::KeyUse;
pub use rows_of_before::ROWS_OF_BEFORE;
pub use runs::RunRecoveryScope;
pub use sender_identity::meet_sender;
pub use snapshot::RunSnapshot;
pub use state::{HaltReason, RunState};

use munshi_store::{Migration, PlatformScope, migration};

/// Why the installation may look at all tenants' runs: to take up those whose process died.
pub const RUNS: PlatformScope = PlatformScope::new("runs");

/// Why a node may look at all tenants' sessions: to hear which of them others have changed.
pub const LIVE: PlatformScope = PlatformScope::new("live");

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
    migration!("0085_retention"),
    migration!("0098_stored_prompts"),
    migration!("0099_messages_by_session"),
    migration!("0100_outbox"),
    migration!("0102_outbox_receipts"),
    migration!("0111_address_opt_outs"),
    migration!("0120_live_sessions"),
    migration!("0121_holds"),
    migration!("0130_reach"),
    migration!("0140_session_waits"),
    migration!("0142_outbox_consents"),
    migration!("0144_reach_logins"),
    migration!("0152_outbox_parts"),
    migration!("0180_outbox_reminders"),
];
