//! One page's stream: the thread whenever it changes, and the events of the turn under way.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;
use axum::response::sse::Event as SseEvent;
use futures_util::stream;
use munshi_agent::RunFollower;
use munshi_conversations::session_changes::{self, SessionPulse};
use munshi_conversations::{EventId, RunEvent};
use munshi_lang::Locale;
use munshi_live::{ChangeWatch, MessageCursor, RetryBackoff};
use munshi_server::error::ApiError;
use munshi_types::{MessageId, RunId, SessionId, Timestamp};
use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::follower_slots::FollowerSlot;
use super::visit_position::VisitPosition;
use super::{is_refusal, respond, shutdown_event, unauthorized_event};
use crate::app::App;
use crate::routes::visits::read::{LIVE_MESSAGES, LoadedVisit, ThreadPart, load_visit};
use crate::views::visit::VisitView;
use crate::views::visit_event::VisitEventTranslator;
use crate::visitor::page_visitor::PageVisitor;

/// The end of a turn is stored a moment before its last event is told.
const LAST_EVENTS: Duration = Duration::from_secs(2);
/// After so long a turn is followed again that could not be.
const RETRY: Duration = Duration::from_secs(1);
/// The shortest wait for a sign to lapse.
const SHORTEST_WAIT: Duration = Duration::from_millis(100);

/// What a stream begins with.
pub(crate) struct VisitStreamSource {
    pub(crate) app: App,
    /// Of the request, to look at it again.
    pub(crate) parts: Parts,
    pub(crate) visitor: PageVisitor,
    pub(crate) session: SessionId,
    /// Where the thread has no language yet.
    pub(crate) fallback: Locale,
    pub(crate) position: VisitPosition,
    /// Made before the thread is read.
    pub(crate) watch: ChangeWatch,
    pub(crate) slot: FollowerSlot,
}

pub(crate) fn stream_visit(source: VisitStreamSource) -> Response {
    let VisitStreamSource { app, parts, visitor, session, fallback, position, watch, slot } = source;
    let stopping = app.shutdown_token().clone();
    let stream = VisitStream {
        app,
        parts,
        visitor,
        session,
        fallback,
        watch,
        stopping,
        cursor: position.after,
        resumed: position.turn.into_iter().collect(),
        turn: None,
        ended_turn: None,
        told: None,
        is_lively: false,
        lapses_at: None,
        pulse: None,
        queue: VecDeque::new(),
        is_dirty: true,
        has_ended: false,
        checked_at: Instant::now(),
        retries: RetryBackoff::default(),
        _slot: slot,
    };
    respond(stream::unfold(stream, VisitStream::next))
}

struct VisitStream {
    app: App,
    parts: Parts,
    visitor: PageVisitor,
    session: SessionId,
    fallback: Locale,
    watch: ChangeWatch,
    stopping: CancellationToken,
    /// Behind what was told.
    cursor: Option<MessageCursor>,
    /// How far the page has come in turns that it followed and does not follow now.
    resumed: HashMap<RunId, EventId>,
    turn: Option<FollowedTurn>,
    /// The one that was followed to its end.
    ended_turn: Option<EndedTurn>,
    /// A hash of the thread as it was told last, without its messages.
    told: Option<u64>,
    /// What was told last has something in it that may change without its session: a question that expires, a turn, a place in
    /// the line, somebody who types.
    is_lively: bool,
    /// When somebody no longer types of whom that was told, unless they go on.
    lapses_at: Option<Timestamp>,
    /// As it was when it was read last.
    pulse: Option<SessionPulse>,
    queue: VecDeque<QueuedEvent>,
    is_dirty: bool,
    has_ended: bool,
    checked_at: Instant,
    retries: RetryBackoff,
    /// Given back when the client has gone.
    _slot: FollowerSlot,
}

/// A turn that has nothing more to tell, as long as it is not resumed.
struct EndedTurn {
    run: RunId,
    /// Its last event; none where it broke off without one.
    last: Option<EventId>,
}

