//! The end of a turn, or its pause: everything is stored in one transaction, and only then said to be done.

use std::sync::Arc;
use std::time::{Duration, Instant};

use munshi_conversations::client_context::{ClientCallRequest, call_id};
use munshi_conversations::commit::{ReplyRecord, TurnCommit, TurnStatus, ViolationRecord};
use munshi_conversations::decisions::{TierTokens, TurnDecision};
use munshi_conversations::marks::{ReplyMarks, ShownApproval};
use munshi_conversations::messages::MessageStatus;
use munshi_conversations::runs::{self, RunLease};
use munshi_conversations::sessions::SessionUpdate;
use munshi_conversations::snapshot::ExchangeCallOutcome;
use munshi_conversations::{Error, HaltReason, Result, RunEvent, RunState, TurnUsage};
use munshi_pack::{FinishedCall, FinishedTurn};
use munshi_store::Tx;
use munshi_tiers::prompt::{PromptSection, UtteranceText};
use munshi_tools::Tool;
use munshi_types::tier::TierKind;
use munshi_types::{MessageId, RunId, Timestamp, WhisperId};
use serde_json::{Value, json};

use super::notes::{KnownActs, LastModelCall, StageNotes};
use super::setup::TurnSetup;
use super::turn_outcome::TurnPause;
use super::{Turn, TurnOutcome};
use crate::deferred_results;
use crate::engine::TurnEngine;
use crate::suggest::{ExpectedAnswer, SuggestionContext, suggest};
use crate::turn_metrics;

/// How often storing is tried while the database can't be reached, and the first pause between; it doubles.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(100);

/// How a turn ends, as it is stored and told.
struct TurnEnding {
    outcome: TurnOutcome,
    /// What was found wrong beside what the rules found.
    objections: Vec<String>,
    /// What is said is an excuse, which nobody is billed for.
    is_excuse: bool,
    /// The reply's.
    message: MessageId,
    suggestions: Vec<String>,
    /// When storing began.
    begun: Instant,
}

/// What came of storing the end.
pub(crate) enum RespondOutcome {
    /// With the next run of the session, which is this process's to go on with.
    Stored(Option<RunLease>),
    /// Messages have joined instead, and the turn begins to think anew.
    Joined(Box<Turn>),
}

impl Turn {
    /// Stores the end and tells it. Gives the next run of the session, which is this process's to go on with.
    pub(crate) async fn respond(mut self, end: TurnOutcome, mut notes: StageNotes) -> Result<RespondOutcome> {
        self.enter(RunState::Responding);
        if matches!(end, TurnOutcome::Halted(HaltReason::Held)) {
            return self.end_unanswered().await.map(RespondOutcome::Stored);
        }
        self.keep_callback_address().await?;
        let (outcome, objections) = self.write_ending(end, &mut notes).await?;
        self.setup.budget.wait_for_settlement().await;
        if self.is_silent(&outcome) {
            return self.pause_silently().await.map(RespondOutcome::Stored);
        }
        self.record_first_word();
        let begun = Instant::now();
        let message: MessageId = self.setup.engine.ids.next();
        let suggestions = self.suggestions(&outcome, &notes);
        let is_excuse = self.is_excuse(&outcome, &notes.acts);
        let ending = TurnEnding { outcome, objections, is_excuse, message, suggestions, begun };
        let last = self.last_events(&ending, &notes);
        let response = Arc::new(self.build_commit(&ending, notes, &last));
        let decision = response.decision.clone();
        let next = match self.setup.store(&response, message).await {
            Err(Error::Followed(_)) => match self.join_late(&response).await {
                Ok(Some(response)) => self.setup.store(&Arc::new(response), message).await?,
                Ok(None) => return Ok(RespondOutcome::Joined(Box::new(self))),
                // An earlier try had stored it after all, though nobody heard so.
                Err(Error::LostRun(run)) => {
                    self.setup.check_already_stored(run, message, response.now).await?
                }
                Err(error) => return Err(error),
            },
            stored => stored?,
        };
        if let Some(decision) = decision.filter(|_| self.setup.run.kind == runs::MESSAGE) {
            turn_metrics::record_turn(
                self.setup.conversation.channel,
                &decision,
                &self.timings.read(begun.elapsed()),
            );
        }
        for event in last {
            self.reply.record_event(event);
        }
        self.reply.run_channel().end(self.setup.engine.clock.now());
        // It may go on elsewhere: what is said of it then is not in this channel.
        if matches!(ending.outcome, TurnOutcome::Waiting(_)) {
            self.setup.engine.run_channels.forget(self.setup.lease);
        }
        Ok(RespondOutcome::Stored(next))
    }

