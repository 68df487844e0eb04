//! `GET /v1/runs`: turns, newest first.

use munshi_agent::RunState;
use munshi_agent::runs::{self, RunView, Wanted};
use munshi_store::Cursor;
use munshi_types::SessionId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::Key;
use crate::api::ask::{Asked, Limit, Listed, page};
use crate::error::ApiError;
use crate::json::Json;
use crate::views::run::{Run, State};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only those of this conversation.
    #[param(value_type = Option<uuid::Uuid>)]
    session: Option<SessionId>,
    /// Only those that are there.
    state: Option<State>,
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// How many; 25 without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<Limit>,
}

/// Turns, newest first.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", params(Which),
    responses((status = 200, description = "Some of them.", body = Listed<Run>)))]
pub(crate) async fn list_runs(key: Key, Asked(which): Asked<Which>) -> Result<Json<Listed<Run>>, ApiError> {
    let Which { session, state, after, limit } = which;
    let state: Option<RunState> = state.map(Into::into);
    let wanted = match (session, state) {
        (Some(session), _) => Wanted::Session(session),
        (None, Some(state)) => Wanted::State(state),
        (None, None) => Wanted::All,
    };
    let request = page(after, limit);
    let found = key.api.db.read(key.tenant(), move |tx| runs::list(tx, wanted, &request)).await?;
    let shown = |run: RunView| {
        let fits = key.reaches(run.binding) && state.is_none_or(|state| run.state == state);
        fits.then(|| run.into())
    };
    Ok(Json(Listed::of(found, shown)))
}
