//! What a turn waits for when it pauses, and what the person hears of it: a question to somebody, a limit in the way of
//! what was agreed to, a question whose time is over.

use std::sync::Arc;

use jiff::Unit;
use munshi_conversations::commit::{TurnCommit, TurnStatus};
use munshi_conversations::runs::RunLease;
use munshi_conversations::sessions::SessionUpdate;
use munshi_conversations::{HaltReason, Result};
use munshi_lang::PlaceholderValue;
use munshi_safety::approvals::{self, Approval};
use munshi_store::Tx;
use munshi_types::{ActId, MessageId, Timestamp};

use super::notes::StageNotes;
use super::setup::TurnSetup;
use super::turn_outcome::TurnPause;
use super::{Turn, TurnOutcome};
use crate::phrases::log_unrendered;

impl Turn {
    /// What the person has to hear about a pause. What they have heard before is not said again.
    pub(crate) async fn report_pause(&mut self, pause: &TurnPause, notes: &StageNotes) -> Result<()> {
        self.report_done();
        for delayed in &pause.delayed {
            if self.state.snapshot.told_delayed.contains(&delayed.act) {
                continue;
            }
            let Some(approval) = self.setup.find_approval(delayed.act).await? else { continue };
            // Who is promised a time has it before the yes runs out.
            let until = delayed.until.filter(|until| *until < approval.expires_at);
            let waits = match delayed.is_away {
                true => self.setup.phrase("working-on-it", &[]),
                false => self.setup.render_wait_time(until),
            };
            let words = format!("{}\n{waits}", approval.words);
            self.reply.say(&words);
            self.state.snapshot.told_delayed.push(delayed.act);
        }
        self.ask_to_log_in().await?;
        if !pause.asked.is_empty() {
            self.ask_approvals(&pause.asked, notes);
        }
        Ok(())
    }

    /// Whether there is nothing new to say: a limit is still in the way.
    pub(crate) fn is_silent(&self, end: &TurnOutcome) -> bool {
        matches!(end, TurnOutcome::Waiting(_)) && self.reply.text().trim().is_empty()
    }

    /// Pauses again without a word.
    pub(crate) async fn pause_silently(mut self) -> Result<Option<RunLease>> {
        self.sync();
        // To look whether a limit has freed is no step of the run's work.
        self.state.snapshot.used.iterations = self.setup.run.snapshot.used.iterations;
        let paused = Box::new(self.state.snapshot.for_pause(self.setup.lease.epoch));
        self.store_without_reply(TurnStatus::Waiting(paused)).await
    }

    /// Ends without a word and without a bill: a person of the business has the conversation in hand.
    pub(crate) async fn end_unanswered(mut self) -> Result<Option<RunLease>> {
        self.sync();
        self.store_without_reply(TurnStatus::Halted(HaltReason::Held)).await
    }

    async fn store_without_reply(mut self, ending: TurnStatus) -> Result<Option<RunLease>> {
        let drawn = self.setup.budget.drawn().amount();
        let spent = if matches!(ending, TurnStatus::Halted(_)) { drawn.without_billing() } else { drawn };
        let response = TurnCommit {
            lease: self.setup.lease,
            session: self.setup.conversation.session,
            person: self.setup.conversation.person,
            binding: self.setup.conversation.binding,
            channel: self.setup.conversation.channel,
            ending,
            is_read: self.state.snapshot.is_read,
            reply: None,
            deliver: None,
            settle: self.setup.run.reservation.map(|reservation| (reservation, spent)),
            learned: SessionUpdate::default(),
            steps: std::mem::take(&mut self.state.steps),
            calls: self.setup.call_log.take(),
            violations: Vec::new(),
            join_check: None,
            whispers: Vec::new(),
            finished: None,
            client_resume: None,
            decision: None,
            questions: Vec::new(),
            unfinished: Vec::new(),
            now: self.setup.engine.clock.now(),
        };
        let none: MessageId = self.setup.engine.ids.next();
        let next = self.setup.store(&Arc::new(response), none).await?;
        // Whoever follows it finds what was said before, or that it has ended, in the store.
        self.setup.engine.run_channels.forget(self.setup.lease);
        Ok(next)
    }

    /// Says what is not done because its time was over, once, in whatever the turn says at its end.
    pub(crate) async fn report_expired(&mut self) -> Result<()> {
        for act in self.state.list_unreported_expiries() {
            let Some(approval) = self.setup.find_approval(act).await? else { continue };
            let was_agreed = approval.answered_via.is_some();
            let phrase =
                self.setup.phrase(if was_agreed { "approval-unused" } else { "approval-expired" }, &[]);
            self.reply.say(&format!("{phrase}\n{}", approval.words));
            self.state.snapshot.told_expired.push(act);
        }
        Ok(())
    }
}

impl TurnSetup {
    fn render_wait_time(&self, until: Option<Timestamp>) -> String {
        let local = until.map(|until| until.to_jiff().to_zoned(self.binding.zone.to_jiff()));
        // To the minute, and never too early.
        let minute = local.and_then(|local| {
            let full = local.round(Unit::Minute).ok()?;
            if full < local { full.checked_add(jiff::Span::new().minutes(1)).ok() } else { Some(full) }
        });
        let Some(minute) = minute else { return self.phrase("waiting-limit-open", &[]) };
        let fills =
            [("date", PlaceholderValue::Day(minute.date())), ("time", PlaceholderValue::Time(minute.time()))];
        let said = self.engine.phrasebook.render("waiting-limit", self.prepared.reply_language.voice, &fills);
        log_unrendered(said, "waiting-limit").unwrap_or_else(|| self.phrase("waiting-limit-open", &[]))
    }

    async fn find_approval(&self, act: ActId) -> Result<Option<Approval>> {
        let read = move |tx: &mut Tx<'_>| -> Result<_> { Ok(approvals::find_by_act(tx, act)?) };
        self.engine.db.read(self.tenant(), read).await
    }
}