    /// What is left to say, now that it is known how it ends. A check that fails ends it otherwise.
    async fn write_ending(
        &mut self,
        end: TurnOutcome,
        notes: &mut StageNotes,
    ) -> Result<(TurnOutcome, Vec<String>)> {
        let mut objections = Vec::new();
        let outcome = match end {
            TurnOutcome::Replied => {
                objections = self.check(&notes.model).await?;
                self.ask_outcomes(&mut notes.questions).await?;
                self.report_expired().await?;
                if !self.reply.text().trim().is_empty() {
                    self.repeat_choice(notes);
                    self.repeat_approvals(notes);
                }
                match self.reply.text().trim().is_empty() {
                    true => {
                        let halt = HaltReason::NoModel("the reply is empty".to_owned());
                        self.halt_with_excuse(halt, &notes.acts)
                    }
                    false => TurnOutcome::Replied,
                }
            }
            TurnOutcome::Waiting(pause) => {
                self.reply.finish();
                self.report_expired().await?;
                self.report_pause(&pause, notes).await?;
                TurnOutcome::Waiting(pause)
            }
            TurnOutcome::Halted(halt) => {
                self.report_expired().await?;
                self.halt_with_excuse(halt, &notes.acts)
            }
            TurnOutcome::Handed => {
                self.reply.finish();
                TurnOutcome::Handed
            }
        };
        Ok((outcome, objections))
    }

    fn halt_with_excuse(&mut self, halt: HaltReason, acts: &KnownActs) -> TurnOutcome {
        self.excuse(&halt, acts);
        TurnOutcome::Halted(halt)
    }

    /// What the person may want to say next.
    fn suggestions(&self, end: &TurnOutcome, notes: &StageNotes) -> Vec<String> {
        // Nobody has been answered yet.
        if matches!(end, TurnOutcome::Handed) {
            return Vec::new();
        }
        let may_say_yes = |pause: &TurnPause| {
            !pause.asked.is_empty() && pause.asked.iter().all(|approval| self.setup.can_approve(approval))
        };
        let waits = match (end, self.state.entities.pending_question()) {
            (TurnOutcome::Waiting(pause), _) if may_say_yes(pause) => ExpectedAnswer::YesOrNo,
            (TurnOutcome::Replied, Some(asked)) => ExpectedAnswer::Choice(asked),
            (TurnOutcome::Replied, None) if notes.questions.ends_consents || self.asks_to_go_on() => {
                ExpectedAnswer::YesOrNo
            }
            _ => ExpectedAnswer::Nothing,
        };
        let called: Vec<Tool> =
            self.state.snapshot.iter_calls().filter_map(|called| self.setup.tool(&called.tool)).collect();
        let offered: Vec<Tool> =
            self.setup.tools().iter().filter_map(|tool| self.setup.tool(tool.as_str())).collect();
        let hints = SuggestionContext {
            voice: self.setup.prepared.reply_language.voice,
            message: &self.setup.prepared.message.text,
            waits,
            called: called.iter().map(|tool| &tool.known.spec).collect(),
            offered: offered.iter().map(|tool| &tool.known.spec).collect(),
            proposed: &notes.model.proposed,
            taint: &self.state.snapshot.whole_taint(),
        };
        suggest(&hints, &self.setup.engine.phrasebook).unwrap_or_else(|error| {
            tracing::error!(%error, "rendering suggestions failed");
            Vec::new()
        })
    }

