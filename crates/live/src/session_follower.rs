//! One session's changes, in order.

use std::collections::VecDeque;
use std::time::Duration;

use munshi_conversations::messages::Message;
use munshi_conversations::outbox::{self, OutboxView};
use munshi_conversations::presence;
use munshi_conversations::session_changes::{self, OpenRun, SessionPulse};
use munshi_safety::approvals;
use munshi_store::Tx;
use munshi_types::{ApprovalId, Id, PersonId, SessionId, TenantId, Timestamp};

use crate::cursor::MessageCursor;
use crate::hub::LiveHub;
use crate::session_state::SessionState;
use crate::watchers::ChangeWatch;
use crate::{RetryBackoff, SWEEP};

/// So many messages are read at a time.
const PAGE: u32 = 50;
/// Among so many messages, the newest, it is looked for what has not left.
const UNSENT_AMONG: i64 = 100;
/// The shortest wait for a sign to lapse.
const SHORTEST_WAIT: Duration = Duration::from_millis(100);

/// Reads a session after each change of it. It is read while whoever follows asks for the next change: for one that does not
/// read, nothing is kept but a page.
pub struct SessionFollower {
    hub: LiveHub,
    watch: ChangeWatch,
    tenant: TenantId,
    session: SessionId,
    /// Behind what is in the queue; none until the first look.
    cursor: Option<MessageCursor>,
    queue: VecDeque<SessionChange>,
    /// The state that was told last, or is in the queue.
    told: Option<SessionState>,
    /// When a sign lapses that the state counts.
    lapses_at: Option<Timestamp>,
    /// There is something to read. It stays until it was read, so that a wait that is given up loses nothing.
    is_dirty: bool,
    has_ended: bool,
    retries: RetryBackoff,
    /// As it was read last.
    seen: Option<SessionPulse>,
}

/// What has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionChange {
    /// Something was said. No message comes before one with a lower number, and none is left out.
    Message {
        cursor: MessageCursor,
        message: Box<Message>,
        /// How far it has come, where a colleague wrote it and it leaves on a channel.
        delivery: Option<Box<OutboxView>>,
    },
    /// How it stands; comes once at the beginning, behind what was said until then.
    State(SessionState),
    /// The last: it is part of another session now, or has other numbers itself. What was seen has to be read anew there.
    Moved { to: SessionId },
    /// The last: there is no such session.
    Gone,
}

/// What one look finds.
struct SessionReading {
    pulse: SessionPulse,
    messages: Vec<(Message, Option<OutboxView>)>,
    unsent: Vec<OutboxView>,
    runs: Vec<OpenRun>,
    approvals: Vec<ApprovalId>,
    typing: Vec<(PersonId, Timestamp)>,
}

impl SessionFollower {
    pub(crate) fn new(
        hub: LiveHub,
        (tenant, session): (TenantId, SessionId),
        after: Option<MessageCursor>,
    ) -> Self {
        // Before the first look: what changes behind it wakes.
        let watch = hub.watch_session(tenant, session);
        Self {
            hub,
            watch,
            tenant,
            session,
            cursor: after,
            queue: VecDeque::new(),
            told: None,
            lapses_at: None,
            is_dirty: true,
            has_ended: false,
            retries: RetryBackoff::default(),
            seen: None,
        }
    }

    /// The next change, whenever it comes; none after the last. While the database can't be reached, it goes on trying. A
    /// call that is given up loses nothing.
    pub async fn next(&mut self) -> Option<SessionChange> {
        loop {
            if let Some(change) = self.queue.pop_front() {
                self.has_ended = matches!(change, SessionChange::Moved { .. } | SessionChange::Gone);
                return Some(change);
            }
            if self.has_ended {
                return None;
            }
            if !self.is_dirty {
                self.wait().await;
                self.is_dirty = true;
            }
            match self.read().await {
                Ok(reading) => {
                    self.retries.succeed(self.hub.outage());
                    self.enqueue_changes(reading);
                }
                Err(error) => {
                    let failed = self.retries.fail(self.hub.outage());
                    if failed.is_news {
                        tracing::warn!(session = %self.session, %error, "following sessions failed; trying again");
                    }
                    tokio::time::sleep(failed.pause).await;
                }
            }
        }
    }

