//! `GET /v1/stream`: which sessions of the tenant change.

use std::time::Duration;

use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;
use munshi_server::error::ApiError;
use munshi_server::parameters::UrlQueryParameters;
use munshi_types::Timestamp;
use serde::Deserialize;
use utoipa::IntoParams;

use super::sign_typing::find_colleague;
use crate::api::access::AuthorizedCaller;
use crate::app::App;
use crate::live::follower_slots::FollowerIdentity;
use crate::live::tenant_stream::{TenantStreamSource, stream_tenant};
use crate::live::visit_position::{event_id_error, read_last_event_id};
use crate::views::event::ServerEvent;

/// Whoever was away for longer lists the sessions.
const LONGEST_ABSENCE: Duration = Duration::from_secs(60 * 60);

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WatchSessionsQuery {
    /// The last event id, for clients that can't send the header.
    #[param(example = "2026-11-15T03:30:00Z")]
    after: Option<String>,
}

/// Stream which sessions of the tenant change, for whoever watches all of them.
///
/// `session` has the session's `id`, `binding`, number of `messages`, when it `changed_at`, `merged_into`, `held_by`, how it stands in the
/// `line` for a person, `waiting_since` (since when its person waits for an answer, or for somebody to come) and `unread` (how many of
/// their messages you have not read, 100 at most). What was said is in GET /v1/sessions/{id}/messages. Several changes of a session may
/// come as one; the feed begins ten
/// seconds earlier, so that some come again and none is left out. It goes back an hour at most: list the sessions after a
/// longer absence. At most 64 streams of one key are open on a server.
#[utoipa::path(get, path = "/v1/stream", tag = "sessions",
    params(
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event you received."),
        WatchSessionsQuery,
    ),
    responses((status = 200, description = "The event stream.", body = ServerEvent, content_type = "text/event-stream")))]
pub(crate) async fn watch_sessions(
    State(app): State<App>,
    key: AuthorizedCaller,
    UrlQueryParameters(from): UrlQueryParameters<WatchSessionsQuery>,
    parts: Parts,
) -> Result<Response, ApiError> {
    let after = match read_last_event_id(&parts.headers, from.after.as_deref())? {
        Some(text) => Some(text.parse::<Timestamp>().map_err(|_| event_id_error())?),
        None => None,
    };
    let now = key.api.clock.now();
    let since = after.map_or(now, |after| after.max(now.minus(LONGEST_ABSENCE)).min(now));
    let reader = find_colleague(&key).await?;
    let slot = key.api.followers.take(FollowerIdentity::Key(key.tenant(), key.caller.key))?;
    let follower = key.api.live.follow_tenant(key.tenant(), since).with_reader(reader);
    Ok(stream_tenant(TenantStreamSource { app, parts, caller: key, follower, slot }))
}
