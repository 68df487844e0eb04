//! Acts as the store keeps them: proposed, decided, begun, ended, and taken up again after a crash.
//!
//! `begin` decides and, where an act may be done, writes its intent down and gives the [`Permit`] without which no
//! tool can be called; `finish` writes down what came of it. An act that writes in our own transaction goes through
//! both inside that transaction. What the audit is to be told comes back as [`DeferredAuditEntries`], to be told last. Whoever calls
//! them has the tool called in between: that is the dispatcher alone.

mod begin;
mod decision_store;
mod deferred_audit;
mod description;
mod digest;
mod erase;
mod finish;
mod limits;
mod open_tools;
mod permit;
mod preview;
mod recover;
mod refusals;
mod sealing;
mod services;
mod stand_in;
mod store;
mod unasked;
mod undo;

pub use begin::{ActDecision, begin};
pub use deferred_audit::DeferredAuditEntries;
pub use description::describe_call as in_plain_words;
pub use digest::ActDigest;
pub use erase::{ActExpiry, PERSONAL_DATA, end_open, expire};
pub use finish::{ActOutcome, LOGIN_NEEDED, finish};
pub use open_tools::check_open;
pub use permit::{Permit, PermitMode};
pub use preview::preview;
pub use recover::{ACTS, ActRecovery, LapsedAct, TakeoverReason, list_lapsed, list_leased, recover};
pub use refusals::{CountedRefusals, flush_counted_refusals, list_counted_refusals};
pub(crate) use sealing::{ACTS_OF_BEFORE, ARGUMENTS, LEAVING, seal_by};
pub use services::{ActServices, RefusalObserver};
pub use stand_in::ResultStandIn;
pub use store::{Act, ActState, find, find_for_update, has_written, list, list_by_run};
pub(crate) use store::{record_answer, to_stored_json};
pub use undo::{ActUndo, UndoRefusal, UndoStep, begin_undo, find_undone, offer_undo};
