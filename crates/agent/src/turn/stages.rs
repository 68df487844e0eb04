//! The order of the stages: what needs no model comes first, then acting and thinking take turns until there is a reply.

use std::time::Duration;

use munshi_conversations::messages::HELD;
use munshi_conversations::snapshot::{ExchangeCall, ExchangeCallOutcome, build_call_message, sum};
use munshi_conversations::{HaltReason, Result, runs};
use munshi_pack::PackReading;
use munshi_safety::budget::RunUse;
use munshi_safety::pipeline::TaintSource;

use super::act::ActStageOutcome;
use super::notes::{KnownActs, QuestionNotes, StageNotes};
use super::think::ThinkStageOutcome;
use super::{StagesOutcome, Turn, TurnOutcome};

impl Turn {
    /// Walks the stages until there is something to store, or somebody else goes on.
    pub(crate) async fn run_stages(&mut self, notes: &mut StageNotes) -> Result<StagesOutcome> {
        self.timings.mark_prepared();
        if let Some(halt) = self.state.snapshot.halt.clone() {
            return Ok(TurnOutcome::Halted(halt).into());
        }
        if let Some(end) = self.say_decided() {
            return Ok(end.into());
        }
        // What joined others was understood by nobody without a model, and neither was what it joined.
        let is_new = self.state.snapshot.exchanges.is_empty() && self.state.snapshot.joined.is_empty();
        if is_new && let Some(end) = self.understand_message(notes).await? {
            return Ok(end);
        }
        loop {
            if let Some(halt) = self.check_limits() {
                return Ok(TurnOutcome::Halted(halt).into());
            }
            match self.act(notes).await? {
                ActStageOutcome::On if self.state.has_only_expired() => {
                    return Ok(TurnOutcome::Replied.into());
                }
                ActStageOutcome::On if self.state.is_detached() => {
                    self.say_working();
                    return Ok(TurnOutcome::Replied.into());
                }
                ActStageOutcome::On => {}
                ActStageOutcome::Asked => return Ok(TurnOutcome::Replied.into()),
                ActStageOutcome::Waiting(pause) => return Ok(TurnOutcome::Waiting(pause).into()),
                ActStageOutcome::Handed => return Ok(TurnOutcome::Handed.into()),
                ActStageOutcome::HandedOver => return Ok(StagesOutcome::Moved),
                ActStageOutcome::Halted(halt) => return Ok(TurnOutcome::Halted(halt).into()),
            }
            if let Some(halt) = self.check_limits() {
                return Ok(TurnOutcome::Halted(halt).into());
            }
            if self.state.snapshot.is_read && self.setup.engine.local_model().is_none() {
                self.say_done(&notes.acts);
                return Ok(TurnOutcome::Replied.into());
            }
            // A model is to be told what nobody here has heard: only now it is worth asking again.
            let transient = &self.state.transient;
            if self.state.snapshot.reopen_not_kept(|act| transient.has_heard(act)) {
                continue;
            }
            match self.think(&mut notes.model).await? {
                ThinkStageOutcome::Replied => {
                    let has_joined = self.join_before_reply().await?;
                    return Ok(if has_joined { StagesOutcome::Joined } else { TurnOutcome::Replied.into() });
                }
                ThinkStageOutcome::Halted(halt) => return Ok(TurnOutcome::Halted(halt).into()),
                ThinkStageOutcome::ToolsRequested(message) => {
                    if self.join_queued().await? {
                        return Ok(StagesOutcome::Joined);
                    }
                    self.note_acting();
                    if let Some(halt) = self.queue_tool_calls(message) {
                        return Ok(TurnOutcome::Halted(halt).into());
                    }
                }
            }
        }
    }

    /// What the message is to questions of ours, and what needs no model to be understood. None where a model is asked.
    async fn understand_message(&mut self, notes: &mut StageNotes) -> Result<Option<StagesOutcome>> {
        if let Some(end) = self.accept_login_code(&mut notes.questions).await? {
            return Ok(Some(end.into()));
        }
        if let Some(end) = self.withdraw_consents(&mut notes.questions).await? {
            return Ok(Some(end.into()));
        }
        // Nothing was left to end: it is for whoever has the conversation in hand, as what else comes meanwhile.
        if self.setup.prepared.message.marks[HELD] == true {
            return Ok(Some(TurnOutcome::Halted(HaltReason::Held).into()));
        }
        if let Some(end) = self.consent(notes).await? {
            return Ok(Some(end.into()));
        }
        // What somebody agreed to is done by those who had asked.
        if self.has_moved() {
            return Ok(Some(StagesOutcome::Moved));
        }
        Ok(self.begin_without_model(&mut notes.questions).map(StagesOutcome::from))
    }

    fn has_moved(&self) -> bool {
        self.state.snapshot.place.as_ref().is_some_and(|place| *place != self.setup.place())
    }

    /// What needs no model to be understood: a pick among choices, or what a pack reads by itself.
    fn begin_without_model(&mut self, questions: &mut QuestionNotes) -> Option<TurnOutcome> {
        let is_fresh =
            |turn: &Self| turn.state.snapshot.exchanges.is_empty() && turn.state.snapshot.model_calls == 0;
        if !is_fresh(self) {
            return None;
        }
        let end = self.handle_pick(questions);
        if end.is_none() && is_fresh(self) { self.try_pack_readers() } else { end }
    }

    /// Every transition asks: is it still wanted, and is there anything left to go on with?
    fn check_limits(&mut self) -> Option<HaltReason> {
        if self.setup.stop.is_cancelled() {
            return Some(HaltReason::Cancelled);
        }
        let money = self.setup.budget.used();
        let used = self.state.snapshot.used.with_iteration();
        self.state.snapshot.used = RunUse { tokens: money.tokens, money: money.money, ..used }
            .with_elapsed(self.timings.work_time());
        let used = sum(self.state.snapshot.used, self.state.snapshot.before);
        self.setup.limit.check(&used).err().map(|spent| HaltReason::RunSpent(spent.to_string()))
    }

    /// How long the turn may still take.
    pub(super) fn time_left(&self) -> Duration {
        Duration::from_secs(self.setup.limit.seconds).saturating_sub(self.timings.work_time())
    }

    /// A pack may know what the message is without any model.
    fn try_pack_readers(&mut self) -> Option<TurnOutcome> {
        let pack_context = self.setup.prepared.pack_context.clone();
        let packs = self.setup.engine.packs.clone();
        let reading = packs.readers_of(&pack_context.packs).find_map(|reader| reader.read(&pack_context))?;
        self.state.snapshot.is_read = true;
        match reading {
            PackReading::Say { phrase, slots } => {
                self.say_phrase(&phrase, &slots);
                Some(TurnOutcome::Replied)
            }
            PackReading::Call { tool, arguments } => {
                self.state.snapshot.taint.sources.insert(TaintSource::Document);
                self.state.snapshot.taint.own_words.clear();
                self.queue_tool_calls(build_call_message(&tool, arguments)).map(TurnOutcome::Halted)
            }
        }
    }

    /// What a pack had done, where no model of this machine can tell of it.
    fn say_done(&mut self, acts: &KnownActs) {
        if self.setup.run.kind == runs::LATE {
            return self.report_late_result();
        }
        let is_ok =
            |called: &ExchangeCall| matches!(called.outcome, ExchangeCallOutcome::Ended { ok: true, .. });
        if self.state.snapshot.iter_calls().all(is_ok) {
            return self.say_phrase("done", &[]);
        }
        self.excuse(&HaltReason::Broken(String::new()), acts);
    }
}
