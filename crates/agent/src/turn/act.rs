//! Doing what the model asked for, one call after another, each once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use munshi_conversations::snapshot::{
    CallIndex, EpochStamp, ExchangeCall, ExchangeCallOutcome, ToolExchange, build_call_message, call_key,
};
use munshi_conversations::{Error, HaltReason, Result, RunEvent, RunState, UndoOffer, runs};
use munshi_llm::gateway::CallRecorder;
use munshi_llm::{ChatMessage, ModelMessagePart};
use munshi_safety::pipeline::{ActCaller, ProposalMode, Taint};
use munshi_tiers::precedence;
use munshi_tools::{ToolAnswer, ToolCallRequest};
use munshi_types::{Effect, HAND_OVER, Id, ToolName};
use serde_json::{Value, json};

use super::choose::{FailedCallFollowUp, PendingSearch};
use super::detach::DispatchRequest;
use super::journal::{CallJournal, body};
use super::notes::{ActDetails, KnownActs, StageNotes};
use super::setup::TurnSetup;
use super::state::SAME;
use super::turn_outcome::{DelayedAct, TurnPause};
use super::{Turn, evidence, prepare, setup};
use crate::act_takeover::TakeoverPace;

/// How often one asks for an act that somebody else is doing, and for how long.
const PAUSE: Duration = Duration::from_millis(250);
const ACT_TIMEOUT: Duration = Duration::from_secs(900);

/// What came of all calls.
#[derive(Debug)]
pub(crate) enum ActStageOutcome {
    /// The model is told.
    On,
    /// The person is asked which one they mean.
    Asked,
    /// A person is asked first, or a limit is waited for.
    Waiting(TurnPause),
    /// The program that brought its tools is to call them.
    Handed,
    /// The conversation goes on there, from the next step.
    HandedOver,
    Halted(HaltReason),
}

impl Turn {
    /// The model's wish becomes calls, each with the act it will be. Nothing is done yet.
    pub(crate) fn queue_tool_calls(&mut self, asked: ChatMessage) -> Option<HaltReason> {
        let most = u32::from(self.setup.binding.agent.body.limits.tool_calls);
        if self.state.snapshot.calls >= most {
            return Some(HaltReason::ToolCap);
        }
        self.reply.break_paragraph();
        let (mut calls, mut handed) = (Vec::new(), 0);
        for part in &asked.parts {
            let ModelMessagePart::ToolCall(call) = part else { continue };
            self.state.snapshot.calls += 1;
            let outcome = match self.state.snapshot.calls > most {
                // Arguments are shown with questions and kept by tools: none has what colleagues whispered.
                false if self.repeats_whisper(&call.name, &call.arguments) => {
                    ExchangeCallOutcome::Ended { ok: false, result: build_confidential_result() }
                }
                false if self.setup.is_client_tool(&call.name) => {
                    match self.reply.can_disclose(&flatten_text(&call.arguments)) {
                        true => ExchangeCallOutcome::Handed { number: handed },
                        false => ExchangeCallOutcome::Ended { ok: false, result: build_withheld_result() },
                    }
                }
                false => ExchangeCallOutcome::Open,
                true => ExchangeCallOutcome::Ended { ok: false, result: build_cap_result() },
            };
            handed += usize::from(matches!(outcome, ExchangeCallOutcome::Handed { .. }));
            calls.push(ExchangeCall {
                call_id: call.id.clone(),
                tool: call.name.clone(),
                arguments: call.arguments.clone(),
                act: self.setup.engine.ids.next(),
                outcome,
            });
        }
        let asked = self.state.transient.withhold_thoughts(self.state.snapshot.exchanges.len(), asked);
        self.state.snapshot.exchanges.push(ToolExchange { asked, calls });
        None
    }

    /// Whether what colleagues whispered stands in a call: in its arguments, also over several of them, in their names, or in the name
    /// of a tool that there is not.
    fn repeats_whisper(&mut self, tool: &str, arguments: &Value) -> bool {
        let named = tool.replace(['_', '-', '.'], " ");
        let told = [flatten_text(arguments), arguments.to_string(), named];
        told.iter().any(|text| self.reply.repeats_whisper(text))
    }

