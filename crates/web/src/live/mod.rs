//! Streams that stay open: what changes in conversations, told as it changes.
//!
//! The client pulls, as it does a run's stream: while it does not read, nothing is kept for it here but what was read last.
//! Every stream looks again now and then whether its client may still hear it, and ends when the server stops; whoever comes
//! back with the id of the last event gets what came meanwhile, from any node.
//!
//! # Layout
//! - `visit_stream`: somebody's own thread at a page, with the turn under way; `visit_position`: where such a page broke off
//! - `session_stream`: a session, for a key; `tenant_stream`: which sessions of a tenant change
//! - `typing`: signs that somebody types; `follower_slots`: how many streams somebody may have open; `opened_sessions`: who follows again

pub(crate) mod follower_slots;
pub(crate) mod opened_sessions;
pub(crate) mod session_stream;
pub(crate) mod tenant_stream;
pub(crate) mod typing;
pub(crate) mod visit_position;
pub(crate) mod visit_stream;

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use munshi_conversations::session_changes;
use munshi_live::MessageCursor;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_store::Db;
use munshi_types::{SessionId, TenantId};
use serde_json::json;

/// Proxies cut lines that are silent for longer.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Events as an answer that does not end by itself.
fn respond(events: impl Stream<Item = Result<SseEvent, Infallible>> + Send + 'static) -> Response {
    Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("still here")).into_response()
}

/// The last event of a stream that ends though its session goes on.
fn error_event(code: &str, message: &str, retryable: bool) -> SseEvent {
    let data = json!({ "type": "error", "code": code, "message": message, "retryable": retryable });
    SseEvent::default().event("error").data(data.to_string())
}

fn shutdown_event() -> SseEvent {
    error_event("restarting", "The server is shutting down. Resume with the last event id.", true)
}

fn unauthorized_event() -> SseEvent {
    error_event("unauthorized", "You may no longer follow this. Sign in, or send a valid key.", false)
}

/// Behind what was said by now: a stream that nobody has read yet leaves nothing out.
pub(crate) async fn find_newest(
    db: &Db,
    tenant: TenantId,
    session: SessionId,
) -> munshi_store::Result<Option<MessageCursor>> {
    let pulse = db.read(tenant, move |tx| session_changes::find_pulse(tx, session)).await?;
    Ok(pulse.map(|pulse| MessageCursor::new(pulse.renumbered, pulse.messages)))
}

/// Whether an error of looking again means that the client has lost its right; else it could not be looked now.
fn is_refusal(error: &ApiError) -> bool {
    matches!(
        error.code(),
        ApiErrorCode::Unauthenticated
            | ApiErrorCode::Forbidden
            | ApiErrorCode::NotFound
            | ApiErrorCode::Conflict
    )
}