    fn build_commit(&mut self, ending: &TurnEnding, notes: StageNotes, last: &[RunEvent]) -> TurnCommit {
        self.sync();
        let (end, is_excuse) = (&ending.outcome, ending.is_excuse);
        let join_check = matches!(end, TurnOutcome::Replied).then(|| self.build_join_check()).flatten();
        let amount = self.setup.budget.drawn().amount();
        let spent = if is_excuse { amount.without_billing() } else { amount };
        let mut events = self.reply.marks().to_vec();
        events.extend(self.reply.plan_marks(last.to_vec()));
        let asked = match end {
            TurnOutcome::Waiting(pause) => pause.asked.iter().map(ShownApproval::from).collect(),
            TurnOutcome::Replied | TurnOutcome::Handed | TurnOutcome::Halted(_) => Vec::new(),
        };
        let StageNotes { mut model, questions, acts, .. } = notes;
        let stays = self.state.snapshot.is_read;
        let (prepared, own) = (&self.setup.prepared, &self.state.snapshot.taint.sources);
        let (session, history, text) = (&prepared.session, &prepared.history, self.reply.text());
        let tainted = self.setup.window.compute_reply_bits(own, session, history, text);
        let marks = ReplyMarks {
            events,
            state: std::mem::take(&mut model.state),
            asked,
            asks: questions.asks,
            which: questions.which,
            ends_consents: questions.ends_consents,
            stays,
            joined: self.state.snapshot.joined.clone(),
            tainted: Some(tainted),
        };
        let reply = ReplyRecord {
            id: ending.message,
            text: self.reply.text().to_owned(),
            language: Some(self.setup.language_of(end)),
            tokens: UtteranceText::new(self.reply.text()).tokens(),
            standing: if is_excuse { MessageStatus::Degraded } else { MessageStatus::Whole },
            generation: self.reply.generation(),
            marks: serde_json::to_value(&marks).unwrap_or_default(),
            suggestions: ending.suggestions.clone(),
        };
        let violations = self.violations(ending);
        let carried = matches!(end, TurnOutcome::Handed).then(|| Box::new(self.record_client_calls()));
        let body = if model.is_cut { json!({ "cut": true }) } else { end_body(end) };
        self.step(self.timings.state, body, self.timings.entered_at.elapsed());
        let decision = self.decision(ending, &model, violations.len());
        let unfinished = match end {
            TurnOutcome::Halted(_) => self.list_unfinished(&acts),
            TurnOutcome::Replied | TurnOutcome::Handed | TurnOutcome::Waiting(_) => Vec::new(),
        };
        TurnCommit {
            lease: self.setup.lease,
            session: self.setup.conversation.session,
            person: self.setup.conversation.person,
            binding: self.setup.conversation.binding,
            channel: self.setup.conversation.channel,
            ending: match end {
                TurnOutcome::Replied | TurnOutcome::Handed => TurnStatus::Done,
                TurnOutcome::Halted(halt) => TurnStatus::Halted(halt.clone()),
                TurnOutcome::Waiting(_) => {
                    TurnStatus::Waiting(Box::new(self.state.snapshot.for_pause(self.setup.lease.epoch)))
                }
            },
            is_read: self.state.snapshot.is_read,
            reply: Some(reply),
            deliver: self.setup.conversation.reply_to.clone(),
            settle: self.setup.run.reservation.map(|reservation| (reservation, spent)),
            learned: self.session_update(),
            steps: std::mem::take(&mut self.state.steps),
            calls: self.setup.call_log.take(),
            violations,
            decision: Some(Box::new(decision)),
            questions: self.state.snapshot.pending_approvals(),
            unfinished,
            client_resume: self.setup.prepared.client_context.is_some().then_some(carried),
            join_check,
            whispers: self.list_told_whispers(&model, is_excuse),
            finished: self.describe_finished(end),
            now: self.setup.engine.clock.now(),
        }
    }

    /// What colleagues whispered and a model has heard. Where none answered it is for the next turn, and a rehearsal uses nothing up.
    fn list_told_whispers(&self, model: &LastModelCall, is_excuse: bool) -> Vec<WhisperId> {
        let is_rehearsal = self.setup.run.kind == runs::REHEARSAL;
        if !model.has_answered || is_excuse || is_rehearsal {
            return Vec::new();
        }
        self.setup.prepared.whispers.iter().map(|whisper| whisper.id).collect()
    }

    /// What packs hear of a turn that was answered; a rehearsal has taught nobody anything.
    fn describe_finished(&self, end: &TurnOutcome) -> Option<Arc<FinishedTurn>> {
        let is_told = matches!(end, TurnOutcome::Replied) && self.setup.run.kind != runs::REHEARSAL;
        if self.setup.engine.packs.turn_hooks.is_empty() || !is_told {
            return None;
        }
        let calls = self.state.snapshot.iter_calls().filter_map(|called| match &called.outcome {
            ExchangeCallOutcome::Ended { ok, result } => {
                Some(FinishedCall { tool: called.tool.clone(), ok: *ok, result: result.clone() })
            }
            _ => None,
        });
        Some(Arc::new(FinishedTurn {
            run: self.setup.lease.run,
            context: self.setup.prepared.pack_context.clone(),
            reply: self.reply.text().to_owned(),
            calls: calls.collect(),
        }))
    }