    /// Does every call that has not ended. What a dead process began is asked for, not done again.
    pub(crate) async fn act(&mut self, notes: &mut StageNotes) -> Result<ActStageOutcome> {
        let begun = Instant::now();
        let acted = self.act_on_all(notes).await;
        self.timings.act += begun.elapsed();
        acted
    }

    async fn act_on_all(&mut self, notes: &mut StageNotes) -> Result<ActStageOutcome> {
        let (mut pause, mut questions) = (TurnPause::default(), Vec::new());
        let (mut search, mut handing_over): (Option<PendingSearch>, Vec<(CallIndex, ExchangeCall)>) =
            (None, Vec::new());
        let most_failures = u32::from(self.setup.binding.agent.body.limits.tool_failures);
        let mut call_indexes = std::collections::VecDeque::from(self.state.snapshot.call_indexes());
        while let Some(call_index) = call_indexes.pop_front() {
            let Some(called) = self.state.snapshot.find_call(call_index).cloned() else { continue };
            if matches!(
                called.outcome,
                ExchangeCallOutcome::Ended { .. } | ExchangeCallOutcome::Handed { .. }
            ) {
                continue;
            }
            if self.setup.stop.is_cancelled() {
                return Ok(ActStageOutcome::Halted(HaltReason::Cancelled));
            }
            if self.setup.is_hand_over(&called) {
                handing_over.push((call_index, called));
                continue;
            }
            if self.state.snapshot.failures_of(&call_key(&called.tool, &called.arguments)) >= SAME {
                return Ok(ActStageOutcome::Halted(HaltReason::Stuck(called.tool)));
            }
            match self.call_tool(call_index, &called, notes).await? {
                ToolAnswer::Waiting(approval) => pause.asked.push(*approval),
                ToolAnswer::Refused(refusal)
                    if self.state.snapshot.find_call(call_index).is_some_and(ExchangeCall::is_delayed) =>
                {
                    let is_away =
                        self.state.snapshot.find_call(call_index).is_some_and(ExchangeCall::is_tool_away);
                    pause.delayed.push(DelayedAct { act: called.act, until: refusal.again_at, is_away });
                }
                ToolAnswer::Failed { .. }
                    if self.state.snapshot.find_call(call_index).is_some_and(ExchangeCall::needs_login) =>
                {
                    pause.is_shut = true;
                }
                answer => {
                    let known = self.state.snapshot.call_indexes();
                    let halt = match self.find_follow_up(&called, &answer, search.as_ref()) {
                        Some(FailedCallFollowUp::Call(tool, arguments)) => {
                            let halt = self.queue_tool_calls(build_call_message(&tool, arguments));
                            search = self.begin_search(&called, &answer).or(search);
                            halt
                        }
                        // The other calls are made first: nothing of the wish is lost to a question.
                        Some(FailedCallFollowUp::Ask(asked)) => {
                            questions.push((called, asked));
                            None
                        }
                        None => self.state.check_stuck(&called.tool, most_failures),
                    };
                    if let Some(halt) = halt {
                        return Ok(ActStageOutcome::Halted(halt));
                    }
                    call_indexes.extend(
                        self.state.snapshot.call_indexes().into_iter().filter(|index| !known.contains(index)),
                    );
                }
            }
        }
        // What else was wished for comes first: it is this team's to do.
        if pause.is_empty()
            && let Some(outcome) = self.hand_over_first(handing_over, notes).await?
        {
            return Ok(outcome);
        }
        Ok(match pause.is_empty() {
            // Whoever stops it while it waits takes back what it asked, and the yes that it could not use.
            false if self.setup.stop.is_cancelled() => ActStageOutcome::Halted(HaltReason::Cancelled),
            false => ActStageOutcome::Waiting(pause),
            true if self.state.snapshot.client_calls().next().is_some() => ActStageOutcome::Handed,
            true if self.ask_choice(questions, notes.model.heard, search.as_ref()) => ActStageOutcome::Asked,
            true => ActStageOutcome::On,
        })
    }

