//! A link that lets somebody keep the installation.

use munshi_identity::links::{InvitationScope, LinkPurpose};
use munshi_identity::operators::OPERATORS;
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::operators::{LinkRequest, MailedLink, OneTimeLinkView, check_may_let_in, deliver_link};
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewKeeperInvitation)]
pub struct InviteKeeperInput {
    /// E-mail to invite.
    #[schema(example = "farid@house.example")]
    pub email: String,
    /// Show the link here, also where it could go by mail.
    pub show: Option<bool>,
}

pub struct InviteKeeper;

impl Operation<HouseServices> for InviteKeeper {
    type Input = InviteKeeperInput;
    type View = OneTimeLinkView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "keepers",
        noun: "keeper",
        command: "operator",
        verb: "invite",
        about: "Create a one-time link that invites somebody as keeper of the installation (`--keeper`). It goes to \
                them by mail where the installation has an account for mail; else it is shown, only once.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Write(&["link.made", "link.mailed"]),
        method: RouteMethod::Create,
        path: "/v1/keepers/invite",
    };

    const KEEPS_VIEW: bool = false;

    async fn run(call: &HouseCall, input: InviteKeeperInput) -> Result<OneTimeLinkView, OperationError> {
        check_may_let_in(&call.caller)?;
        let (request, life) = (LinkRequest::new(call), call.services.parts.invitation_life());
        let show = input.show;
        let email = input.email.trim().to_lowercase();
        let place = InvitationScope::Everywhere;
        let made = call.write_platform(OPERATORS, move |tx| {
            let purpose = LinkPurpose::Invitation { email: input.email, place };
            let payload = json!({ "kind": "invitation", "place": place });
            request.make(tx, &purpose, (life, Some(email)), (Vec::new(), payload))
        });
        deliver_link(call, made.await?, MailedLink::Invitation(place), show).await
    }
}
