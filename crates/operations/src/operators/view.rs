//! Accounts and links as they are shown.

use munshi_identity::Role;
use munshi_identity::operators::Operator;
use munshi_types::{LinkId, OperatorId, TenantName, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Somebody with an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Operator)]
pub struct OperatorView {
    #[schema(value_type = uuid::Uuid)]
    pub id: OperatorId,
    pub email: String,
    pub name: String,
    /// Keeps the installation: owner of every tenant.
    pub keeper: bool,
    /// Whether a password was set; without one they sign in with another service.
    pub has_password: bool,
    /// Since when the e-mail is known to be theirs; none where nobody has proved it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub proved_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    pub made_at: Timestamp,
    /// Of one tenant's operators, their role in it; a keeper sees all.
    pub roles: Vec<OperatorRoleView>,
}

/// What somebody is in a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = OperatorRole)]
pub struct OperatorRoleView {
    #[schema(value_type = String)]
    pub tenant: TenantName,
    #[schema(value_type = crate::schemas::RoleSchema)]
    pub role: Role,
}

impl OperatorView {
    pub(super) fn new(operator: Operator, roles: Vec<OperatorRoleView>) -> Self {
        Self {
            id: operator.id,
            email: operator.email,
            name: operator.name,
            keeper: operator.keeper,
            has_password: operator.has_password,
            proved_at: operator.proved_at,
            made_at: operator.made_at,
            roles,
        }
    }
}

/// A one-time link with its text, shown only once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = OneTimeLink)]
pub struct OneTimeLinkView {
    #[schema(value_type = uuid::Uuid)]
    pub id: LinkId,
    /// Whom it is for; none for the first operator, who chooses it.
    pub email: Option<String>,
    /// The link itself. It works once and is not shown again. Null where it went by mail to whom it is for.
    pub link: Option<String>,
    #[serde(default)]
    pub delivery: LinkDelivery,
    /// To which address it went, without most of its name.
    #[schema(example = "m…@shop.example")]
    pub sent_to: Option<String>,
    /// Why it did not go by mail, though there is an account for mail: then it is shown.
    pub not_mailed: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub ends_at: Timestamp,
}

/// How a one-time link reaches whom it is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkDelivery {
    /// It is shown here, to be passed on.
    #[default]
    Shown,
    /// It went by mail.
    Mailed,
    /// It may have gone by mail: nobody knows. A new one ends it.
    Unknown,
}
