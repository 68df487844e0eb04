//! Following conversations as they change.
//!
//! A unit of work that changes what somebody sees of a session announces it to its process, and says in the session's row
//! when it changed. One [`LiveHub`] a node listens to both: to its own process at once, and by asking a few times a second which
//! sessions have changed, for what other nodes do, and commands that open the same file. Whoever follows waits on a [`ChangeWatch`] and
//! reads the database after each wake-up: what is told is what is stored, in its order, and a wake-up too many is harmless.
//! One too few does not last, since everybody looks by themselves every few seconds.
//!
//! Postgres has NOTIFY for this. A transaction that notifies takes a lock on the whole database at its commit, so that all
//! turns of all tenants would commit one after another. One indexed statement that mostly finds nothing costs less.
//!
//! Not here: a run's own events (`munshi_agent`), streams and who may follow what (`munshi_web`), what is stored
//! (`munshi_conversations`).
//!
//! # Layout
//! - [`LiveHub`]: the one task of a node; `watchers`: who waits for what; `remote_changes`: what other processes have changed
//! - [`SessionFollower`]: one session's changes in order; [`MessageCursor`]: how far somebody has come in it
//! - [`TenantFollower`]: which sessions of a tenant change
//! - [`RetryBackoff`]: what followers do while the database can't be read
//!
//! # To tell followers of something else
//! Store it, call `munshi_conversations::sessions::touch` in the same unit, and read it in [`SessionFollower`].

mod cursor;
mod hub;
mod outage;
mod remote_changes;
mod session_follower;
mod session_state;
mod tenant_follower;
mod watchers;

pub use cursor::{MessageCursor, MessageCursorError};
pub use hub::LiveHub;
pub use outage::{FailedLook, OutageNotice, RetryBackoff};
pub use session_follower::{SessionChange, SessionFollower};
pub use session_state::{FollowedRun, FollowedRunState, SessionState, UnsentMessage};
pub use tenant_follower::TenantFollower;
pub use watchers::ChangeWatch;

use std::time::Duration;

/// Whoever follows looks by themselves after so long, though nothing was announced.
pub const SWEEP: Duration = Duration::from_secs(15);
