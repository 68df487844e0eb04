//! `POST /v1/runs/{id}/cancel`: stops a turn.

use munshi_agent::RunCancelOutcome;
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_types::RunId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::api::run_lookup::load_run;
use crate::api::turn_errors::convert_turn_error;

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
    let came = key.api.engine.cancel(key.tenant(), run.id).await.map_err(convert_turn_error)?;
    Ok(Json(CancelRunResponse { run: run.id, cancelled: came == RunCancelOutcome::Asked }))
}
