//! What decides whether something may be done, and remembers that it was.
//!
//! A model proposes; this crate disposes. Every act goes through the stages of [`pipeline`] in their order and, where
//! it may be done, gets a [`acts::Permit`] without which no tool can be called. What a person must agree to waits in
//! [`approvals`]; what it may cost is set aside in [`budget`]; what happened stands in [`audit`].
//!
//! Not here: tools themselves and calling them (floor 6), who says what a tool is, and finding people's data in a text
//! (`munshi-privacy`).
//!
//! # Layout
//! - [`pipeline`]: the stages, each a file, and the decision; [`policy`]: what a tenant allows
//! - [`acts`]: begun, ended, taken up after a crash; [`approvals`]: questions and answers
//! - [`audit`]: the chain of what happened; [`vault`]: a tenant's secrets
//! - [`consents`]: what people have agreed to, purpose by purpose
//! - [`budget`]: plans, limits, what is set aside and what is spent
//! - [`rate_limits`]: how often something may happen, on all nodes together
//! - [`requests`]: administrative requests that are made once however often they are sent
//! - [`Error`]: what can go wrong
//!
//! # To add
//! - a stage: [`pipeline`] says how
//! - a reason to ask a person: a variant of [`pipeline::ConsentReason`], collected in `pipeline/consent.rs`, and its row in `docs/safety.md`
//! - an event of the audit: a constant of [`audit::AuditEvent`]
//! - a key of a tenant's policy: its section in [`policy`], and `docs/policy.md`

pub mod acts;
pub mod approvals;
pub mod audit;
pub mod budget;
pub mod consents;
mod error;
pub mod pipeline;
pub mod policy;
pub mod proposals;
pub mod rate_limits;
pub mod requests;
pub mod vault;

pub use error::{Error, Result};

use munshi_identity::row_sealing::RowsOfBefore;
use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] = &[
    migration!("0007_audit"),
    migration!("0008_vault"),
    migration!("0009_usage"),
    migration!("0010_acts"),
    migration!("0015_refusals"),
    migration!("0018_left"),
    migration!("0035_rate_limits"),
    migration!("0049_answered_requests"),
    migration!("0051_proposed_operations"),
    migration!("0058_act_undo"),
    migration!("0082_transient_acts"),
    migration!("0083_consents"),
    migration!("0086_acts_by_person"),
    migration!("0091_consent_sources"),
    migration!("0092_consent_wordings"),
    migration!("0096_approval_purposes"),
    migration!("0131_unasked_messages"),
    migration!("0141_message_consents"),
    migration!("0174_keyed_rate_limits"),
];

/// Rows from before they were sealed, for those who seal them.
pub const ROWS_OF_BEFORE: &[RowsOfBefore] = &[
    RowsOfBefore::Table(&acts::ACTS_OF_BEFORE),
    RowsOfBefore::Table(&approvals::APPROVALS_OF_BEFORE),
    RowsOfBefore::Table(&proposals::PROPOSALS_OF_BEFORE),
    RowsOfBefore::Own { name: "answered_requests", seal_next: requests::seal_answers_of_before },
];