struct FollowedTurn {
    run: RunId,
    /// Its end was told, and it went on since: what comes begins anew.
    ended_at: Option<EventId>,
    events: RunFollower,
    translator: VisitEventTranslator,
}

struct QueuedEvent {
    event: SseEvent,
    /// The run and its reply that asks something: noted once the client has taken what is before it.
    shown: Option<(RunId, MessageId)>,
}

/// The `data` of a thread's event; `type` is its name.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ThreadEvent<'a> {
    Thread(&'a VisitView),
    /// The last: the thread became one with another. Load it anew.
    Moved,
}

enum VisitWake {
    Stopping,
    Turn(Option<(EventId, RunEvent)>),
    Changed,
    Swept,
    Recheck,
}

impl VisitStream {
    async fn next(mut self) -> Option<(Result<SseEvent, Infallible>, Self)> {
        loop {
            if let Some(QueuedEvent { event, shown }) = self.queue.pop_front() {
                if let Some((run, message)) = shown {
                    let (tenant, client) = (self.visitor.binding.tenant, self.visitor.client.clone());
                    self.visitor.api.engine.note_shown(tenant, run, message, client).await;
                }
                return Some((Ok(event), self));
            }
            if self.has_ended {
                return None;
            }
            if Instant::now() >= self.next_check() {
                self.recheck().await;
                continue;
            }
            if self.is_dirty {
                match self.tell_thread().await {
                    Ok(()) => self.retries.succeed(self.visitor.api.live.outage()),
                    Err(error) => self.wait_out(&error).await,
                }
                continue;
            }
            self.wait().await;
        }
    }

    fn next_check(&self) -> Instant {
        self.checked_at + self.visitor.api.stream_pace.recheck
    }

    /// The thread can't be read now.
    async fn wait_out(&mut self, error: &ApiError) {
        let failed = self.retries.fail(self.visitor.api.live.outage());
        if failed.is_news {
            tracing::warn!(session = %self.session, %error, "following threads failed; trying again");
        }
        self.is_dirty = true;
        self.rest(failed.pause).await;
    }

    /// Until the database is asked again.
    async fn rest(&mut self, pause: Duration) {
        if tokio::time::timeout(pause, self.stopping.cancelled()).await.is_ok() {
            self.end_with(shutdown_event());
        }
    }

    async fn wait(&mut self) {
        let next_check = self.next_check();
        let lapse = self.lapses_at.map(|at| at.since(self.visitor.api.clock.now()).max(SHORTEST_WAIT));
        let sweep = self.visitor.api.stream_pace.sweep;
        let sweep = lapse.map_or(sweep, |lapse| lapse.min(sweep));
        let pulse = self.pulse;
        let wake = tokio::select! {
            biased;
            () = self.stopping.cancelled() => VisitWake::Stopping,
            event = next_turn_event(self.turn.as_mut()) => VisitWake::Turn(event),
            () = self.watch.changed(|found| pulse.is_some_and(|pulse| pulse.has_read(found))) => VisitWake::Changed,
            () = tokio::time::sleep(sweep) => VisitWake::Swept,
            () = tokio::time::sleep_until(next_check) => VisitWake::Recheck,
        };
        match wake {
            VisitWake::Stopping => self.end_with(shutdown_event()),
            VisitWake::Turn(Some((id, RunEvent::Error { retryable: true, .. }))) => self.retry_turn(id).await,
            VisitWake::Turn(Some((id, event))) => {
                let is_last = event.is_last();
                self.tell_event(id, event);
                if is_last {
                    self.end_turn(Some(id));
                }
            }
            VisitWake::Turn(None) => self.end_turn(None),
            VisitWake::Changed => self.is_dirty = true,
            VisitWake::Swept => self.is_dirty = self.has_moved_on().await,
            // The loop begins with it.
            VisitWake::Recheck => {}
        }
    }

