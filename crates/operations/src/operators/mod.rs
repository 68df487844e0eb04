//! Accounts that look after tenants through the web, and what they are in which.

mod link;
mod link_only;
mod list;
mod mailing;
mod prove;
mod remove;
mod role;
mod rules;
mod view;

pub use link::{LinkOperator, LinkOperatorInput, OperatorInput};
pub use link_only::{LinkOnlyOperator, LinkOnlyOperatorInput};
pub use list::ListOperators;
pub use prove::{ProveOperator, ProvedOperatorView};
pub use remove::{RemoveOperator, RemovedOperatorView};
pub use role::{ChangedOperatorView, GrantedRole, LAST_OWNER_MESSAGE, SetOperatorRole, SetOperatorRoleInput};
pub use view::{LinkDelivery, OneTimeLinkView, OperatorRoleView, OperatorView};

pub(crate) use mailing::{MailedLink, deliver_link};
pub(crate) use rules::{LinkRequest, check_may_let_in, check_role_grant, list_chains};
