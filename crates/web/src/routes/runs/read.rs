//! `GET /v1/runs/{id}`: one turn and its steps.

use munshi_agent::runs::{self, RunView};
use munshi_agent::steps;
use munshi_store::Tx;
use munshi_types::RunId;

use crate::api::access::AuthorizedCaller;
use crate::api::parameters::UrlPathParameter;
use crate::error::ApiError;
use crate::json::Json;
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
    let (run, steps) = key.api.db.read(key.tenant(), read).await?;
    if !key.reaches(run.binding) {
        return Err(munshi_agent::Error::NoRun.into());
    }
    Ok(Json(RunWithSteps { run: run.into(), steps: steps.into_iter().map(Into::into).collect() }))
}

/// The run, if it is the tenant's, of a binding that the key reaches, and for its eyes.
pub(crate) async fn load_run(key: &AuthorizedCaller, id: RunId) -> Result<RunView, ApiError> {
    let found = key.api.db.read(key.tenant(), move |tx| runs::find(tx, id)).await?;
    let run = found.map(RunView::from).ok_or(munshi_agent::Error::NoRun)?;
    // Somebody who may only chat hears their own turns.
    let own = key.caller.principal.person;
    let is_theirs = own.is_none_or(|person| person == run.person) || key.caller.principal.role().is_some();
    if is_theirs && key.reaches(run.binding) { Ok(run) } else { Err(munshi_agent::Error::NoRun.into()) }
}
