//! `POST /visit/{place}/runs/{id}/cancel`: stops one's own turn.

use munshi_agent::RunCancelOutcome;
use munshi_operations::runs::CancelledRunView;
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameterPair;
use munshi_types::RunId;

use crate::api::turn_errors::convert_turn_error;
use crate::visitor::page_visitor::PageVisitor;

/// Cancel one's own run. The current step is finished first.
#[utoipa::path(post, path = "/visit/{place}/runs/{id}/cancel", tag = "visit_runs",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "The run."),
    ),
    responses((status = 200, description = "Cancelled, or already ended.", body = CancelledRunView)))]
pub(crate) async fn cancel_visit_run(
    visitor: PageVisitor,
    UrlPathParameterPair(_place, id): UrlPathParameterPair<String, RunId>,
) -> Result<Json<CancelledRunView>, ApiError> {
    let run = visitor.load_run(id).await?;
    let came = visitor.api.engine.cancel(visitor.binding.tenant, run.id).await.map_err(convert_turn_error)?;
    Ok(Json(CancelledRunView { run: run.id, cancelled: came == RunCancelOutcome::Asked }))
}
