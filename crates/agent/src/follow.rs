//! Following a run, from wherever one broke off, on whichever node.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::marks::{ReplyMark, ReplyMarks};
use munshi_conversations::messages::{self, Message, MessageStatus};
use munshi_conversations::runs::{self, Run, RunLane};
use munshi_conversations::{Error, EventId, HaltReason, Result, RunEvent, RunState, TurnUsage};
use munshi_types::{RunId, TenantId};

use crate::background::RecordFollower;
use crate::engine::{TurnEngine, TurnEngineInner};
use crate::run_channels::{NextRunEvent, RunChannel};

/// How often a run of another node is looked at; it doubles up to the longest.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);
/// How long one waits in silence before a word that it still goes on.
const SILENCE: Duration = Duration::from_secs(10);

/// A run's events, one after another, until its last.
pub struct RunFollower {
    inner: Arc<TurnEngineInner>,
    tenant: TenantId,
    run: RunId,
    after: Option<EventId>,
    source: Source,
    pause: Duration,
    has_ended: bool,
}

enum Source {
    /// To be found out.
    Unknown,
    Live(Arc<RunChannel>),
    Stored(VecDeque<(EventId, RunEvent)>),
    /// Work that nobody typed has no reply: its record is followed.
    Record(RecordFollower),
}

impl TurnEngine {
    /// Follows a run from its beginning, or from behind an event that was seen.
    pub async fn follow(&self, tenant: TenantId, run: RunId, after: Option<EventId>) -> Result<RunFollower> {
        let following = RunFollower {
            inner: self.inner.clone(),
            tenant,
            run,
            after,
            source: Source::Unknown,
            pause: PAUSE,
            has_ended: false,
        };
        if self.inner.run_channels.find(tenant, run).is_none() {
            following.read().await?.ok_or(Error::NoRun)?;
        }
        Ok(following)
    }
}

impl RunFollower {
    /// The next event; none after the last. While nothing is heard of a turn that nobody here works on, it says now and
    /// then that it waits.
    pub async fn next(&mut self) -> Option<(EventId, RunEvent)> {
        if self.has_ended {
            return None;
        }
        let (id, event) = match self.fetch_next().await {
            Ok(Some(found)) => found,
            // They had seen everything.
            Ok(None) => {
                self.has_ended = true;
                return None;
            }
            Err(error) => {
                tracing::warn!(run = %self.run, %error, "following run failed");
                self.has_ended = true;
                let message = "The reply is temporarily unavailable. Try again later.".to_owned();
                let id = self.after.unwrap_or_default();
                return Some((
                    id,
                    RunEvent::Error { code: "unavailable".to_owned(), message, retryable: true },
                ));
            }
        };
        self.has_ended = event.is_last();
        self.after = Some(id);
        Some((id, event))
    }

    async fn fetch_next(&mut self) -> Result<Option<(EventId, RunEvent)>> {
        loop {
            match &mut self.source {
                Source::Unknown => {
                    if let Some(waiting) = self.select_source().await? {
                        return Ok(Some(waiting));
                    }
                }
                Source::Stored(events) => return Ok(events.pop_front()),
                Source::Record(record) => return record.next(&self.inner, self.tenant, self.run).await,
                Source::Live(run_channel) => {
                    let (channel, after) = (run_channel.clone(), self.after);
                    let look = || match channel.next_after(after) {
                        NextRunEvent::Wait => None,
                        found => Some(found),
                    };
                    match tokio::time::timeout(SILENCE, channel.wait_for_change(look)).await {
                        Ok(NextRunEvent::Event(id, event)) => return Ok(Some((id, event))),
                        Ok(NextRunEvent::Wait | NextRunEvent::Gone) => self.source = Source::Unknown,
                        Err(_) => return Ok(Some(self.waiting_event())),
                    }
                }
            }
        }
    }

