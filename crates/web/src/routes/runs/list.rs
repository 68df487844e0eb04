//! `GET /v1/runs`: turns, newest first.

use munshi_agent::RunState;
use munshi_agent::runs::{self, RunFilter, RunView};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{ListLimit, ListResponse, UrlQueryParameters, build_page_request};
use munshi_store::Cursor;
use munshi_types::SessionId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::views::run::{RunStateView, RunSummaryView};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListRunsQuery {
    /// Only runs of this session.
    #[param(value_type = Option<uuid::Uuid>)]
    session: Option<SessionId>,
    /// Only runs in this state.
    state: Option<RunStateView>,
    /// The `next` of the previous page.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// Page size; default 25.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// List runs, newest first.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", params(ListRunsQuery),
    responses((status = 200, description = "A page of runs.", body = ListResponse<RunSummaryView>)))]
pub(crate) async fn list_runs(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ListRunsQuery>,
) -> Result<Json<ListResponse<RunSummaryView>>, ApiError> {
    let ListRunsQuery { session, state, after, limit } = which;
    let state: Option<RunState> = state.map(Into::into);
    let wanted = match (session, state) {
        (Some(session), _) => RunFilter::Session(session),
        (None, Some(state)) => RunFilter::State(state),
        (None, None) => RunFilter::All,
    };
    let request = build_page_request(after, limit);
    let found = key.api.db.read(key.tenant(), move |tx| runs::list(tx, wanted, &request)).await?;
    let shown = |run: RunView| {
        let fits = key.reaches(run.binding) && state.is_none_or(|state| run.state == state);
        fits.then(|| run.into())
    };
    Ok(Json(ListResponse::from_page(found, shown)))
}
