//! Acts as the store keeps them: proposed, decided, begun, ended, and taken up again after a crash.
//!
//! `begin` decides and, where an act may be done, writes its intent down and gives the [`Permit`] without which no
//! tool can be called; `finish` writes down what came of it. An act that writes in our own transaction goes through
//! both inside that transaction. What the audit is to be told comes back as [`DeferredAuditEntries`], to be told last. Whoever calls
//! them has the tool called in between: that is the dispatcher alone.

mod begin;
mod books;
mod consider;
mod digest;
mod finish;
mod limits;
mod office;
mod open;
mod permit;
mod recover;
mod refusals;
mod row;
mod untold;
mod words;

pub use begin::{ActDecision, begin};
pub use consider::consider;
pub use digest::ActDigest;
pub use finish::{ActOutcome, LOGIN_NEEDED, finish};
pub use office::{ActServices, RefusalObserver};
pub use open::open;
pub use permit::{Permit, PermitMode};
pub use recover::{ACTS, ActRecovery, LapsedAct, TakeoverReason, lapsed, leased, recover};
pub use refusals::{CountedRefusals, tell_together, unheard};
pub use row::{Act, ActState, find, find_held, newest, of_run};
pub(crate) use row::{kept, note_answer};
pub use untold::DeferredAuditEntries;
pub use words::plain as in_plain_words;
