//! `POST /visit/{place}/runs/{id}/cancel`: stops one's own turn.

use munshi_agent::Cancelled as Came;
use munshi_types::RunId;

use crate::api::ask::AtBoth;
use crate::error::ApiError;
use crate::json::Json;
use crate::routes::runs::cancel::Cancelled;
use crate::visitor::guest::Guest;

/// Stops one's own turn. What it is doing at this moment is finished first.
#[utoipa::path(post, path = "/visit/{place}/runs/{id}/cancel", tag = "visit_runs",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "Which turn."),
    ),
    responses((status = 200, description = "It stops, or had ended.", body = Cancelled)))]
pub(crate) async fn cancel_visit_run(
    guest: Guest,
    AtBoth(_place, id): AtBoth<String, RunId>,
) -> Result<Json<Cancelled>, ApiError> {
    let run = guest.run(id).await?;
    let came = guest.api.engine.cancel(guest.place.tenant, run.id).await?;
    Ok(Json(Cancelled { run: run.id, cancelled: came == Came::Asked }))
}
