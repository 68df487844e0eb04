//! A tenant's feed: which of its sessions change.

use std::convert::Infallible;

use axum::http::request::Parts;
use axum::response::Response;
use axum::response::sse::Event as SseEvent;
use futures_util::stream;
use munshi_conversations::human_requests::HumanRequestState;
use munshi_conversations::session_changes::SessionNews;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_live::TenantFollower;
use munshi_types::{BindingId, PersonId, SessionId, Timestamp};
use serde::Serialize;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::follower_slots::FollowerSlot;
use super::{is_refusal, respond, shutdown_event, unauthorized_event};
use crate::api::access::AuthorizedCaller;
use crate::app::App;

/// What a feed begins with.
pub(crate) struct TenantStreamSource {
    pub(crate) app: App,
    /// Of the request, to look at it again.
    pub(crate) parts: Parts,
    pub(crate) caller: AuthorizedCaller,
    pub(crate) follower: TenantFollower,
    #[allow(dead_code, reason = "held")]
    pub(crate) slot: FollowerSlot,
}

struct TenantStream {
    source: TenantStreamSource,
    stopping: CancellationToken,
    checked_at: Instant,
    has_ended: bool,
}

/// A session that has changed.
#[derive(Serialize)]
struct SessionNewsEvent {
    #[serde(rename = "type")]
    kind: &'static str,
    id: SessionId,
    binding: BindingId,
    messages: i64,
    changed_at: Timestamp,
    merged_into: Option<SessionId>,
    /// Who of the business has it in hand.
    held_by: Option<PersonId>,
    /// How it stands in the line: `waiting`, `callback` or `held`.
    line: Option<&'static str>,
    waiting_since: Option<Timestamp>,
    unread: Option<i64>,
}

enum TenantWake {
    Stopping,
    News(SessionNews),
    Recheck,
}

pub(crate) fn stream_tenant(source: TenantStreamSource) -> Response {
    let stopping = source.app.shutdown_token().clone();
    let stream = TenantStream { source, stopping, checked_at: Instant::now(), has_ended: false };
    respond(stream::unfold(stream, TenantStream::next))
}

impl TenantStream {
    async fn next(mut self) -> Option<(Result<SseEvent, Infallible>, Self)> {
        loop {
            if self.has_ended {
                return None;
            }
            let wake = tokio::select! {
                biased;
                () = self.stopping.cancelled() => TenantWake::Stopping,
                () = tokio::time::sleep_until(self.next_check()) => TenantWake::Recheck,
                news = self.source.follower.next() => TenantWake::News(news),
            };
            let event = match wake {
                TenantWake::Stopping => self.end_with(shutdown_event()),
                TenantWake::News(news) if self.source.caller.reaches(news.pulse.binding) => news_event(&news),
                TenantWake::News(_) => continue,
                TenantWake::Recheck => {
                    self.checked_at = Instant::now();
                    match self.recheck().await {
                        true => continue,
                        false => self.end_with(unauthorized_event()),
                    }
                }
            };
            return Some((Ok(event), self));
        }
    }

    fn next_check(&self) -> Instant {
        self.checked_at + self.source.caller.api.stream_pace.recheck
    }

    fn end_with(&mut self, event: SseEvent) -> SseEvent {
        self.has_ended = true;
        event
    }

    /// Whether the key or the sign-in is still good for it, and what it reaches by now.
    async fn recheck(&mut self) -> bool {
        match AuthorizedCaller::recheck(&self.source.parts, &self.source.app).await {
            Ok(caller) => {
                let may_follow = caller.require_access(Area::Sessions, ApiAccess::Read).is_ok()
                    && caller.tenant() == self.source.caller.tenant();
                self.source.caller = caller;
                may_follow
            }
            // It can't be told now, and was so a moment ago.
            Err(error) => !is_refusal(&error),
        }
    }
}

fn news_event(news: &SessionNews) -> SseEvent {
    let event = SessionNewsEvent {
        kind: "session",
        id: news.session,
        binding: news.pulse.binding,
        messages: news.pulse.messages,
        changed_at: news.changed_at,
        merged_into: news.pulse.merged_into,
        held_by: news.pulse.held_by,
        line: news.line.map(HumanRequestState::as_str),
        waiting_since: news.attention.waiting_since,
        unread: news.attention.unread,
    };
    // Plain structs always become JSON.
    let data = serde_json::to_string(&event).unwrap_or_default();
    SseEvent::default().event("session").data(data).id(news.changed_at.to_string())
}
