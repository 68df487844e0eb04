//! Lets the agent go ahead.

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

/// A request to grant an approval.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Grant)]
pub struct GrantApprovalInput {
    /// The approval: its id, or how it begins.
    pub id: String,
    /// The `digest` that was shown. If the act has changed since, the answer is rejected.
    #[schema(value_type = String, max_length = 200, required = true)]
    pub digest: Option<String>,
    #[serde(default)]
    pub covers: GrantCoverage,
    /// Who answers, where somebody at the machine answers for another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub person: Option<String>,
}

/// The scope of a grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = GrantCovers)]
pub enum GrantCoverage {
    #[default]
    Act,
    /// Don't ask again for this tool in this conversation. Never for money, messages and what can do harm.
    Session,
}

pub struct GrantApproval;

impl Operation<HouseServices> for GrantApproval {
    type Input = GrantApprovalInput;
    type View = AnsweredApprovalView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "approvals",
        noun: "approval",
        command: "approvals",
        verb: "grant",
        about: "Grant an approval. The waiting run resumes.",
        needs: CallerClass::Member(Area::Approvals, ApiAccess::Write),
        effect: OperationEffect::Write(&["approval.granted"]),
        method: RouteMethod::Post,
        path: "/v1/approvals/{id}/grant",
    };

    async fn run(
        call: &HouseCall,
        input: GrantApprovalInput,
    ) -> Result<AnsweredApprovalView, OperationError> {
        let covers = match input.covers {
            GrantCoverage::Act => ApprovalCoverage::Act,
            GrantCoverage::Session => ApprovalCoverage::Session,
        };
        let GrantApprovalInput { id, digest, person, .. } = input;
        answer(call, GivenAnswer { id, decision: ApprovalDecision::Yes, digest, covers, person }).await
    }
}
