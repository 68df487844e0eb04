//! The turn: from a message to its answer, durable at every step.
//!
//! A message is stored with its [run](runs) before anybody is told that it came. The run walks the stages ingest,
//! prepare, think, act, check, respond; what it has is stored with every act, so that a process that dies is
//! followed by one that goes on, pays for no model call twice and does nothing twice. A plain turn is two transactions.
//!
//! Not here: any pack, any channel, HTTP. Channels hand in an [`Inbound`](munshi_types::Inbound) and follow
//! [`Event`]s; packs come in through [`House`](munshi_pack::House).
//!
//! # Layout
//! - [`state`]: where a run can be; [`event`]: what followers see
//! - [`snapshot`]: what a run takes with it over a crash
//! - [`entities`]: what a conversation has spoken of; [`choices`]: a name that is several people's, or nobody's
//! - [`suggest`]: what the person may want to say next

pub mod choices;
pub mod entities;
pub mod error;
pub mod event;
pub mod snapshot;
pub mod state;
pub mod suggest;

pub use error::{Error, Result};
pub use event::{Event, EventId, Usage};
pub use snapshot::Snapshot;
pub use state::{Halt, RunState};

use munshi_store::{Door, Migration, migration};

/// Why the installation may look at all tenants' runs: to take up those whose process died.
pub const RUNS: Door = Door::new("runs");

pub const MIGRATIONS: &[Migration] = &[migration!("0014_turns")];
