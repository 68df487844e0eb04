//! A run's events on their way to a client.
//!
//! The client pulls: while it does not read, nothing is kept for it here. When it goes, the turn goes on, and whoever
//! comes back with the id of the last event they saw gets the rest, from any node.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use munshi_agent::{RunFollower, TurnEngine};
use munshi_conversations::{EventId, RunEvent};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::parameters::field_error;
use munshi_types::{PersonId, RunId, TenantId};
use tokio_util::sync::CancellationToken;

use crate::app::api::ApiState;
use crate::app::stream_registry::StreamSlot;
use crate::views::event::StreamEvent;
use crate::views::outcome::DetailLevel;

/// Proxies cut lines that are silent for longer.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a stream may go on once the server stops; the rest is asked for again elsewhere.
const PARTING: Duration = Duration::from_secs(5);
/// Comes back with the id of the last event that was seen.
pub(crate) const LAST_EVENT_ID: &str = "last-event-id";

/// Where a client broke off: `RUN:1.2.3` as it was sent, or `1.2.3` alone.
pub(crate) fn parse_last_event_id(
    run: RunId,
    headers: &HeaderMap,
    after: Option<&str>,
) -> Result<Option<EventId>, ApiError> {
    let header = match headers.get(LAST_EVENT_ID).map(axum::http::HeaderValue::to_str) {
        None => None,
        Some(Ok(text)) => Some(text),
        Some(Err(_)) => return Err(event_id_error("Last-Event-ID")),
    };
    let (name, text) = match (header, after) {
        (Some(text), _) => ("Last-Event-ID", text.trim()),
        (None, Some(text)) => ("after", text),
        (None, None) => return Ok(None),
    };
    let number = match text.rsplit_once(':') {
        Some((whose, number)) if whose.parse() == Ok(run) => number,
        Some(_) => return Err(field_error(name, "it belongs to another run")),
        None => text,
    };
    let id: EventId = number.parse().map_err(|_| event_id_error(name))?;
    // Before the first event of the reply: from the beginning.
    Ok((id != EventId::default()).then_some(id))
}

fn event_id_error(name: &str) -> ApiError {
    ApiError::new(ApiErrorCode::BadRequest, format!("`{name}` is not an event id."))
        .hint("Send the id exactly as the stream gave it, or omit it to receive all events.")
}

/// What is streamed.
pub(crate) struct RunStreamSource {
    pub(crate) tenant: TenantId,
    /// Whose turn it is; none of work that nobody typed.
    pub(crate) person: Option<PersonId>,
    pub(crate) run: RunId,
    /// Whether they may see what tools were given and gave.
    pub(crate) insides: DetailLevel,
    /// Which client reads it: what the run asks of the very client that sent its message was shown to it.
    pub(crate) client: Option<String>,
    /// Comes first, on the stream of the message itself.
    pub(crate) first: Option<StreamEvent>,
}

/// An event as it is sent: its name and its data. None where it is not for whoever follows.
pub(crate) type StreamEventRenderer =
    Arc<dyn Fn(StreamEvent) -> Option<(&'static str, String)> + Send + Sync>;

/// The events as they come, and now and then a comment.
pub(crate) fn respond(
    api: &ApiState,
    told: RunStreamSource,
    following: RunFollower,
    stopping: CancellationToken,
) -> Response {
    // Plain structs always become JSON.
    let whole = |event: StreamEvent| Some((event.name(), serde_json::to_string(&event).unwrap_or_default()));
    respond_with(api, told, following, stopping, Arc::new(whole))
}

/// The same as somebody else sees them.
pub(crate) fn respond_with(
    api: &ApiState,
    told: RunStreamSource,
    following: RunFollower,
    stopping: CancellationToken,
    view: StreamEventRenderer,
) -> Response {
    let registered = told.person.map(|person| api.streams.register(told.tenant, person, told.run));
    let (slot, others) = registered.map_or((None, Vec::new()), |(slot, others)| (Some(slot), others));
    let beside = others.into_iter().rfind(|other| *other != told.run);
    let beside =
        beside.map(|other| StreamEvent::Thinking { what: "another_stream".to_owned(), run: Some(other) });
    let run = told.run;
    let opening: Vec<_> = told.first.into_iter().chain(beside).collect();
    let (engine, insides) = (api.engine.clone(), told.insides);
    let live = Live {
        following: Some(following),
        stopping,
        engine,
        tenant: told.tenant,
        client: told.client,
        _slot: slot,
    };
    let opening = stream::iter(opening).map(|event| (EventId::default(), event));
    let events = opening.chain(stream::unfold(live, Live::next));
    let events = events.filter_map(move |(id, event)| {
        std::future::ready(render_event(run, id, event.redact_for(insides), &view))
    });
    let events = events.map(Ok::<_, Infallible>);
    Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("still here")).into_response()
}