    /// Writes down what the program is asked for; gives what a run needs that goes on from there.
    fn record_client_calls(&mut self) -> munshi_conversations::RunSnapshot {
        let client_context = self.setup.prepared.client_context.as_ref();
        let named = |alias: &str| {
            client_context.and_then(|context| context.find_by_alias(alias)).map(|tool| tool.name.clone())
        };
        let handed: Vec<ClientCallRequest> = self
            .state
            .snapshot
            .client_calls()
            .map(|(number, called)| ClientCallRequest {
                id: call_id(self.setup.lease.run, number),
                tool: named(&called.tool).unwrap_or_else(|| called.tool.clone()),
                arguments: called.arguments.clone(),
            })
            .collect();
        for handing in handed {
            self.step(RunState::Observing, json!({ "handed": handing }), Duration::ZERO);
        }
        self.state.snapshot.for_pause(self.setup.lease.epoch)
    }

    fn session_update(&self) -> SessionUpdate {
        let entities = serde_json::to_value(&self.state.entities).ok();
        let entities = entities.filter(|entities| *entities != self.setup.prepared.session.entities);
        let language = Some(self.setup.prepared.reply_language.person.clone());
        SessionUpdate { language, entities, masked: self.encode_pseudonyms() }
    }

    fn violations(&self, ending: &TurnEnding) -> Vec<ViolationRecord> {
        let mut broken: Vec<ViolationRecord> =
            self.reply.violations().iter().map(ViolationRecord::from).collect();
        let own = |rule: &str, what: &str| ViolationRecord {
            rule: rule.to_owned(),
            tier: "agent".to_owned(),
            severity: "log".to_owned(),
            what: what.to_owned(),
        };
        let most = u32::from(self.setup.binding.agent.body.limits.tool_calls);
        if matches!(ending.outcome, TurnOutcome::Halted(HaltReason::ToolCap))
            || self.state.snapshot.calls > most
        {
            broken.push(own("tool-cap", "the turn requested more tool calls than the agent may make"));
        }
        broken.extend(ending.objections.iter().map(|what| own("pack-check", what)));
        broken
    }

    fn decision(&self, ending: &TurnEnding, model: &LastModelCall, violations: usize) -> TurnDecision {
        let usage = self.usage();
        let timings = self.timings.read(ending.begun.elapsed());
        let dynamic = model.report.shares.iter().filter(|share| !share.section.is_static());
        let dynamic: u32 = dynamic.map(|share| share.tokens).sum();
        let schemas = model.report.tokens(PromptSection::ToolSchemas);
        let own = model.report.tier_tokens(TierKind::Agent).saturating_sub(dynamic);
        TurnDecision {
            outcome: outcome(&ending.outcome).to_owned(),
            target: model.target.clone(),
            is_degraded: ending.is_excuse,
            model_calls: usage.model_calls,
            tool_calls: usage.tool_calls,
            violations: u32::try_from(violations).unwrap_or(u32::MAX),
            tokens: TierTokens {
                human: model.report.tier_tokens(TierKind::Human),
                team: model.report.tier_tokens(TierKind::Team),
                agent: own.max(schemas),
                dynamic,
            },
            output_tokens: u32::try_from(usage.output_tokens).unwrap_or(u32::MAX),
            cost: usage.cost_micros,
            micros: timings,
            ..TurnDecision::of_binding(&self.setup.binding, &self.setup.prepared.reply_language.person)
        }
    }

    /// What all calls of the run came to.
    fn usage(&self) -> TurnUsage {
        let (used, output) = (self.setup.budget.used(), self.setup.budget.output());
        TurnUsage {
            input_tokens: used.tokens.saturating_sub(output),
            output_tokens: output,
            cost_micros: self.setup.budget.is_priced().then(|| used.money.as_micros()),
            model_calls: self.state.snapshot.model_calls,
            tool_calls: self.state.snapshot.calls,
        }
    }