    /// The first of these that is allowed; what was not is told to the model.
    async fn hand_over_first(
        &mut self,
        wishes: Vec<(CallIndex, ExchangeCall)>,
        notes: &mut StageNotes,
    ) -> Result<Option<ActStageOutcome>> {
        for (call_index, called) in wishes {
            let is_open = |called: &ExchangeCall| called.outcome == ExchangeCallOutcome::Open;
            if !self.state.snapshot.find_call(call_index).is_some_and(is_open) {
                continue;
            }
            if self.hand_over(call_index, &called, &mut notes.acts).await? {
                return Ok(Some(ActStageOutcome::HandedOver));
            }
        }
        Ok(self.state.check_stuck(HAND_OVER, u32::MAX).map(ActStageOutcome::Halted))
    }

    async fn call_tool(
        &mut self,
        call_index: CallIndex,
        called: &ExchangeCall,
        notes: &mut StageNotes,
    ) -> Result<ToolAnswer> {
        let begun = Instant::now();
        if notes.acts.shown.insert(called.act) {
            self.reply.record_event(RunEvent::ToolCall {
                call: called.call_id.clone(),
                tool: called.tool.clone(),
                arguments: called.arguments.clone(),
            });
        }
        self.enter(RunState::CheckingSafety);
        let (mut answer, mut is_stored) = self.answer(call_index, called, notes).await?;
        // Whoever heard it is gone, and what was said is not kept: asking once more is harmless.
        if matches!(answer, ToolAnswer::NotKept { .. })
            && let Some(renewed) = self.state.snapshot.renew_act(call_index, self.setup.engine.ids.next())
        {
            notes.acts.shown.insert(renewed.act);
            (answer, is_stored) = self.answer(call_index, &renewed, notes).await?;
        }
        self.observe(call_index, &answer);
        if let Some(called) = self.state.snapshot.find_call(call_index).filter(|_| !is_stored) {
            let body = body(called);
            self.step(RunState::Observing, body, begun.elapsed());
        }
        Ok(answer)
    }

