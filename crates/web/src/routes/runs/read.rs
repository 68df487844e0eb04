//! `GET /v1/runs/{id}`: one turn and its steps.

use munshi_agent::runs::{self, RunView};
use munshi_agent::steps;
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_store::Tx;
use munshi_types::RunId;

use crate::api::access::AuthorizedCaller;
use crate::api::turn_errors::convert_turn_error;
use crate::views::run::RunWithSteps;

/// Get a run and its steps.
#[utoipa::path(get, path = "/v1/runs/{id}", tag = "runs",
    params(("id" = uuid::Uuid, Path, description = "The run.")),
    responses((status = 200, description = "The run.", body = RunWithSteps)))]
pub(crate) async fn read_run(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<RunId>,
) -> Result<Json<RunWithSteps>, ApiError> {
    let read = move |tx: &mut Tx<'_>| -> munshi_agent::Result<_> {
        let run = runs::find(tx, id)?.map(RunView::from).ok_or(munshi_agent::Error::NoRun)?;
        Ok((run, steps::list(tx, id)?))
    };
    let (run, steps) = key.api.db.read(key.tenant(), read).await.map_err(convert_turn_error)?;
    if !key.reaches(run.binding) {
        return Err(convert_turn_error(munshi_agent::Error::NoRun));
    }
    Ok(Json(RunWithSteps { run: run.into(), steps: steps.into_iter().map(Into::into).collect() }))
}
