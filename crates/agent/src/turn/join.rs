//! Messages that come while a turn thinks, and are answered with it. Each was stored with a run of its own; the turn ends those runs and
//! begins to think anew with all that was said.
//!
//! It looks where nothing is lost by thinking anew: once a model has answered, before its tools are called and before its reply is stored.
//! What it looks at first is this process's memory, so that a turn that nobody followed up costs no statement more.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use munshi_conversations::commit::{RunProgress, TurnCommit};
use munshi_conversations::inbound::LONGEST_TEXT;
use munshi_conversations::joining::{self, JoinCheck, JoiningTurn, QueuedMessage};
use munshi_conversations::marks::ReplyMark;
use munshi_conversations::messages::{self, Message, MessageStatus};
use munshi_conversations::runs::{self, Run, RunLane};
use munshi_conversations::{Result, RunSnapshot, RunState};
use munshi_identity::codes::extract_digits;
use munshi_lang::consent_withdrawal::{WithdrawalIntent, classify_consent_withdrawal};
use munshi_lang::yes_no::{YesNoAnswer, classify_reply};
use munshi_llm::gateway::CallRecord;
use munshi_pack::PackTurnContext;
use munshi_store::Tx;
use munshi_types::tier::Channel;
use munshi_types::{RunId, Timestamp};
use serde_json::json;

use super::Turn;
use super::media;

/// A turn thinks anew so often, and answers so many messages; what comes after that is answered by itself.
const RETHINKS: u32 = 3;
const MOST_MESSAGES: usize = 10;

/// What a turn has looked at already, and what it goes back to.
#[derive(Debug, Default)]
pub(super) struct JoinProgress {
    /// Runs that did not fit, or that none joins behind.
    seen: HashSet<RunId>,
    has_looked: bool,
    /// The reply as it was before the model's last answer; none where no model was asked last.
    before: Option<(String, Vec<ReplyMark>)>,
}

impl Turn {
    /// Notes what the reply goes back to where the answer that is asked for now is thrown away.
    pub(super) fn note_thinking(&mut self) {
        self.joining.before = Some((self.reply.raw().to_owned(), self.reply.marks().to_vec()));
    }

    /// From here on the model's last answer stands.
    pub(super) fn note_acting(&mut self) {
        self.joining.before = None;
    }

    /// Before a reply is stored. One that is sent waits a moment first: what people type in two messages comes as two.
    pub(super) async fn join_before_reply(&mut self) -> Result<bool> {
        if !self.may_join() {
            return Ok(false);
        }
        if self.setup.conversation.reply_to.is_some() {
            let begun = Instant::now();
            self.wait_for_more().await;
            self.timings.waited += begun.elapsed();
        }
        self.join_queued().await
    }

    /// Takes in the messages that wait right behind the turn, where they fit. True where some were: the turn is to be prepared anew.
    pub(super) async fn join_queued(&mut self) -> Result<bool> {
        if !self.may_join() || !self.has_unseen() {
            return Ok(false);
        }
        let fitting = self.find_fitting().await?;
        if fitting.is_empty() { Ok(false) } else { self.store_joined(fitting, Vec::new()).await }
    }

    /// What the turn knows of messages that may join it; none where none may.
    pub(super) fn build_join_check(&self) -> Option<JoinCheck> {
        self.may_join().then(|| JoinCheck {
            behind: self.setup.conversation.number,
            known_messages: self.setup.prepared.session.messages,
            seen: self.joining.seen.iter().copied().collect(),
        })
    }

    /// For a reply that was not stored, since messages came that this process did not know of. None where they have joined; else what
    /// is stored without another look.
    pub(super) async fn join_late(&mut self, response: &TurnCommit) -> Result<Option<TurnCommit>> {
        let fitting = self.find_fitting().await?;
        if fitting.is_empty() {
            return Ok(Some(TurnCommit { join_check: None, ..response.clone() }));
        }
        self.state.steps.clone_from(&response.steps);
        match self.store_joined(fitting, response.calls.clone()).await? {
            true => Ok(None),
            // Steps and calls are stored by now.
            false => {
                let (steps, calls) = (Vec::new(), Vec::new());
                Ok(Some(TurnCommit { join_check: None, steps, calls, ..response.clone() }))
            }
        }
    }

    async fn find_fitting(&mut self) -> Result<Vec<QueuedMessage>> {
        let (session, behind) = (self.setup.conversation.session, self.setup.conversation.number);
        // Before the rows are read: what comes in between is looked at next time.
        let pending = self.setup.engine.pending_turns.list(session);
        let list = move |tx: &mut Tx<'_>| joining::list_queued(tx, session, behind, MOST_MESSAGES);
        let queued = self.setup.engine.db.read(self.setup.tenant(), list).await?;
        self.joining.has_looked = true;
        self.joining.seen.extend(pending);
        self.joining.seen.extend(queued.iter().map(|queued| queued.run.id));
        Ok(self.select_fitting(queued))
    }

