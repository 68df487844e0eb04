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

use crate::operators::{
    LinkRequest, MailedLink, OneTimeLinkView, check_may_let_in, check_role_grant, deliver_link,
};
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
    /// Show the link here, also where it could go by mail.
    pub show: Option<bool>,
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
        about: "Create a one-time link that invites somebody as operator of a tenant. It goes to them by mail \
                where there is an account for mail; else it is shown, only once.",
        needs: CallerClass::Member(Area::Operators, ApiAccess::Write),
        effect: OperationEffect::Write(&["link.made", "link.mailed"]),
        method: RouteMethod::Create,
        path: "/v1/invitations",
    };

    const KEEPS_VIEW: bool = false;

    async fn run(call: &HouseCall, input: InviteOperatorInput) -> Result<OneTimeLinkView, OperationError> {
        check_may_let_in(&call.caller)?;
        check_role_grant(&call.caller, input.role)?;
        let (tenant, role) = (call.tenant.id, input.role);
        let (request, life) = (LinkRequest::new(call), call.services.parts.invitation_life());
        let show = input.show;
        let email = input.email.trim().to_lowercase();
        let place = InvitationScope::Workspace { tenant, role };
        let made = call.write_platform(OPERATORS, move |tx| {
            let purpose = LinkPurpose::Invitation { email: input.email, place };
            let payload = json!({ "kind": "invitation", "role": role });
            request.make(tx, &purpose, (life, Some(email)), (vec![tenant], payload))
        });
        deliver_link(call, made.await?, MailedLink::Invitation(place), show).await
    }
}
