//! `POST /v1/runs/{id}/cancel`: stops a turn.

use munshi_agent::RunCancelOutcome as Came;
use munshi_types::RunId;
use serde::Serialize;
use utoipa::ToSchema;

use super::read::load_run;
use crate::api::access::AuthorizedCaller;
use crate::api::parameters::UrlPathParameter;
use crate::error::ApiError;
use crate::json::Json;

/// The result of a cancellation.
#[derive(Serialize, ToSchema)]
#[schema(as = Cancelled)]
pub(crate) struct CancelRunResponse {
    #[schema(value_type = uuid::Uuid)]
    pub(crate) run: RunId,
    /// False if the run had already ended.
    pub(crate) cancelled: bool,
}

/// Cancel a run on any node. The current step is finished first, so nothing is left half done.
#[utoipa::path(post, path = "/v1/runs/{id}/cancel", tag = "runs",
    params(("id" = uuid::Uuid, Path, description = "The run.")),
    responses((status = 200, description = "Cancelled, or already ended.", body = CancelRunResponse)))]
pub(crate) async fn cancel_run(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<RunId>,
) -> Result<Json<CancelRunResponse>, ApiError> {
    let run = load_run(&key, id).await?;
    let came = key.api.engine.cancel(key.tenant(), run.id).await?;
    Ok(Json(CancelRunResponse { run: run.id, cancelled: came == Came::Asked }))
}
