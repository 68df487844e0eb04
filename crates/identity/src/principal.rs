//! For whom something is done.

use munshi_types::{PersonId, ScopeGlob, TenantId};
use serde::{Deserialize, Serialize};

use crate::role::Role;

/// What somebody is to the tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrincipalStanding {
    /// Works in the business.
    Member(Role),
    /// A person we know: a customer, a fan, another's agent with a relationship.
    Known,
    /// Anybody.
    Anonymous,
    /// Work that nobody typed: it may do what is opened to it, and nothing by a role.
    Service,
}

/// The person a turn is for. Made from what the channel proved, never from what was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    pub tenant: TenantId,
    /// None for those who left, for a key that stands for a role, and for the installation's own work. A visitor is
    /// anonymous, but the same one each time.
    pub person: Option<PersonId>,
    pub standing: PrincipalStanding,
    /// Opened for this person beyond their role.
    pub opened: Vec<ScopeGlob>,
    /// Closed to this person whatever their role says.
    pub closed: Vec<ScopeGlob>,
}

impl Principal {
    pub fn member(tenant: TenantId, person: PersonId, role: Role) -> Self {
        Self { person: Some(person), ..Self::with_standing(tenant, PrincipalStanding::Member(role)) }
    }

    pub fn known(tenant: TenantId, person: PersonId) -> Self {
        Self { person: Some(person), ..Self::with_standing(tenant, PrincipalStanding::Known) }
    }

    pub fn anonymous(tenant: TenantId) -> Self {
        Self::with_standing(tenant, PrincipalStanding::Anonymous)
    }

    /// For work that nobody typed, with the scopes it may use.
    pub fn service(tenant: TenantId, opened: Vec<ScopeGlob>) -> Self {
        Self { opened, ..Self::with_standing(tenant, PrincipalStanding::Service) }
    }

    fn with_standing(tenant: TenantId, standing: PrincipalStanding) -> Self {
        Self { tenant, person: None, standing, opened: Vec::new(), closed: Vec::new() }
    }

    pub fn role(&self) -> Option<Role> {
        match self.standing {
            PrincipalStanding::Member(role) => Some(role),
            PrincipalStanding::Known | PrincipalStanding::Anonymous | PrincipalStanding::Service => None,
        }
    }
}
