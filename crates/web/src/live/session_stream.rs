//! A session's stream, for a key: what is said in it, and how it stands.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::request::Parts;
use axum::response::Response;
use axum::response::sse::Event as SseEvent;
use futures_util::stream;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_live::{MessageCursor, SessionChange, SessionFollower, SessionState};
use munshi_operations::messages::MessageView;
use munshi_types::{BindingId, SessionId, TenantId};
use serde::Serialize;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::follower_slots::FollowerSlot;
use super::{error_event, is_refusal, respond, shutdown_event, unauthorized_event};
use crate::api::access::AuthorizedCaller;
use crate::app::App;

/// What a stream begins with.
pub(crate) struct SessionStreamSource {
    pub(crate) app: App,
    /// Of the request, to look at it again.
    pub(crate) parts: Parts,
    /// Whose session it is. Whoever is signed in may have another workspace open by the next look.
    pub(crate) tenant: TenantId,
    pub(crate) binding: BindingId,
    /// Whoever follows is the customer in it: whispers, and what is proposed, are for others.
    pub(crate) is_own: bool,
    pub(crate) recheck_interval: Duration,
    pub(crate) follower: SessionFollower,
    #[allow(dead_code, reason = "held")]
    pub(crate) slot: FollowerSlot,
}

struct SessionStream {
    source: SessionStreamSource,
    stopping: CancellationToken,
    checked_at: Instant,
    has_ended: bool,
}

/// The `data` of an event; `type` is its name.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum SessionEvent {
    Message(Box<MessageView>),
    State(SessionState),
    Moved { session: SessionId },
}

enum SessionWake {
    Stopping,
    Change(Option<SessionChange>),
    Recheck,
}

pub(crate) fn stream_session(source: SessionStreamSource) -> Response {
    let stopping = source.app.shutdown_token().clone();
    let stream = SessionStream { source, stopping, checked_at: Instant::now(), has_ended: false };
    respond(stream::unfold(stream, SessionStream::next))
}

impl SessionStream {
    async fn next(mut self) -> Option<(Result<SseEvent, Infallible>, Self)> {
        loop {
            if self.has_ended {
                return None;
            }
            let wake = tokio::select! {
                biased;
                () = self.stopping.cancelled() => SessionWake::Stopping,
                () = tokio::time::sleep_until(self.next_check()) => SessionWake::Recheck,
                change = self.source.follower.next() => SessionWake::Change(change),
            };
            let event = match wake {
                SessionWake::Stopping => self.end_with(shutdown_event()),
                SessionWake::Change(Some(change)) => self.render(change),
                SessionWake::Change(None) => return None,
                SessionWake::Recheck => {
                    self.checked_at = Instant::now();
                    match self.may_follow().await {
                        true => continue,
                        false => self.end_with(unauthorized_event()),
                    }
                }
            };
            return Some((Ok(event), self));
        }
    }

    fn next_check(&self) -> Instant {
        self.checked_at + self.source.recheck_interval
    }

    fn end_with(&mut self, event: SseEvent) -> SseEvent {
        self.has_ended = true;
        event
    }

    fn render(&mut self, change: SessionChange) -> SseEvent {
        match change {
            SessionChange::Message { cursor, message, delivery } => {
                let row = delivery.map(|row| *row);
                let view = Box::new(MessageView::with_delivery(*message, row));
                session_event(&SessionEvent::Message(view), Some(cursor))
            }
            SessionChange::State(mut state) => {
                if self.source.is_own {
                    (state.whispers, state.draft) = (0, None);
                }
                session_event(&SessionEvent::State(state), None)
            }
            SessionChange::Moved { to } => {
                let event = session_event(&SessionEvent::Moved { session: to }, None);
                self.end_with(event)
            }
            SessionChange::Gone => self.end_with(error_event("not_found", "The session is gone.", false)),
        }
    }

    /// Whether the key or the sign-in is still good for it.
    async fn may_follow(&self) -> bool {
        match AuthorizedCaller::recheck(&self.source.parts, &self.source.app).await {
            Ok(caller) => {
                caller.require_access(Area::Sessions, ApiAccess::Read).is_ok()
                    && caller.tenant() == self.source.tenant
                    && caller.reaches(self.source.binding)
            }
            // It can't be told now, and was so a moment ago.
            Err(error) => !is_refusal(&error),
        }
    }
}

fn session_event(event: &SessionEvent, cursor: Option<MessageCursor>) -> SseEvent {
    let name = match event {
        SessionEvent::Message(_) => "message",
        SessionEvent::State(_) => "state",
        SessionEvent::Moved { .. } => "moved",
    };
    // Plain structs always become JSON.
    let sent = SseEvent::default().event(name).data(serde_json::to_string(event).unwrap_or_default());
    match cursor {
        Some(cursor) => sent.id(cursor.to_string()),
        None => sent,
    }
}
