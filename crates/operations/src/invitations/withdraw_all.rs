//! Takes back all invitations of an e-mail.

use munshi_identity::links::{self, InvitationScope, LinkPurpose, OneTimeLink};
use munshi_identity::operators::OPERATORS;
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_store::PlatformAdminTx;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::operators::list_chains;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = InvitedEmail)]
pub struct WithdrawInvitationsInput {
    /// Invited e-mail, in any tenant.
    #[schema(example = "asha@shop.example")]
    pub email: String,
}

/// What was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = WithdrawnInvitations)]
pub struct WithdrawnInvitationsView {
    pub email: String,
    /// How many were open.
    pub withdrawn: u64,
}

pub struct WithdrawInvitations;

impl Operation<HouseServices> for WithdrawInvitations {
    type Input = WithdrawInvitationsInput;
    type View = WithdrawnInvitationsView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "invitations",
        noun: "invitations",
        command: "operator",
        verb: "withdraw",
        about: "Withdraw all open invitations of an e-mail, in any tenant.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Write(&["link.withdrawn"]),
        method: RouteMethod::Post,
        path: "/v1/invitations/withdraw",
    };

    async fn run(
        call: &HouseCall,
        input: WithdrawInvitationsInput,
    ) -> Result<WithdrawnInvitationsView, OperationError> {
        let now = call.now;
        let withdrawn = call.write_platform(OPERATORS, move |tx| {
            let ended = links::withdraw_all(tx, &input.email, now)?;
            if ended.is_empty() {
                let what = format!("{} has no open invitation.", input.email);
                return Err(OperationError::new(OperationErrorCode::NotFound, what).hint(
                    "`munshi operator list --invited` and GET /v1/invitations list open invitations.",
                ));
            }
            for link in &ended {
                note_withdrawn(tx, link);
            }
            let count = u64::try_from(ended.len()).unwrap_or(u64::MAX);
            Ok(WithdrawnInvitationsView { email: input.email, withdrawn: count })
        });
        withdrawn.await
    }
}

/// The tenant it leads to hears of it, and the installation.
pub(crate) fn note_withdrawn(tx: &mut PlatformAdminTx<'_, '_>, link: &OneTimeLink) {
    let tenant = match link.purpose {
        LinkPurpose::Invitation { place: InvitationScope::Workspace { tenant, .. }, .. } => Some(tenant),
        _ => None,
    };
    tx.note(list_chains(tenant), "link.withdrawn", link.id.to_string(), json!({}));
}
