//! `GET /visit/{place}/stream`: the visitor's own thread as it changes, and the turn under way.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use munshi_server::error::ApiError;
use munshi_server::parameters::UrlQueryParameters;
use munshi_server::phrases;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::live::find_newest;
use crate::live::follower_slots::FollowerIdentity;
use crate::live::visit_position::{VisitPosition, event_id_error, read_last_event_id};
use crate::live::visit_stream::{VisitStreamSource, stream_visit};
use crate::views::event::ServerEvent;
use crate::visitor::page_visitor::PageVisitor;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FollowVisitQuery {
    /// The last event id or the `cursor` of the thread, for clients that can't send the header.
    after: Option<String>,
}

/// Stream one's own session as it changes: the one stream a page needs.
///
/// - `thread` has the data of GET /visit/{place}, with the messages after the last one; it comes first, and whenever
///   anything in it changes
/// - the events of the running turn are those of GET /visit/{place}/runs/{id}/stream; `run` in their data says whose they are
/// - `moved` is the last event: the session became one with another; load the thread again
/// - `error` is the last event; `retryable` says whether to come back with the last event id
///
/// At most 8 streams of one visitor are open on a server.
#[utoipa::path(get, path = "/visit/{place}/stream", tag = "visits",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`.", example = "rangoli"),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event you received, or the thread's `cursor`; without it the stream begins behind the newest message."),
        FollowVisitQuery,
    ),
    responses(
        (status = 200, description = "The event stream.", body = ServerEvent, content_type = "text/event-stream"),
        (status = 204, description = "Nobody is known here yet: come again after the first message."),
    ))]
pub(crate) async fn follow_visit(
    State(app): State<App>,
    visitor: PageVisitor,
    UrlQueryParameters(from): UrlQueryParameters<FollowVisitQuery>,
    parts: Parts,
) -> Result<Response, ApiError> {
    let mut position = match read_last_event_id(&parts.headers, from.after.as_deref())? {
        Some(text) => VisitPosition::parse(text).ok_or_else(event_id_error)?,
        None => VisitPosition::default(),
    };
    let Some((person, session)) = visitor.find_thread().await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let tenant = visitor.binding.tenant;
    let slot = visitor.api.followers.take(FollowerIdentity::Visitor(tenant, person.id))?;
    let watch = visitor.api.live.watch_session(tenant, session.id);
    if position.after.is_none() {
        position.after = find_newest(&visitor.api.db, tenant, session.id).await?;
    }
    let fallback = phrases::choose_locale(&visitor.binding, &parts.headers);
    let session = session.id;
    Ok(stream_visit(VisitStreamSource { app, parts, visitor, session, fallback, position, watch, slot }))
}