    /// Whether the thread may be another than when it was read last, though nobody said so.
    async fn has_moved_on(&mut self) -> bool {
        if self.is_lively {
            return true;
        }
        let (tenant, session) = (self.visitor.binding.tenant, self.session);
        let find = move |tx: &mut munshi_store::Tx<'_>| session_changes::find_pulse(tx, session);
        let found = self.visitor.api.db.read(tenant, find).await;
        // Where it can't be read, the next look tells.
        found.is_ok_and(|pulse| pulse != self.pulse)
    }

    /// Whether the same is still proved, such as by a sign-in.
    async fn recheck(&mut self) {
        self.checked_at = Instant::now();
        match PageVisitor::from_request_parts(&mut self.parts.clone(), &self.app).await {
            Ok(visitor) if visitor.proved == self.visitor.proved => self.visitor = visitor,
            Ok(_) => self.end_with(unauthorized_event()),
            Err(error) if is_refusal(&error) => self.end_with(unauthorized_event()),
            // It can't be told now, and was so a moment ago.
            Err(_) => {}
        }
    }

    async fn tell_thread(&mut self) -> Result<(), ApiError> {
        let part = ThreadPart::Behind(self.cursor);
        let mut loaded = load_visit(&self.visitor, self.fallback, part).await?;
        self.is_dirty = false;
        let Some((session, pulse)) = loaded.at else {
            self.end_with(thread_event(&ThreadEvent::Moved));
            return Ok(());
        };
        let is_known = self.cursor.is_none_or(|cursor| cursor.is_of(pulse.renumbered, pulse.messages));
        if session != self.session || !is_known {
            self.end_with(thread_event(&ThreadEvent::Moved));
            return Ok(());
        }
        self.pulse = Some(pulse);
        // The end of a turn comes before the thread that it is no longer under way in.
        if self.turn.as_ref().is_some_and(|turn| !loaded.view.running.contains(&turn.run)) {
            self.finish_turn().await;
        }
        let messages = std::mem::take(&mut loaded.view.messages);
        let before = self.cursor.map_or(pulse.messages, MessageCursor::number);
        let cursor = MessageCursor::new(pulse.renumbered, messages.last().map_or(before, |last| last.number));
        self.cursor = Some(cursor);
        self.is_dirty = messages.len() >= LIVE_MESSAGES as usize;
        self.is_lively = is_lively(&loaded.view);
        self.lapses_at = loaded.view.typing.iter().map(|typing| typing.until).min();
        let state = hash(&loaded.view);
        if self.told != Some(state) || !messages.is_empty() {
            self.told = Some(state);
            loaded.view.messages = messages;
            let event = thread_event(&ThreadEvent::Thread(&loaded.view)).id(cursor.to_string());
            self.queue.push_back(QueuedEvent { event, shown: None });
        }
        self.follow_turn(&loaded).await
    }

    /// Follows the turn under way, where none is followed; of several the oldest, since the others wait for it.
    async fn follow_turn(&mut self, loaded: &LoadedVisit) -> Result<(), ApiError> {
        // One that waited for an answer goes on under its own id.
        let running = &loaded.view.running;
        self.ended_turn = self.ended_turn.take().filter(|ended| running.contains(&ended.run));
        let ended = self.ended_turn.as_ref();
        // Its end is stored before it is told: one that is under way by now was answered meanwhile, and is followed again.
        let is_open = |run: &RunId| ended.is_none_or(|ended| ended.run != *run || ended.last.is_some());
        let next = running.iter().rev().copied().find(is_open);
        let (None, Some(run)) = (&self.turn, next) else { return Ok(()) };
        let ended_at = self.ended_turn.take_if(|ended| ended.run == run).and_then(|ended| ended.last);
        let after = ended_at.or_else(|| self.resumed.remove(&run));
        let tenant = self.visitor.binding.tenant;
        match self.visitor.api.engine.follow(tenant, run, after).await {
            Ok(events) => {
                let translator = VisitEventTranslator::new(&self.visitor.api, loaded.voice);
                self.turn = Some(FollowedTurn { run, ended_at, events, translator });
            }
            // It has gone since.
            Err(munshi_conversations::Error::NoRun) => self.ended_turn = Some(EndedTurn { run, last: None }),
            Err(error) => {
                self.resumed.extend(after.map(|after| (run, after)));
                return Err(crate::api::turn_errors::convert_turn_error(error));
            }
        }
        Ok(())
    }

