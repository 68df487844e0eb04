//! What agents ask before they act, and the answers.

mod answer;
mod find;
mod grant;
mod list;
mod refuse;
mod show;
mod view;
mod words;

pub use answer::{resolve_outcome, resume_run};
pub use grant::{GrantApproval, GrantApprovalInput, GrantCoverage};
pub use list::{ListApprovals, ListApprovalsInput, list_pending_in};
pub use refuse::{RefuseApproval, RefuseApprovalInput};
pub use show::{ApprovalInput, ShowApproval};
pub use view::{AnsweredApprovalView, ApprovalState, ApprovalView};
pub use words::{describe_consent_giver, describe_reason, describe_risk};