    /// Where its events are by now. Some where one has to wait.
    async fn select_source(&mut self) -> Result<Option<(EventId, RunEvent)>> {
        let run_channel = self.inner.run_channels.find(self.tenant, self.run);
        // A channel that has ended behind what was seen has nothing more: then the store has.
        if let Some(channel) =
            run_channel.filter(|channel| channel.next_after(self.after) != NextRunEvent::Gone)
        {
            self.source = Source::Live(channel);
            return Ok(None);
        }
        let (run, reply) = self.read().await?.ok_or(Error::NoRun)?;
        if run.lane == RunLane::Background {
            self.source = Source::Record(RecordFollower::new(self.after));
            return Ok(None);
        }
        if is_ended_or_waiting(&run) {
            let events = match (&run.halt, reply) {
                (_, Some(reply)) => replay(&run, &reply, self.after),
                (Some(HaltReason::Joined(answering)), None) => {
                    VecDeque::from([(self.after.unwrap_or_default(), RunEvent::Joined { run: *answering })])
                }
                (Some(HaltReason::Held), None) => replay_unanswered(&run, self.after),
                (_, None) => replay_archived(self.after),
            };
            self.source = Source::Stored(events);
            return Ok(None);
        }
        tokio::time::sleep(self.pause).await;
        let is_long = self.pause >= LONGEST;
        self.pause = (self.pause * 2).min(LONGEST);
        Ok(is_long.then(|| self.waiting_event()))
    }

    /// It is said under the id of what was seen last: who comes back with it has missed nothing.
    fn waiting_event(&self) -> (EventId, RunEvent) {
        (self.after.unwrap_or_default(), RunEvent::Thinking { what: "waiting".to_owned() })
    }

    async fn read(&self) -> Result<Option<(Run, Option<Message>)>> {
        let id = self.run;
        let read = move |tx: &mut munshi_store::Tx<'_>| -> Result<_> {
            let Some(run) = runs::find(tx, id)? else { return Ok(None) };
            let reply = run.reply.map(|reply| messages::find(tx, reply)).transpose()?.flatten();
            Ok(Some((run, reply)))
        };
        self.inner.db.read(self.tenant, read).await
    }
}

/// Whether its last reply is all there is for now.
pub(crate) fn is_ended_or_waiting(run: &Run) -> bool {
    run.ended_at.is_some() || run.state == RunState::WaitingApproval
}

fn replay(run: &Run, reply: &Message, after: Option<EventId>) -> VecDeque<(EventId, RunEvent)> {
    let mut marks: ReplyMarks = serde_json::from_value(reply.marks.clone()).unwrap_or_default();
    if !marks.events.last().is_some_and(|mark| mark.event.is_last()) {
        marks.events.extend(build_final_marks(run, reply, &marks));
    }
    marks.replay(&reply.text, reply.generation, after)
}

/// A run whose message nobody answers but a person of the business: it has ended, and said nothing.
fn replay_unanswered(run: &Run, after: Option<EventId>) -> VecDeque<(EventId, RunEvent)> {
    let done = RunEvent::Done {
        run: run.id,
        message: None,
        decision_id: run.id,
        usage: TurnUsage::default(),
        state: run.state.as_str().to_owned(),
        degraded: false,
        asks: false,
        skipped: Vec::new(),
    };
    // Behind what somebody has seen of it while it was looked at: that is stored nowhere.
    let seen = after.filter(|after| after.generation == 1).map_or(0, |after| after.number);
    let end = ReplyMark { number: seen.saturating_add(1), offset: 0, event: done };
    let marks = ReplyMarks { events: vec![end], ..ReplyMarks::default() };
    marks.replay("", 1, after)
}

/// A run that has ended, whose reply is no longer in the table.
fn replay_archived(after: Option<EventId>) -> VecDeque<(EventId, RunEvent)> {
    let message = "The reply is archived. Ask the operator of this installation for it.".to_owned();
    let event = RunEvent::Error { code: "archived".to_owned(), message, retryable: false };
    VecDeque::from([(after.unwrap_or_default(), event)])
}

/// The end of a reply that was stored without one: the message was turned away as it came.
fn build_final_marks(run: &Run, reply: &Message, marks: &ReplyMarks) -> Vec<ReplyMark> {
    let offset = u32::try_from(reply.text.len()).unwrap_or(u32::MAX);
    let number = marks.events.last().map_or(1, |mark| mark.number) + 1;
    let done = RunEvent::Done {
        run: run.id,
        message: Some(reply.id),
        decision_id: run.id,
        usage: TurnUsage::default(),
        state: run.state.as_str().to_owned(),
        degraded: reply.standing == MessageStatus::Degraded,
        asks: !marks.asked.is_empty() || !marks.asks.is_empty() || marks.which.is_some(),
        skipped: Vec::new(),
    };
    vec![ReplyMark { number, offset, event: done }]
}
