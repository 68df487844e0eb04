//! `GET /v1/runs/{id}/stream`: the events of a run, from the beginning or from where they broke off.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use munshi_server::error::ApiError;
use munshi_server::parameters::{UrlPathParameter, UrlQueryParameters};
use munshi_types::RunId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::api::run_lookup::load_run;
use crate::api::speaker::key_client_id;
use crate::api::stream::{self, RunStreamSource};
use crate::api::turn_errors::convert_turn_error;
use crate::app::App;
use crate::views::event::ServerEvent;
use crate::views::outcome::DetailLevel;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FollowRunQuery {
    /// The last event id, for clients that can't send the header.
    after: Option<String>,
}

/// Stream the events of a run, on any node, running or ended.
///
/// With the last event id you get exactly the rest. If the reply was restarted meanwhile, you get a `reset` first and
/// then the whole reply. A background run has no reply: you get its calls and their results, what it waits for, the runs it starts and
/// its end.
#[utoipa::path(get, path = "/v1/runs/{id}/stream", tag = "runs",
    params(
        ("id" = uuid::Uuid, Path, description = "The run."),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event you received."),
        FollowRunQuery,
    ),
    responses((status = 200, description = "The event stream.", body = ServerEvent, content_type = "text/event-stream")))]
pub(crate) async fn follow_run(
    app: State<App>,
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<RunId>,
    headers: HeaderMap,
    UrlQueryParameters(from): UrlQueryParameters<FollowRunQuery>,
) -> Result<Response, ApiError> {
    let after = stream::parse_last_event_id(id, &headers, from.after.as_deref())?;
    let run = load_run(&key, id).await?;
    let following = key.api.engine.follow(key.tenant(), id, after).await.map_err(convert_turn_error)?;
    let insides = DetailLevel::for_role(key.role());
    let client = Some(key_client_id(&key));
    let told =
        RunStreamSource { tenant: key.tenant(), person: run.person, run: id, insides, client, first: None };
    Ok(stream::respond(&key.api, told, following, app.shutdown_token().clone()))
}