    /// Until the next message may no longer come soon, or has come.
    async fn wait_for_more(&mut self) {
        let window = self.setup.engine.settings.join_window;
        let since = self.setup.engine.clock.now().since(self.last_said_at());
        let deadline = tokio::time::sleep(window.saturating_sub(since));
        tokio::pin!(deadline);
        let engine = self.setup.engine.clone();
        let watch = engine.pending_turns.watch(self.setup.conversation.session);
        loop {
            let arrived = watch.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            if self.has_unseen() {
                return;
            }
            tokio::select! {
                () = self.setup.stop.cancelled() => return,
                () = &mut deadline => return,
                () = arrived => {}
            }
        }
    }

    /// Whether anything may wait that was not looked at yet.
    fn has_unseen(&self) -> bool {
        let pending = self.setup.engine.pending_turns.list(self.setup.conversation.session);
        let is_new = pending.iter().any(|run| !self.joining.seen.contains(run));
        is_new || (self.has_later() && !self.joining.has_looked)
    }

    /// Whether anything was said in the session behind the last message of the turn when it was read.
    fn has_later(&self) -> bool {
        let last = self.setup.prepared.own.last().unwrap_or(&self.setup.prepared.message);
        last.number < self.setup.prepared.session.messages
    }

    fn last_said_at(&self) -> Timestamp {
        self.setup.prepared.own.last().unwrap_or(&self.setup.prepared.message).said_at
    }

    /// Whether other messages may be answered with this one: somebody types it, no question waits that one of them might answer, and
    /// nothing stands between that can't be thought anew.
    fn may_join(&self) -> bool {
        let (setup, prepared, snapshot) = (&self.setup, &self.setup.prepared, &self.state.snapshot);
        let is_typed = is_plain_run(&setup.run)
            && is_typed_on(setup.conversation.channel)
            && prepared.client_context.is_none()
            && !prepared.is_program;
        let is_asked = !prepared.pending.is_empty() || !prepared.session.entities["asked"].is_null();
        let has_room = snapshot.rethought < RETHINKS && snapshot.joined.len() + 1 < MOST_MESSAGES;
        let can_rethink =
            self.joining.before.is_some() && !snapshot.is_read && self.state.transient.is_empty();
        !setup.engine.settings.join_window.is_zero()
            && is_typed
            && !is_asked
            && has_room
            && can_rethink
            && !setup.stop.is_cancelled()
    }

    /// Those that fit, up to the first that does not: nobody is answered before whoever wrote first.
    fn select_fitting(&self, queued: Vec<QueuedMessage>) -> Vec<QueuedMessage> {
        let (prepared, snapshot) = (&self.setup.prepared, &self.state.snapshot);
        let mut length = prepared.message.text.len();
        let mut files = prepared.message.attached.len();
        let mut last_said_at = self.last_said_at();
        let room = MOST_MESSAGES - 1 - snapshot.joined.len();
        let fits = |queued: &QueuedMessage| {
            length += queued.message.text.len() + 1;
            files += queued.message.attached.len();
            let is_in_time =
                snapshot.exchanges.is_empty() || self.is_soon(last_said_at, queued.message.said_at);
            last_said_at = queued.message.said_at;
            is_in_time
                && length <= LONGEST_TEXT
                && files <= media::MOST
                && self.is_alike(queued)
                && !self.stands_alone(&queued.message.text)
        };
        queued.into_iter().take_while(fits).take(room).collect()
    }

    fn is_soon(&self, before: Timestamp, then: Timestamp) -> bool {
        then.since(before) <= self.setup.engine.settings.join_window
    }

    /// Whether it comes from the same person by the same way, to be answered in the same place.
    fn is_alike(&self, QueuedMessage { run, message }: &QueuedMessage) -> bool {
        let own = &self.setup.conversation;
        let is_from_there = run.conversation.as_ref().is_some_and(|theirs| {
            theirs.person == own.person
                && theirs.binding == own.binding
                && theirs.channel == own.channel
                && theirs.reply_to == own.reply_to
        });
        is_from_there
            && is_plain_run(run)
            && message.standing == MessageStatus::Whole
            && message.marks["brought"] != true
            && message.marks["program"] != true
            && ["vouched", "member"]
                .iter()
                .all(|of| message.marks[*of] == self.setup.prepared.message.marks[*of])
    }