    /// What followers are told once it is stored; it is stored with the reply, so that those who come later are told
    /// the same.
    fn last_events(&self, ending: &TurnEnding, notes: &StageNotes) -> Vec<RunEvent> {
        let questions = &notes.questions;
        let is_open = self.state.entities.pending_question().is_some() || !notes.model.state.is_empty();
        let waits = matches!(&ending.outcome, TurnOutcome::Waiting(pause) if !pause.asked.is_empty());
        let done = RunEvent::Done {
            run: self.setup.lease.run,
            message: Some(ending.message),
            decision_id: self.setup.lease.run,
            usage: self.usage(),
            state: state(&ending.outcome).as_str().to_owned(),
            degraded: ending.is_excuse,
            asks: waits
                || is_open
                || !questions.asks.is_empty()
                || questions.which.is_some()
                || questions.ends_consents,
            skipped: self.setup.prepared.skipped.clone(),
        };
        let suggestions = ending.suggestions.clone();
        match suggestions.is_empty() {
            true => vec![done],
            false => vec![RunEvent::Suggestions { suggestions }, done],
        }
    }
}

impl TurnSetup {
    fn language_of(&self, end: &TurnOutcome) -> munshi_types::tier::LanguageCode {
        let reply_language = &self.prepared.reply_language;
        if matches!(end, TurnOutcome::Replied) {
            reply_language.reply.clone()
        } else {
            reply_language.person.clone()
        }
    }

    /// Tries until it is stored, surely refused, or somebody else's. Gives the next run of the session.
    pub(crate) async fn store(
        &self,
        response: &Arc<TurnCommit>,
        message: MessageId,
    ) -> Result<Option<RunLease>> {
        let mut pause = PAUSE;
        let now = response.now;
        for number in 1..=TRIES {
            let (engine, response) = (self.engine.clone(), response.clone());
            let stored = self
                .engine
                .db
                .write(self.tenant(), move |tx| deferred_results::save_turn(tx, &engine, &response));
            match stored.await {
                Ok(responded) => {
                    // What was told of them may be a run of its own.
                    if !responded.ended.is_empty() && responded.next.is_none() {
                        let engine = TurnEngine { inner: self.engine.clone() };
                        engine.try_sweep_session(self.tenant(), responded.session).await;
                    }
                    return Ok(responded.next);
                }
                Err(Error::LostRun(run)) => return self.check_already_stored(run, message, now).await,
                Err(error) if number < TRIES && error.is_transient() => {
                    tracing::warn!(run = %self.lease.run, %error, "storing reply failed; retrying");
                    tokio::time::sleep(pause).await;
                }
                Err(error) => return Err(error),
            }
            pause *= 2;
        }
        Err(Error::LostRun(self.lease.run))
    }

    /// Where an earlier try turns out to have stored it, what that took up is ours to go on with.
    async fn check_already_stored(
        &self,
        run: RunId,
        message: MessageId,
        now: Timestamp,
    ) -> Result<Option<RunLease>> {
        let read = move |tx: &mut Tx<'_>| -> Result<Option<RunLease>> {
            let is_ours = runs::find(tx, run)?.is_some_and(|run| run.reply == Some(message));
            if is_ours { Ok(runs::find_next_claimed(tx, run, now)?) } else { Err(Error::LostRun(run)) }
        };
        self.engine.db.read(self.tenant(), read).await
    }
}

const fn state(end: &TurnOutcome) -> RunState {
    match end {
        TurnOutcome::Replied | TurnOutcome::Handed => RunState::Done,
        TurnOutcome::Waiting(_) => RunState::WaitingApproval,
        TurnOutcome::Halted(_) => RunState::Halted,
    }
}

const fn outcome(end: &TurnOutcome) -> &'static str {
    match end {
        TurnOutcome::Halted(halt) => halt.code(),
        TurnOutcome::Replied | TurnOutcome::Handed | TurnOutcome::Waiting(_) => state(end).as_str(),
    }
}

fn end_body(end: &TurnOutcome) -> Value {
    match end {
        TurnOutcome::Replied | TurnOutcome::Handed => Value::Null,
        TurnOutcome::Waiting(pause) => {
            let ids: Vec<_> = pause.asked.iter().map(|approval| approval.id).collect();
            let delayed: Vec<_> = pause.delayed.iter().map(|delayed| delayed.act).collect();
            json!({ "waits_for": ids, "delayed": delayed, "login": pause.is_shut })
        }
        TurnOutcome::Halted(halt) => json!({ "halt": halt }),
    }
}
