//! `POST /v1/approvals/{id}/refuse`: the agent may not.

use munshi_safety::approvals::{Answer, Covers};
use munshi_types::ApprovalId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::grant::give;
use crate::api::access::Key;
use crate::api::ask::At;
use crate::error::ApiError;
use crate::json::Json;
use crate::views::approval::Approval;

/// A no.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refusal {
    /// The `digest` that was shown.
    #[schema(max_length = 200)]
    digest: String,
}

/// The agent may not. The turn that waits goes on without it.
#[utoipa::path(post, path = "/v1/approvals/{id}/refuse", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "Which one.")),
    responses((status = 200, description = "Refused, now or before.", body = Approval)))]
pub(crate) async fn refuse_approval(
    key: Key,
    At(id): At<ApprovalId>,
    Json(refusal): Json<Refusal>,
) -> Result<Json<Approval>, ApiError> {
    give(&key, id, Answer::No, refusal.digest, Covers::Act).await
}