    async fn finish_turn(&mut self) {
        let until = Instant::now() + LAST_EVENTS;
        loop {
            let heard = tokio::time::timeout_at(until, next_turn_event(self.turn.as_mut())).await;
            let Ok(Some((id, event))) = heard else { break };
            let is_last = event.is_last();
            self.tell_event(id, event);
            if is_last {
                break;
            }
        }
        self.ended_turn = self.turn.take().map(|turn| EndedTurn { run: turn.run, last: None });
    }

    /// It can't be followed now: it is again, from where it was, as long as it goes on. The page's own line stands.
    async fn retry_turn(&mut self, seen: EventId) {
        let run = self.turn.take().map(|turn| turn.run);
        self.resumed.extend(run.filter(|_| seen != EventId::default()).map(|run| (run, seen)));
        self.is_dirty = true;
        self.rest(RETRY).await;
    }

    /// What comes behind it is in the thread.
    fn end_turn(&mut self, last: Option<EventId>) {
        self.ended_turn = self.turn.take().map(|turn| EndedTurn { run: turn.run, last });
        self.is_dirty = true;
    }

    fn tell_event(&mut self, id: EventId, event: RunEvent) {
        let Some(turn) = &mut self.turn else { return };
        let run = turn.run;
        // The page has the end already, and takes back nothing of what stands in the thread.
        let is_pause = matches!(event, RunEvent::Thinking { .. });
        if let Some(end) = turn.ended_at.take_if(|_| !is_pause)
            && (end == id || matches!(event, RunEvent::Reset { .. }))
        {
            return;
        }
        let shown = match &event {
            RunEvent::Done { run, message: Some(message), asks: true, .. } => Some((*run, *message)),
            _ => None,
        };
        let Some(heard) = turn.translator.translate(event.into()) else { return };
        // Plain structs always become JSON.
        let mut data = serde_json::to_value(&heard).unwrap_or_default();
        if let Some(fields) = data.as_object_mut() {
            fields.insert("run".to_owned(), json!(run));
        }
        let sent = SseEvent::default().event(heard.name()).data(data.to_string());
        let event = match self.cursor {
            Some(cursor) if id != EventId::default() => sent.id(format!("{cursor};{run}:{id}")),
            _ => sent,
        };
        self.queue.push_back(QueuedEvent { event, shown });
    }

    fn end_with(&mut self, event: SseEvent) {
        self.has_ended = true;
        self.queue.push_back(QueuedEvent { event, shown: None });
    }
}

/// The next event of the turn that is followed; none ever comes where none is.
async fn next_turn_event(turn: Option<&mut FollowedTurn>) -> Option<(EventId, RunEvent)> {
    match turn {
        Some(turn) => turn.events.next().await,
        None => std::future::pending().await,
    }
}

fn thread_event(event: &ThreadEvent<'_>) -> SseEvent {
    let name = match event {
        ThreadEvent::Thread(_) => "thread",
        ThreadEvent::Moved => "moved",
    };
    SseEvent::default().event(name).data(serde_json::to_string(event).unwrap_or_default())
}

fn is_lively(view: &VisitView) -> bool {
    let is_waiting = view.line.is_some() || !view.approvals.is_empty();
    is_waiting || !view.running.is_empty() || !view.typing.is_empty()
}

fn hash(view: &VisitView) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(view).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}
