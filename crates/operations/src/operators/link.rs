//! A link with which somebody who is locked out chooses another password.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::links::{self, LinkPurpose};
use munshi_identity::operators::{OPERATORS, Operator};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_store::PlatformAdminTx;
use munshi_types::TenantId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::OneTimeLinkView;
use super::mailing::{MailedLink, deliver_link};
use super::rules::{LinkRequest, build_authority, check_may_let_in, find_anywhere, find_managed};
use crate::{HouseCall, HouseServices};

/// The operator that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OperatorInput {
    /// The operator: their id or e-mail.
    pub id: String,
}

/// The operator that is locked out.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkOperatorInput {
    /// The operator: their id or e-mail.
    pub id: String,
    /// Show the link here, also where it could go by mail.
    pub show: Option<bool>,
}

pub struct LinkOperator;

impl Operation<HouseServices> for LinkOperator {
    type Input = LinkOperatorInput;
    type View = OneTimeLinkView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "operators",
        noun: "operator",
        command: "operator",
        verb: "link",
        about: "Create a one-time link with which an operator chooses another password. It opens the whole account, so \
                every role it has must be one that you could give. It goes to them by mail where there is an account for \
                mail; else it is shown, only once.",
        needs: CallerClass::MemberOrKeeper(Area::Operators, ApiAccess::Write),
        effect: OperationEffect::Write(&["link.made", "link.mailed"]),
        method: RouteMethod::Create,
        path: "/v1/operators/{id}/link",
    };

    const KEEPS_VIEW: bool = false;

    async fn run(call: &HouseCall, input: LinkOperatorInput) -> Result<OneTimeLinkView, OperationError> {
        check_may_let_in(&call.caller)?;
        let show = input.show;
        let (caller, tenant, request) = (call.caller.clone(), call.tenant.clone(), LinkRequest::new(call));
        let made = call.write_platform(OPERATORS, move |tx| {
            if tenant.is_installation() {
                let operator = find_anywhere(tx, &input.id)?;
                return recover(tx, &request, operator, Vec::new());
            }
            let (operator, _) = find_managed(tx, &caller, &tenant, &input.id)?;
            if !build_authority(tx, &caller)?.governs(tx, &operator)? {
                let what = format!("{} has access to more than you do.", operator.name);
                return Err(OperationError::new(OperationErrorCode::Forbidden, what)
                    .hint("Whoever runs this server can create the link with `munshi operator link`."));
            }
            recover(tx, &request, operator, vec![tenant.id])
        });
        deliver_link(call, made.await?, MailedLink::Recovery, show).await
    }
}

pub(super) fn recover(
    tx: &mut PlatformAdminTx<'_, '_>,
    request: &LinkRequest,
    operator: Operator,
    chains: Vec<TenantId>,
) -> Result<OneTimeLinkView, OperationError> {
    let purpose = LinkPurpose::Recovery { operator: operator.id };
    let payload = json!({ "kind": "recovery", "operator": operator.id });
    request.make(tx, &purpose, (links::LIFE, Some(operator.email)), (chains, payload))
}
