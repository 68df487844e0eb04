//! The agent may not.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::approvals::{ApprovalCoverage, ApprovalDecision};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AnsweredApprovalView;
use super::answer::{GivenAnswer, answer};
use crate::{HouseCall, HouseServices};

/// A request to refuse an approval.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Refusal)]
pub struct RefuseApprovalInput {
    /// The approval: its id, or how it begins.
    pub id: String,
    /// The `digest` that was shown.
    #[schema(value_type = String, max_length = 200, required = true)]
    pub digest: Option<String>,
    /// Who answers, where somebody at the machine answers for another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub person: Option<String>,
}

pub struct RefuseApproval;

impl Operation<HouseServices> for RefuseApproval {
    type Input = RefuseApprovalInput;
    type View = AnsweredApprovalView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "approvals",
        noun: "approval",
        command: "approvals",
        verb: "refuse",
        about: "Refuse an approval. The waiting run resumes without the act.",
        needs: CallerClass::Member(Area::Approvals, ApiAccess::Write),
        effect: OperationEffect::Write(&["approval.refused"]),
        method: RouteMethod::Post,
        path: "/v1/approvals/{id}/refuse",
    };

    async fn run(
        call: &HouseCall,
        input: RefuseApprovalInput,
    ) -> Result<AnsweredApprovalView, OperationError> {
        let RefuseApprovalInput { id, digest, person } = input;
        let (decision, covers) = (ApprovalDecision::No, ApprovalCoverage::Act);
        answer(call, GivenAnswer { id, decision, digest, covers, person }).await
    }
}