    /// Whether a message is understood without a model where it comes by itself: an answer, a number, a code, a withdrawal, what a pack
    /// reads. Among other words it would be none.
    fn stands_alone(&self, text: &str) -> bool {
        let is_number = text.chars().any(char::is_numeric) && !text.chars().any(char::is_alphabetic);
        let known = &self.setup.prepared.pack_context;
        let context = PackTurnContext { message: text.to_owned(), ..known.clone() };
        is_number
            || !matches!(classify_reply(text), YesNoAnswer::Other)
            || !matches!(classify_consent_withdrawal(text), WithdrawalIntent::None)
            || extract_digits(text).is_some()
            || self.setup.engine.packs.readers_of(&known.packs).any(|reader| reader.read(&context).is_some())
    }

    /// Ends their runs and stores that this one answers them, with calls that were not stored yet. False where one of them no longer waited.
    async fn store_joined(
        &mut self,
        joining: Vec<QueuedMessage>,
        mut calls: Vec<CallRecord>,
    ) -> Result<bool> {
        self.setup.budget.wait_for_settlement().await;
        self.sync();
        let ids: Vec<_> = joining.iter().map(|queued| queued.message.id).collect();
        self.step(RunState::Thinking, json!({ "joined": ids }), Duration::ZERO);
        // The answer that was just given is void: it knew nothing of them.
        (self.state.snapshot.said, self.state.snapshot.marks) =
            self.joining.before.clone().unwrap_or_default();
        let without = self.state.snapshot.clone();
        let with = build_joined(without.clone(), &joining, self.setup.lease.epoch);
        let steps = std::mem::take(&mut self.state.steps);
        calls.extend(self.setup.call_log.take());
        let (engine, lease, person) = (self.setup.engine.clone(), self.setup.lease, self.setup.run.person());
        let (now, runs): (_, Vec<RunId>) =
            (engine.clock.now(), joining.iter().map(|queued| queued.run.id).collect());
        let (services, stored) = (engine.ingest_services.clone(), with.clone());
        let unit = move |tx: &mut Tx<'_>| {
            let (state, snapshot) = (RunState::Preparing, &stored);
            let progress = RunProgress { lease, person, state, snapshot, steps: &steps, calls: &calls };
            joining::join(tx, &services, &JoiningTurn { progress, without: &without, joining: &joining, now })
        };
        let has_joined = engine.db.write(lease.tenant, unit).await?;
        if has_joined {
            self.state.snapshot = with;
            // They have ended, and are not to be begun.
            runs.iter().for_each(|run| drop(engine.pending_turns.take(*run)));
        }
        Ok(has_joined)
    }
}

/// With the messages, and with their words as the person's own.
fn build_joined(snapshot: RunSnapshot, joining: &[QueuedMessage], epoch: i64) -> RunSnapshot {
    let mut joined = snapshot;
    joined.rethought += 1;
    joined.joined.extend(joining.iter().map(|queued| queued.message.id));
    joined.taint.own_words.extend(joining.iter().map(|queued| queued.message.text.clone()));
    joined.note_progress(epoch);
    joined
}

/// Made by somebody's message, and by no program.
fn is_plain_run(run: &Run) -> bool {
    run.kind == runs::MESSAGE && run.lane == RunLane::Chat && run.key_use.is_none()
}

/// Where people type, and one thought may come as several messages.
const fn is_typed_on(channel: Channel) -> bool {
    matches!(
        channel,
        Channel::Web | Channel::Whatsapp | Channel::Telegram | Channel::Slack | Channel::Teams | Channel::Sms
    )
}

/// What the person wrote that a run answers: its own message and those that joined it.
pub(super) struct OwnMessages {
    pub(super) each: Vec<Message>,
    /// One with the words and files of all. It stands where the first does; its language is the last one's.
    pub(super) combined: Message,
}

impl OwnMessages {
    pub(super) fn load(tx: &mut Tx<'_>, run: &Run, first: Message) -> munshi_store::Result<Self> {
        let (mut each, mut combined) = (vec![first.clone()], first);
        for id in &run.snapshot.joined {
            let Some(more) = messages::find(tx, *id)? else { continue };
            combined.text = join_texts(&combined.text, &more.text);
            combined.attached.extend(more.attached.iter().cloned());
            combined.tokens = combined.tokens.saturating_add(more.tokens).saturating_add(1);
            combined.language = more.language.clone().or(combined.language);
            each.push(more);
        }
        Ok(Self { each, combined })
    }
}

/// One below the other.
fn join_texts(before: &str, then: &str) -> String {
    match (before.trim().is_empty(), then.trim().is_empty()) {
        (true, _) => then.to_owned(),
        (_, true) => before.to_owned(),
        (false, false) => format!("{before}\n{then}"),
    }
}
