//! A link for the first operator, or for the only one.

use munshi_identity::links::{self, LinkPurpose};
use munshi_identity::operators::{self, OPERATORS};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::OneTimeLinkView;
use super::link::recover;
use super::rules::LinkRequest;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkOnlyOperatorInput {}

pub struct LinkOnlyOperator;

impl Operation<HouseServices> for LinkOnlyOperator {
    type Input = LinkOnlyOperatorInput;
    type View = OneTimeLinkView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "operators",
        noun: "only operator",
        command: "operator",
        verb: "link",
        about: "Create a one-time link for the first operator, or for the only one there is. It is shown only once.",
        needs: CallerClass::Machine,
        effect: OperationEffect::Write(&["link.made"]),
        method: RouteMethod::Create,
        path: "/v1/operators/link",
    };

    const KEEPS_VIEW: bool = false;

    async fn run(call: &HouseCall, _: LinkOnlyOperatorInput) -> Result<OneTimeLinkView, OperationError> {
        let request = LinkRequest::new(call);
        let made = call.write_platform(OPERATORS, move |tx| {
            let mut all = operators::list(tx)?;
            match (all.pop(), all.is_empty()) {
                (None, _) => {
                    let payload = json!({ "kind": "first" });
                    request.make(tx, &LinkPurpose::First, (links::LIFE, None), (Vec::new(), payload))
                }
                (Some(only), true) => recover(tx, &request, only, Vec::new()),
                (Some(_), false) => {
                    Err(OperationError::new(OperationErrorCode::Invalid, "There are several operators.")
                        .hint("Name one: munshi operator link EMAIL"))
                }
            }
        });
        made.await
    }
}