struct Live {
    following: Option<RunFollower>,
    stopping: CancellationToken,
    engine: TurnEngine,
    tenant: TenantId,
    client: Option<String>,
    /// Given back when the client has gone.
    _slot: Option<StreamSlot>,
}

impl Live {
    async fn next(mut self) -> Option<((EventId, StreamEvent), Self)> {
        let mut following = self.following.take()?;
        let parting = async {
            self.stopping.cancelled().await;
            tokio::time::sleep(PARTING).await;
        };
        let next = tokio::select! {
            biased;
            next = following.next() => next?,
            () = parting => return Some(((EventId::default(), shutdown_event()), self)),
        };
        let (id, event) = next;
        // The client has taken every word before this one.
        if let RunEvent::Done { run, message: Some(message), asks: true, .. } = event {
            self.engine.note_shown(self.tenant, run, message, self.client.clone()).await;
        }
        self.following = (!event.is_last()).then_some(following);
        Some(((id, event.into()), self))
    }
}

fn shutdown_event() -> StreamEvent {
    StreamEvent::Error {
        code: "restarting".to_owned(),
        message: "The server is shutting down. Resume with GET /v1/runs/{id}/stream and the last event id."
            .to_owned(),
        retryable: true,
    }
}

/// Without an id where it would take a client that comes back to the beginning.
fn render_event(run: RunId, id: EventId, event: StreamEvent, view: &StreamEventRenderer) -> Option<SseEvent> {
    let is_first = matches!(event, StreamEvent::Received { .. });
    let (name, data) = view(event)?;
    let sent = SseEvent::default().event(name).data(data);
    Some(if id == EventId::default() && !is_first { sent } else { sent.id(format!("{run}:{id}")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::IdGenerator;

    #[test]
    fn a_client_comes_back_with_what_it_saw() {
        let ids = IdGenerator::system();
        let (run, other): (RunId, RunId) = (ids.next(), ids.next());
        let none = HeaderMap::new();
        let id = EventId { generation: 1, number: 2, offset: 3 };
        let code = |after: &str| parse_last_event_id(run, &none, Some(after)).unwrap_err().code();
        assert_eq!(parse_last_event_id(run, &none, None).unwrap(), None);
        assert_eq!(parse_last_event_id(run, &none, Some("1.2.3")).unwrap(), Some(id));
        assert_eq!(parse_last_event_id(run, &none, Some(&format!("{run}:1.2.3"))).unwrap(), Some(id));
        assert_eq!(parse_last_event_id(run, &none, Some(&format!("{run}:0.0.0"))).unwrap(), None);
        assert_eq!(code(&format!("{other}:1.2.3")), ApiErrorCode::Invalid);
        assert_eq!((code("x"), code("")), (ApiErrorCode::BadRequest, ApiErrorCode::BadRequest));
        let header = HeaderMap::from_iter([(
            axum::http::HeaderName::from_static(LAST_EVENT_ID),
            axum::http::HeaderValue::try_from(format!("{run}:1.2.3")).unwrap(),
        )]);
        assert_eq!(
            parse_last_event_id(run, &header, Some("9.9.9")).unwrap(),
            Some(id),
            "a browser's own header is newer"
        );
    }
}
