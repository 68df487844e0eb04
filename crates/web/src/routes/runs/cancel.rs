//! `POST /v1/runs/{id}/cancel`: stops a turn.

use munshi_agent::RunCancelOutcome as Came;
use munshi_types::RunId;
use serde::Serialize;
use utoipa::ToSchema;

use super::read::open_to;
use crate::api::access::AuthorizedCaller;
use crate::api::ask::UrlPathParameter;
use crate::error::ApiError;
use crate::json::Json;

/// What came of asking a turn to stop.
#[derive(Serialize, ToSchema)]
#[schema(as = Cancelled)]
pub(crate) struct CancelRunResponse {
    #[schema(value_type = uuid::Uuid)]
    pub(crate) run: RunId,
    /// False where it had ended before.
    pub(crate) cancelled: bool,
}

/// Stops a turn, whichever node works on it. What it is doing at this moment is finished first: nothing is left half
/// done.
#[utoipa::path(post, path = "/v1/runs/{id}/cancel", tag = "runs",
    params(("id" = uuid::Uuid, Path, description = "Which one.")),
    responses((status = 200, description = "It stops, or had ended.", body = CancelRunResponse)))]
pub(crate) async fn cancel_run(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<RunId>,
) -> Result<Json<CancelRunResponse>, ApiError> {
    let run = open_to(&key, id).await?;
    let came = key.api.engine.cancel(key.tenant(), run.id).await?;
    Ok(Json(CancelRunResponse { run: run.id, cancelled: came == Came::Asked }))
}
