//! `POST /v1/approvals/{id}/refuse`: the agent may not.

use munshi_safety::approvals::{ApprovalCoverage, ApprovalDecision};
use munshi_types::ApprovalId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::grant::give;
use crate::api::access::AuthorizedCaller;
use crate::api::ask::UrlPathParameter;
use crate::error::ApiError;
use crate::json::Json;
use crate::views::approval::ApprovalView;

/// A no.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Refusal)]
pub(crate) struct RefuseApprovalRequest {
    /// The `digest` that was shown.
    #[schema(max_length = 200)]
    digest: String,
}

/// The agent may not. The turn that waits goes on without it.
#[utoipa::path(post, path = "/v1/approvals/{id}/refuse", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "Which one.")),
    responses((status = 200, description = "Refused, now or before.", body = ApprovalView)))]
pub(crate) async fn refuse_approval(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<ApprovalId>,
    Json(refusal): Json<RefuseApprovalRequest>,
) -> Result<Json<ApprovalView>, ApiError> {
    give(&key, id, ApprovalDecision::No, refusal.digest, ApprovalCoverage::Act).await
}
