//! One approval, whole.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ApprovalView;
use super::find::find;
use crate::{HouseCall, HouseServices};

/// The approval that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalInput {
    /// The approval: its id, or how it begins.
    pub id: String,
}

pub struct ShowApproval;

impl Operation<HouseServices> for ShowApproval {
    type Input = ApprovalInput;
    type View = ApprovalView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "approvals",
        noun: "approval",
        command: "approvals",
        verb: "show",
        about: "Get an approval, with the digest that an answer must quote.",
        needs: CallerClass::Member(Area::Approvals, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/approvals/{id}",
    };

    async fn run(call: &HouseCall, input: ApprovalInput) -> Result<ApprovalView, OperationError> {
        let caller = call.caller.clone();
        let read = call.read(move |tx| {
            let approval = find(tx, &caller, &input.id)?;
            ApprovalView::load(tx, &caller, approval)
        });
        read.await
    }
}
