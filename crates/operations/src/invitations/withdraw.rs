//! Takes an invitation to a tenant back.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::links;
use munshi_identity::operators::OPERATORS;
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_types::TenantId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::InvitationView;
use crate::{HouseCall, HouseServices};

/// The invitation that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationInput {
    /// The invitation's id.
    pub id: String,
}

pub struct WithdrawInvitation;

impl Operation<HouseServices> for WithdrawInvitation {
    type Input = InvitationInput;
    type View = InvitationView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "invitations",
        noun: "invitation",
        command: "invitation",
        verb: "withdraw",
        about: "Withdraw an open invitation to a tenant.",
        needs: CallerClass::Member(Area::Operators, ApiAccess::Write),
        effect: OperationEffect::Write(&["link.withdrawn"]),
        method: RouteMethod::Post,
        path: "/v1/invitations/{id}/withdraw",
    };

    async fn run(call: &HouseCall, input: InvitationInput) -> Result<InvitationView, OperationError> {
        let (caller, tenant, now) = (call.caller.clone(), call.tenant.id, call.now);
        let withdrawn = call.write_platform(OPERATORS, move |tx| {
            let missing = || {
                OperationError::not_found("open invitation", &input.id)
                    .hint("`munshi operator list --invited` and GET /v1/invitations show them all.")
            };
            let id = input.id.parse().map_err(|_| missing())?;
            let open = links::list_invitations(tx, tenant, now)?;
            let found = open.into_iter().find(|link| link.id == id).ok_or_else(missing)?;
            let view = InvitationView::load(tx, found)?.ok_or_else(missing)?;
            if !caller.covers_role(view.role) {
                let what = "That invitation grants more access than you have.";
                return Err(OperationError::new(OperationErrorCode::Forbidden, what)
                    .hint("Ask an owner of the workspace."));
            }
            if !links::withdraw(tx, tenant, id, now)? {
                return Err(missing());
            }
            tx.note([tenant, TenantId::PLATFORM], "link.withdrawn", id.to_string(), json!({}));
            Ok(InvitationView { ends_at: now, ..view })
        });
        withdrawn.await
    }
}
