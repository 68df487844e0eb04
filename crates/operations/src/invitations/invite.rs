//! A link that lets somebody look after a tenant.

use munshi_identity::Role;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::links::{InvitationScope, LinkPurpose};
use munshi_identity::operators::OPERATORS;
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::operators::{LinkRequest, OneTimeLinkView, check_may_let_in, check_role_grant};
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewInvitation)]
pub struct InviteOperatorInput {
    /// E-mail to invite.
    #[schema(example = "asha@shop.example")]
    pub email: String,
    /// At most your own.
    #[schema(value_type = crate::schemas::RoleSchema)]
    pub role: Role,
}

pub struct InviteOperator;

impl Operation<HouseServices> for InviteOperator {
    type Input = InviteOperatorInput;
    type View = OneTimeLinkView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "operators",
        noun: "operator",
        command: "operator",
        verb: "invite",
        about: "Create a one-time link that invites somebody as operator of a tenant. It is shown only once.",
        needs: CallerClass::Member(Area::Operators, ApiAccess::Write),
        effect: OperationEffect::Write(&["link.made"]),
        method: RouteMethod::Create,
        path: "/v1/invitations",
    };

    const KEEPS_VIEW: bool = false;

    async fn run(call: &HouseCall, input: InviteOperatorInput) -> Result<OneTimeLinkView, OperationError> {
        check_may_let_in(&call.caller)?;
        check_role_grant(&call.caller, input.role)?;
        let (tenant, role) = (call.tenant.id, input.role);
        let (request, life) = (LinkRequest::new(call), call.services.parts.invitation_life());
        let email = input.email.trim().to_lowercase();
        let made = call.write_platform(OPERATORS, move |tx| {
            let place = InvitationScope::Workspace { tenant, role };
            let purpose = LinkPurpose::Invitation { email: input.email, place };
            let payload = json!({ "kind": "invitation", "role": role });
            request.make(tx, &purpose, (life, Some(email)), (vec![tenant], payload))
        });
        made.await
    }
}
