//! `POST /v1/approvals/{id}/refuse`: the agent may not.

use munshi_safety::approvals::{ApprovalCoverage, ApprovalDecision};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_types::ApprovalId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::grant::answer_approval;
use crate::api::access::AuthorizedCaller;
use crate::views::approval::ApprovalView;

/// A request to refuse an approval.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Refusal)]
pub(crate) struct RefuseApprovalRequest {
    /// The `digest` that was shown.
    #[schema(max_length = 200)]
    digest: String,
}

/// Refuse an approval. The waiting run resumes without the act.
#[utoipa::path(post, path = "/v1/approvals/{id}/refuse", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "The approval.")),
    responses((status = 200, description = "Refused, now or earlier.", body = ApprovalView)))]
pub(crate) async fn refuse_approval(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<ApprovalId>,
    Json(refusal): Json<RefuseApprovalRequest>,
) -> Result<Json<ApprovalView>, ApiError> {
    answer_approval(&key, id, ApprovalDecision::No, refusal.digest, ApprovalCoverage::Act).await
}