    async fn wait(&mut self) {
        let lapse = self.lapses_at.map(|at| at.since(self.hub.clock().now()).max(SHORTEST_WAIT));
        let longest = lapse.map_or(SWEEP, |lapse| lapse.min(SWEEP));
        // Both ends mean the same: look.
        let seen = self.seen;
        let changed = self.watch.changed(|found| seen.is_some_and(|pulse| pulse.has_read(found)));
        let _woken = tokio::time::timeout(longest, changed).await;
    }

    async fn read(&self) -> munshi_store::Result<Option<SessionReading>> {
        let (session, cursor, now) = (self.session, self.cursor, self.hub.clock().now());
        // Nobody writes where nobody has it in hand.
        let may_be_unsent = self.told.as_ref().is_none_or(|told| !told.unsent.is_empty());
        let read = move |tx: &mut Tx<'_>| {
            let Some(pulse) = session_changes::find_pulse(tx, session)? else { return Ok(None) };
            let number = cursor.map_or(pulse.messages, MessageCursor::number);
            let unsent = match may_be_unsent || pulse.held_by.is_some() {
                true => outbox::list_unsent_of_session(tx, session, pulse.messages - UNSENT_AMONG)?,
                false => Vec::new(),
            };
            Ok(Some(SessionReading {
                pulse,
                messages: list_messages(tx, session, number)?,
                unsent,
                runs: session_changes::list_open_runs(tx, session)?,
                approvals: approvals::list_pending_ids(tx, session.as_uuid())?,
                typing: presence::list_typing(tx, session, now)?,
            }))
        };
        self.hub.db().read(self.tenant, read).await
    }

    fn enqueue_changes(&mut self, reading: Option<SessionReading>) {
        self.is_dirty = false;
        let Some(reading) = reading else {
            return self.queue.push_back(SessionChange::Gone);
        };
        let pulse = reading.pulse;
        self.seen = Some(pulse);
        if let Some(to) = pulse.merged_into {
            return self.queue.push_back(SessionChange::Moved { to });
        }
        if self.cursor.is_some_and(|cursor| !cursor.is_of(pulse.renumbered, pulse.messages)) {
            return self.queue.push_back(SessionChange::Moved { to: self.session });
        }
        let before = self.cursor.map_or(pulse.messages, MessageCursor::number);
        let last = reading.messages.last().map_or(before, |(message, _)| message.number);
        self.cursor = Some(MessageCursor::new(pulse.renumbered, last));
        self.is_dirty = reading.messages.len() >= PAGE as usize;
        for (message, delivery) in reading.messages {
            let cursor = MessageCursor::new(pulse.renumbered, message.number);
            let (message, delivery) = (Box::new(message), delivery.map(Box::new));
            self.queue.push_back(SessionChange::Message { cursor, message, delivery });
        }
        if self.is_dirty {
            return;
        }
        self.lapses_at = reading.typing.iter().map(|(_, until)| *until).min();
        let state = SessionState {
            runs: reading.runs.into_iter().map(Into::into).collect(),
            approvals: reading.approvals,
            held_by: pulse.held_by,
            draft: pulse.draft_after,
            typing: reading.typing.into_iter().map(|(person, _)| person).collect(),
            whispers: pulse.whispers,
            unsent: reading.unsent.into_iter().map(Into::into).collect(),
        };
        if self.told.as_ref() != Some(&state) {
            self.told = Some(state.clone());
            self.queue.push_back(SessionChange::State(state));
        }
    }
}

/// What was said behind a number, with how far it has come.
fn list_messages(
    tx: &mut Tx<'_>,
    session: SessionId,
    number: i64,
) -> munshi_store::Result<Vec<(Message, Option<OutboxView>)>> {
    let messages = session_changes::list_messages_after(tx, session, number, PAGE)?;
    let mut found = Vec::with_capacity(messages.len());
    for message in messages {
        let delivery = match message.speaker.colleague() {
            Some(_) => outbox::find(tx, message.id)?,
            None => None,
        };
        found.push((message, delivery));
    }
    Ok(found)
}
