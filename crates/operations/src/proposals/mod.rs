//! Changes that programs ask for over MCP, and that a person decides on. Whoever says yes does it: they must be allowed to do
//! it themselves, and the audit names them.

mod decide;
mod list;
mod propose;
mod show;
mod view;

pub use decide::{GrantProposal, GrantProposalInput, RefuseProposal};
pub use list::ListProposals;
pub use propose::propose;
pub use show::{ProposalInput, ShowProposal};
pub use view::ProposalView;
