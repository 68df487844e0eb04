//! Another role in a tenant, or none.

use munshi_identity::Role;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::operators::{OPERATORS, roles};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_store::PlatformTx;
use munshi_types::{OperatorId, TenantId, TenantName};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::rules::{
    check_may_let_in, check_role_grant, end_operator_holds, find_managed, list_chains, note_revoked_keys,
};
use crate::{HouseCall, HouseServices};

/// What is said where a tenant would be left without an owner.
pub const LAST_OWNER_MESSAGE: &str = "This is the only owner of the workspace.";

/// A role to give; `none` takes it away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantedRole {
    Owner,
    Admin,
    Staff,
    Viewer,
    None,
}

impl GrantedRole {
    pub const fn role(self) -> Option<Role> {
        match self {
            Self::Owner => Some(Role::Owner),
            Self::Admin => Some(Role::Admin),
            Self::Staff => Some(Role::Staff),
            Self::Viewer => Some(Role::Viewer),
            Self::None => None,
        }
    }
}

impl From<Option<Role>> for GrantedRole {
    fn from(role: Option<Role>) -> Self {
        match role {
            Some(Role::Owner) => Self::Owner,
            Some(Role::Admin) => Self::Admin,
            Some(Role::Staff) => Self::Staff,
            Some(Role::Viewer) => Self::Viewer,
            None => Self::None,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewOperatorRole)]
pub struct SetOperatorRoleInput {
    /// The operator: their id or e-mail.
    pub id: String,
    /// At most your own.
    pub role: GrantedRole,
}

/// An operator after their role was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChangedOperator)]
pub struct ChangedOperatorView {
    #[schema(value_type = uuid::Uuid)]
    pub id: OperatorId,
    pub email: String,
    pub name: String,
    #[schema(value_type = String)]
    pub tenant: TenantName,
    #[schema(value_type = Option<crate::schemas::RoleSchema>)]
    pub before: Option<Role>,
    #[schema(value_type = Option<crate::schemas::RoleSchema>)]
    pub now: Option<Role>,
    /// The names of keys that they created and that are revoked with the role.
    pub revoked: Vec<String>,
}

pub struct SetOperatorRole;

impl Operation<HouseServices> for SetOperatorRole {
    type Input = SetOperatorRoleInput;
    type View = ChangedOperatorView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "operators",
        noun: "operator",
        command: "operator",
        verb: "role",
        about: "Give an operator another role in a tenant, or none. Their browsers are signed out. If they lose rights, \
                the links and keys they created there are revoked.",
        needs: CallerClass::Member(Area::Operators, ApiAccess::Write),
        effect: OperationEffect::Write(&[
            "operator.role_changed",
            "api_key.revoked",
            "conversation.given_back",
        ]),
        method: RouteMethod::Patch,
        path: "/v1/operators/{id}",
    };

    async fn run(
        call: &HouseCall,
        input: SetOperatorRoleInput,
    ) -> Result<ChangedOperatorView, OperationError> {
        let role = input.role.role();
        check_may_let_in(&call.caller)?;
        if let Some(role) = role {
            check_role_grant(&call.caller, role)?;
        }
        let (caller, tenant, now) = (call.caller.clone(), call.tenant.clone(), call.now);
        let known = call.services.keys.clone();
        let changed = call.write_platform(OPERATORS, move |tx| {
            let (operator, before) = find_managed(tx, &caller, &tenant, &input.id)?;
            if before == Some(Role::Owner) && role != Some(Role::Owner) {
                require_other_owner(tx, tenant.id)?;
            }
            let change = match role {
                Some(role) => roles::grant(tx, operator.id, tenant.id, role, now)?,
                None => roles::revoke(tx, operator.id, tenant.id, now)?,
            };
            if change.before != role {
                let payload = json!({ "before": change.before, "now": role });
                let chains = list_chains([tenant.id]);
                tx.note(chains, "operator.role_changed", operator.id.to_string(), payload);
            }
            end_operator_holds(tx, (operator.id, tenant.id), now)?;
            let lost = change.revoked.into_iter().map(|key| (tenant.id, key)).collect();
            Ok(ChangedOperatorView {
                id: operator.id,
                email: operator.email,
                name: operator.name,
                tenant: tenant.name,
                before: change.before,
                now: role,
                revoked: note_revoked_keys(tx, &known, lost),
            })
        });
        changed.await
    }
}

/// Without an owner nobody could give the role again but whoever keeps the installation.
fn require_other_owner(tx: &mut PlatformTx<'_>, tenant: TenantId) -> Result<(), OperationError> {
    if roles::lock_owners(tx, tenant)? > 1 {
        return Ok(());
    }
    Err(OperationError::new(OperationErrorCode::Conflict, LAST_OWNER_MESSAGE)
        .hint("Make another person an owner first."))
}
