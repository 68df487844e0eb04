//! `GET /v1/runs/{id}/stream`: the events of a turn, from the beginning or from where they broke off.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use munshi_types::RunId;
use serde::Deserialize;
use utoipa::IntoParams;

use super::read::open_to;
use crate::api::access::AuthorizedCaller;
use crate::api::ask::{UrlPathParameter, UrlQueryParameters};
use crate::api::stream::{self, RunStreamSource};
use crate::app::App;
use crate::error::ApiError;
use crate::views::event::ServerEvent;
use crate::views::outcome::DetailLevel;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FollowRunQuery {
    /// The id of the last event you saw, where the header can't be sent.
    after: Option<String>,
}

/// The events of a turn, on any node, under way or long over.
///
/// With the id of the last event you saw you get exactly the rest. Where the reply was begun anew meanwhile, a `reset`
/// comes first and then the whole of it.
#[utoipa::path(get, path = "/v1/runs/{id}/stream", tag = "runs",
    params(
        ("id" = uuid::Uuid, Path, description = "Which one."),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event you saw."),
        FollowRunQuery,
    ),
    responses((status = 200, description = "The events.", body = ServerEvent, content_type = "text/event-stream")))]
pub(crate) async fn follow_run(
    app: State<App>,
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<RunId>,
    headers: HeaderMap,
    UrlQueryParameters(from): UrlQueryParameters<FollowRunQuery>,
) -> Result<Response, ApiError> {
    let after = stream::seen(id, &headers, from.after.as_deref())?;
    let run = open_to(&key, id).await?;
    let following = key.api.engine.follow(key.tenant(), id, after).await?;
    let insides = DetailLevel::of(key.role());
    let told = RunStreamSource { tenant: key.tenant(), person: run.person, run: id, insides, first: None };
    Ok(stream::respond(&key.api, told, following, app.stopping().clone()))
}
