//! `GET /v1/sessions/{id}/stream`: a session as it changes.

use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;
use munshi_live::MessageCursor;
use munshi_operations::execute;
use munshi_operations::sessions::{SessionInput, ShowSession, open_followed};
use munshi_pack::operation::OperationScope;
use munshi_server::error::ApiError;
use munshi_server::parameters::{UrlPathParameter, UrlQueryParameters};
use munshi_types::SessionId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::app::App;
use crate::live::find_newest;
use crate::live::follower_slots::FollowerIdentity;
use crate::live::session_stream::{SessionStreamSource, stream_session};
use crate::live::visit_position::{event_id_error, parse_cursor, read_last_event_id};
use crate::operations::build_call;
use crate::views::event::ServerEvent;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FollowSessionQuery {
    /// The last event id or the number of the last message, for clients that can't send the header; 0 for all that is there.
    after: Option<String>,
}

/// Stream a session as it changes, on any node.
///
/// - `message`: a message as GET /v1/sessions/{id}/messages lists it, each once, in order and without a gap; its id is its number
/// - `state`: the turns under way (`running` or `waiting_approval`), pending approvals, who of the business has it
///   in hand (`held_by`), behind which message the agent proposes something to them (`draft`), who types, how many
///   `whispers` no turn was told yet, and what colleagues wrote that is `unsent`; first after the messages that were there, then whenever
///   it differs
/// - `moved`: the last event: the session became one with another, or got new numbers itself; read `session` anew
/// - `error`: the last event; `retryable` says whether to come back with the last event id. `unauthorized`: the key was revoked, or
///   whoever is signed in has another workspace open
///
/// Without an id the stream begins behind the newest message. The audit notes who follows somebody else's conversation; who comes back
/// with an id, every ten minutes.
/// At most 64 streams of one key are open on a server.
#[utoipa::path(get, path = "/v1/sessions/{id}/stream", tag = "sessions",
    params(
        ("id" = uuid::Uuid, Path, description = "The session."),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event you received."),
        FollowSessionQuery,
    ),
    responses((status = 200, description = "The event stream.", body = ServerEvent, content_type = "text/event-stream")))]
pub(crate) async fn follow_session(
    State(app): State<App>,
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<SessionId>,
    UrlQueryParameters(from): UrlQueryParameters<FollowSessionQuery>,
    parts: Parts,
) -> Result<Response, ApiError> {
    let after = read_last_event_id(&parts.headers, from.after.as_deref())?;
    let is_event_id = parts.headers.contains_key(crate::api::stream::LAST_EVENT_ID);
    let parse = |text: &str| match is_event_id {
        // A number alone is an id of the first numbering.
        true => text.parse::<MessageCursor>(),
        false => parse_cursor(text),
    };
    let after = after.map(parse).transpose().map_err(|_| event_id_error())?;
    let call = build_call(&key.api, key.caller.clone(), OperationScope::Tenant).await?;
    let tenant = key.tenant();
    let opened = (tenant, key.caller.key, id);
    // Whoever goes on behind an event has opened it before.
    let (binding, person) = match after.is_some() && key.api.opened.is_noted(opened, call.now) {
        true => {
            let session = execute::<ShowSession>(&call, SessionInput { id }).await?;
            (session.binding, session.person)
        }
        false => {
            let session = open_followed(&call, id).await?;
            key.api.opened.note(opened, call.now);
            (session.binding, session.person)
        }
    };
    let slot = key.api.followers.take(FollowerIdentity::Key(tenant, key.caller.key))?;
    // An old id is followed as such: it says at once where it leads.
    let after = match after {
        Some(after) => Some(after),
        None => find_newest(&key.api.db, tenant, id).await?,
    };
    let follower = key.api.live.follow_session(tenant, id, after);
    Ok(stream_session(SessionStreamSource {
        app,
        parts,
        tenant,
        binding,
        is_own: key.caller.principal.person == Some(person),
        recheck_interval: key.api.stream_pace.recheck,
        follower,
        slot,
    }))
}