    /// Asks until it is no longer being done. Says too whether the answer is stored with its step.
    async fn answer(
        &mut self,
        call_index: CallIndex,
        called: &ExchangeCall,
        notes: &mut StageNotes,
    ) -> Result<(ToolAnswer, bool)> {
        let (begun, mut takeover) = (Instant::now(), TakeoverPace::default());
        loop {
            let (answer, is_stored) = self.dispatch_call(call_index, called, notes).await?;
            if !matches!(answer, ToolAnswer::Running { .. }) {
                return Ok((answer, is_stored));
            }
            let is_left = notes.acts.taken_up.contains(&called.act) && takeover.is_due();
            if is_left && self.setup.engine.take_over_left(self.setup.tenant(), called.act).await {
                continue;
            }
            if self.setup.stop.is_cancelled() {
                return Ok((answer, is_stored));
            }
            if begun.elapsed() > ACT_TIMEOUT {
                return Err(Error::Store(munshi_store::Error::Busy(format!(
                    "act {} is still running",
                    called.act
                ))));
            }
            self.timings.waited += PAUSE;
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn dispatch_call(
        &mut self,
        call_index: CallIndex,
        called: &ExchangeCall,
        notes: &mut StageNotes,
    ) -> Result<(ToolAnswer, bool)> {
        // Its connector may be about to start; without the tool the act would be taken for another one.
        if is_known(called, &notes.acts) && !self.setup.is_own_tool(&called.tool) {
            tokio::select! {
                () = self.setup.stop.cancelled() => {}
                waited = self.setup.engine.dispatcher.wait_for_tool(self.setup.tenant(), called.act) => waited?,
            }
        }
        let journal = self.journal(call_index, called);
        let conduct = Arc::new(self.setup.binding.agent.body.policy.clone());
        let mut tools = self.setup.tools();
        tools.extend(self.setup.find_connector_tool(&called.tool));
        let known = match is_known(called, &notes.acts) {
            true => {
                let (act, conduct, tools) = (called.act, conduct.clone(), tools.clone());
                let again = DispatchRequest::Again { act, conduct, tools };
                self.dispatch(call_index, called, again, journal.clone()).await
            }
            false => Ok(None),
        };
        let answered = match known {
            Ok(Some(answer)) => Ok(Some(answer)),
            Ok(None) => {
                let details = self.setup.check_act(called).await?;
                let concerns = details.concerns.clone();
                notes.acts.details.insert(called.act, details);
                let want = ToolCallRequest {
                    act: called.act,
                    name: self
                        .setup
                        .tool(&called.tool)
                        .map_or_else(|| called.tool.clone(), |tool| tool.known.identity()),
                    arguments: called.arguments.clone(),
                    offered: self.setup.run.kind != runs::LATE
                        && tools.iter().any(|tool| tool.bare() == called.tool),
                    wanted: if self.setup.run.kind == runs::REHEARSAL {
                        ProposalMode::Rehearsal
                    } else {
                        ProposalMode::Act
                    },
                    caller: self.setup.caller(),
                    agent: conduct,
                    taint: self.taint(called, notes.model.target.as_deref()),
                    concerns,
                };
                let anew = DispatchRequest::Anew(Box::new(want));
                self.dispatch(call_index, called, anew, journal.clone()).await
            }
            Err(error) => Err(error),
        };
        if journal.lost.load(Ordering::SeqCst) {
            return Err(Error::LostRun(self.setup.lease.run));
        }
        if !journal.written.load(Ordering::SeqCst) {
            self.state.steps.splice(0..0, journal.steps.iter().cloned());
            journal.calls.iter().for_each(|call| self.setup.call_log.add(call.clone()));
        }
        let answer = answered?.ok_or(Error::NoRun)?;
        notes.acts.begun.insert(called.act);
        Ok((answer, journal.observed.load(Ordering::SeqCst)))
    }

    /// Whose words an act may rest on. The model of this machine makes its first call of the message alone: what the
    /// conversation has read before can't have talked it into anything.
    fn taint(&self, called: &ExchangeCall, target: Option<&str>) -> Taint {
        let is_here = target.is_some() && target == self.setup.engine.local_model();
        if is_here && !self.state.snapshot.is_read && self.state.snapshot.exchanges.len() == 1 {
            return setup::compute_initial_taint(&self.setup.prepared);
        }
        let mut taint = self.state.snapshot.whole_taint();
        if taint.is_clean() || !taint.holds_private {
            return taint;
        }
        let calls = self.state.snapshot.exchanges.iter().flat_map(|exchange| &exchange.calls);
        for before in calls.take_while(|call| call.act != called.act) {
            match self.setup.tool(&before.tool) {
                Some(tool) => taint.record_choices(&before.arguments, &tool.known),
                None => taint.record_unknown_call(),
            }
        }
        taint
    }

    fn journal(&mut self, call_index: CallIndex, called: &ExchangeCall) -> Arc<CallJournal> {
        self.sync();
        let tool = self.setup.tool(&called.tool);
        let is_inside = tool.is_some_and(|tool| tool.known.spec.effect == Effect::Inside);
        Arc::new(CallJournal {
            lease: self.setup.lease,
            person: self.setup.run.person(),
            snapshot: self.state.snapshot.clone(),
            call_index,
            steps: std::mem::take(&mut self.state.steps),
            calls: self.setup.call_log.take(),
            is_inside,
            lost: AtomicBool::new(false),
            written: Arc::default(),
            observed: Arc::default(),
            clock: self.setup.engine.clock.clone(),
            since: Instant::now(),
        })
    }

    /// The turn's own record of what the act's transaction has written down already.
    fn observe(&mut self, call_index: CallIndex, answer: &ToolAnswer) {
        let when = EpochStamp { epoch: self.setup.lease.epoch, now: self.setup.engine.clock.now() };
        self.state.snapshot.record_answer(call_index, answer, when);
        let Some(called) = self.state.snapshot.find_call(call_index).cloned() else { return };
        self.state.transient.observe(called.act, answer, &self.setup.redactor);
        self.setup.hide_people(&called, &mut self.state.transient);
        match (&called.outcome, answer) {
            (ExchangeCallOutcome::Ended { ok, result }, _) => {
                self.reply.record_event(RunEvent::ToolResult {
                    call: called.call_id.clone(),
                    tool: called.tool.clone(),
                    ok: *ok,
                    result: result.clone(),
                    undo: UndoOffer::from_answer(answer, when.now),
                });
                let heard = self.state.transient.find_told(&called).map_or(result, |(_, heard)| heard);
                self.reply.update_context(|context| evidence::add(context, heard));
                if let Some((tool, result)) = called.find_result() {
                    self.state.observe_entities(&self.setup, &tool, &result);
                }
            }
            (_, ToolAnswer::Waiting(approval)) => {
                self.reply.record_event(RunEvent::Approval {
                    approval: approval.id,
                    words: approval.words.clone(),
                });
            }
            _ => {}
        }
    }
}

impl TurnSetup {
    fn is_client_tool(&self, tool: &str) -> bool {
        self.prepared
            .client_context
            .as_ref()
            .is_some_and(|client_context| client_context.find_by_alias(tool).is_some())
    }

    pub(crate) fn tools(&self) -> Vec<ToolName> {
        precedence::select_tools(&self.binding.team.body, &self.binding.agent.body)
    }

    fn caller(&self) -> ActCaller {
        ActCaller {
            principal: self.prepared.principal.clone(),
            door: self.prepared.pack_context.door,
            binding: Some(self.conversation.binding),
            run: Some(self.lease.run),
            session: Some(self.conversation.session.as_uuid()),
            zone: self.binding.zone.clone(),
            language: Some(self.prepared.reply_language.person.clone()),
            background: false,
            key: self.run.program_key(),
            ceiling: self.run.key_use.as_ref().map(|used| used.ceiling.clone()),
        }
    }

    /// What packs say of a call before it is made.
    async fn check_act(&self, called: &ExchangeCall) -> Result<ActDetails> {
        if self.engine.packs.checks.is_empty() {
            return Ok(ActDetails::default());
        }
        let (packs, pack_context) = (self.engine.packs.clone(), self.prepared.pack_context.clone());
        let (tool, arguments) = (called.tool.clone(), called.arguments.clone());
        let read = move |tx: &mut munshi_store::Tx<'_>| -> Result<ActDetails> {
            let mut concerns = Vec::new();
            for check in packs.checks_of(&pack_context.packs) {
                concerns.extend(check.check_before_act(tx, &pack_context, &tool, &arguments)?);
            }
            let target_descriptions =
                prepare::collect_act_details(tx, &packs, &pack_context, (&tool, &arguments), None)?;
            Ok(ActDetails { concerns, target_descriptions })
        };
        self.engine.db.read(self.tenant(), read).await
    }
}

/// Whether the act may stand in the books: it was begun by this or by another process.
fn is_known(called: &ExchangeCall, acts: &KnownActs) -> bool {
    let waits =
        matches!(called.outcome, ExchangeCallOutcome::Waiting { .. } | ExchangeCallOutcome::Login { .. });
    waits || acts.may_have_begun(called.act)
}

/// What stands in arguments, to be looked at as words are.
fn flatten_text(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(flatten_text).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => fields.values().map(flatten_text).collect::<Vec<_>>().join("\n"),
        Value::Null | Value::Bool(_) => String::new(),
        Value::Number(number) => number.to_string(),
    }
}

fn build_withheld_result() -> Value {
    json!({ "ok": false, "code": "not_permitted", "retryable": false,
            "suggestion": "What stands in the arguments may not leave. Answer without it." })
}

fn build_confidential_result() -> Value {
    json!({ "ok": false, "code": "not_permitted", "retryable": false,
            "suggestion": "What a colleague told you stays with you. Call it again in your own words, without that." })
}

fn build_cap_result() -> Value {
    json!({ "ok": false, "code": "tool_cap", "retryable": false,
            "suggestion": "No more tools may be called in this turn. Answer with what you have." })
}
