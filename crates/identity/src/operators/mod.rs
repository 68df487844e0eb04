//! Operators: people who look after tenants through the web, with an account of the installation and a role in each
//! tenant they look after.
//!
//! An operator is no person of a tenant: a person is somebody the business knows, an operator is somebody who may open
//! its pages. What a role opens is the same for both.
//!
//! # Layout
//! - [`Operator`]: the account; `rows`: as the store keeps it; [`roles`]: what they are in which tenant;
//!   [`OperatorAuthority`]: who may let whom in
//! - [`sign_ins`](crate::sign_ins), [`links`](crate::links), [`passwords`](crate::passwords),
//!   [`pauses`](crate::pauses): how they come in

mod authority;
pub mod roles;
mod rows;

pub use authority::OperatorAuthority;

pub(crate) use rows::normalize_email;
pub use rows::{
    AddOperatorOutcome, NewOperator, add, find, find_by_email, find_by_subject, find_password, has_any,
    link_subject, list, list_unverified_in_several, lock, lock_if_password_unchanged, make_keeper,
    mark_unverified, mark_verified, mark_verified_revoking, remove, rename, set_password,
};

use munshi_store::PlatformScope;
use munshi_types::{OperatorId, TenantId, Timestamp};
use serde::Serialize;

/// Accounts, and how they come in: a request brings a cookie and no tenant.
pub const OPERATORS: PlatformScope = PlatformScope::new("operators");

/// An account as it is listed: never its password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operator {
    pub id: OperatorId,
    /// In the one spelling that is compared; one account has it.
    pub email: String,
    pub name: String,
    /// Looks after the installation: owner of every tenant there is and will be.
    pub keeper: bool,
    /// Whether a password was set; without one they sign in elsewhere.
    pub has_password: bool,
    /// Since when the e-mail is known to be theirs; none where nobody has proved it.
    pub proved_at: Option<Timestamp>,
    /// The tenant whose invitation made the account.
    #[serde(skip)]
    pub home: Option<TenantId>,
    pub made_at: Timestamp,
}
