//! A name that is several people's, or nobody's: a search comes before giving up, a numbered question before guessing,
//! and the pick that answers it makes the call it was about.

use munshi_conversations::messages::MessageSpeaker;
use munshi_conversations::snapshot::{ExchangeCall, ExchangeCallOutcome, build_call_message};
use munshi_tools::{FailureHint, ToolAnswer};
use munshi_types::ActId;
use serde_json::Value;

use super::approval_questions::quote;
use super::notes::{PickedChoice, QuestionNotes, StageNotes};
use super::setup::TurnSetup;
use super::transient::TransientResults;
use super::{Turn, TurnOutcome};
use crate::choices::{self, ChoiceQuestion, FallbackSearchOutcome};
use crate::entities::SessionEntities;
use crate::mask_people;

/// What a failed call leads to beside being told to the model.
pub(crate) enum FailedCallFollowUp {
    /// Another call comes first.
    Call(String, Value),
    /// The person is asked.
    Ask(ChoiceQuestion),
}

/// A search that is made for a call that found nothing.
pub(crate) struct PendingSearch {
    failed: ExchangeCall,
    hint: FailureHint,
    search: ActId,
}

impl Turn {
    /// A message that picks one of the choices that were shown last makes that call, and no model has to guess it.
    pub(crate) fn handle_pick(&mut self, questions: &mut QuestionNotes) -> Option<TurnOutcome> {
        // Who wrote before the choices were shown has picked none of them; the question stays.
        if !self.setup.has_seen_last() {
            return None;
        }
        let (asked, text) =
            (self.state.entities.pending_question().cloned(), &self.setup.prepared.message.text);
        let picked = self.state.entities.pick(text);
        if let (None, Some(asked)) = (&picked, asked) {
            if asked.is_declined(text) {
                self.say_phrase("cancelled", &[]);
                return Some(TurnOutcome::Replied);
            }
            questions.passed_by = asked.into_repeat(text);
        }
        let picked = picked?;
        let arguments = picked.arguments?;
        let (value, label) = (picked.choice.value, picked.choice.label);
        questions.picked = Some(PickedChoice { value, label });
        self.queue_tool_calls(build_call_message(&picked.tool, arguments)).map(TurnOutcome::Halted)
    }

    /// What helps where a tool could not.
    pub(crate) fn find_follow_up(
        &self,
        called: &ExchangeCall,
        answer: &ToolAnswer,
        search: Option<&PendingSearch>,
    ) -> Option<FailedCallFollowUp> {
        // What is found would stand in a question, which is stored.
        if answer.is_transient() {
            return None;
        }
        let search = search.filter(|made| made.search == called.act);
        if let Some(led) = search.and_then(|made| self.setup.resolve_search(made, called, answer)) {
            return Some(led);
        }
        let ToolAnswer::Failed { next: Some(next), .. } = answer else { return None };
        match next.as_ref() {
            FailureHint::Choose { .. } => {
                ChoiceQuestion::from_hint(&called.tool, &called.arguments, next).map(FailedCallFollowUp::Ask)
            }
            FailureHint::Search { .. } => {
                let (tool, arguments) = choices::find_fallback_search(next, &self.setup.tools())?;
                let again = self.state.snapshot.iter_calls().any(|known| {
                    known.act != called.act && known.tool == tool.as_str() && known.arguments == arguments
                });
                (!again).then(|| FailedCallFollowUp::Call(tool.to_string(), arguments))
            }
        }
    }

    /// The search that the last call is, where a failure led to it.
    pub(crate) fn begin_search(&self, failed: &ExchangeCall, answer: &ToolAnswer) -> Option<PendingSearch> {
        let made = self.state.snapshot.exchanges.last()?.calls.last()?;
        let ToolAnswer::Failed { next: Some(next), .. } = answer else { return None };
        Some(PendingSearch { failed: failed.clone(), hint: next.as_ref().clone(), search: made.act })
    }

    /// Asks the person which one they mean, in our own words, where that is all there is to say: of several questions, and
    /// of what else was looked up or failed, a model tells. What was done beside it is said with it.
    pub(crate) fn ask_choice(
        &mut self,
        mut questions: Vec<(ExchangeCall, ChoiceQuestion)>,
        heard: usize,
        search: Option<&PendingSearch>,
    ) -> bool {
        let (Some((failed, asked)), true) = (questions.pop(), questions.is_empty()) else { return false };
        if !self.is_all_else_written(&failed, heard, search) {
            return false;
        }
        let words =
            match asked.render(&self.setup.engine.phrasebook, self.setup.prepared.reply_language.voice) {
                Ok(words) => words,
                Err(error) => {
                    tracing::error!(%error, "choice rendering failed");
                    return false;
                }
            };
        let done = self.describe_done(heard);
        if !done.is_empty() {
            let lead = self.setup.phrase("done", &[]);
            self.reply.say(&[lead].into_iter().chain(done).collect::<Vec<_>>().join("\n"));
        }
        self.reply.say(&words);
        self.state.entities.set_pending_question(asked);
        true
    }

    /// Puts a choice once more that the message has passed by, where something was to be written: it is neither done nor
    /// forgotten.
    pub(crate) fn repeat_choice(&mut self, notes: &mut StageNotes) {
        let Some(asked) = notes.questions.passed_by.take() else { return };
        let writes = self.setup.tool(asked.tool()).is_some_and(|tool| tool.known.spec.effect.writes());
        let is_said_anew =
            self.state.snapshot.iter_calls().any(|called| asked.is_about(&called.tool, &called.arguments));
        if !writes || is_said_anew || self.asks_something(notes) {
            return;
        }
        let said = self
            .setup
            .prepared
            .history
            .iter()
            .rev()
            .find(|message| message.speaker == MessageSpeaker::Person);
        let said = said.map(|message| quote(message.text.trim())).unwrap_or_default();
        let lead = self.setup.phrase("approval-asked", &[]);
        match asked.render(&self.setup.engine.phrasebook, self.setup.prepared.reply_language.voice) {
            Ok(words) => self.reply.say(&format!("{lead}\n{said}\n{words}")),
            Err(error) => return tracing::error!(%error, "repeating choice failed"),
        }
        self.state.entities.set_pending_question(asked);
    }

    /// Whether all that was called beside it was written, or led to it.
    fn is_all_else_written(
        &self,
        failed: &ExchangeCall,
        heard: usize,
        search: Option<&PendingSearch>,
    ) -> bool {
        let led_here = |called: &ExchangeCall| {
            search.is_some_and(|made| made.failed.act == called.act || made.search == called.act)
        };
        let is_written = |called: &ExchangeCall| {
            let writes = self.setup.tool(&called.tool).is_some_and(|tool| tool.known.spec.effect.writes());
            writes && matches!(called.outcome, ExchangeCallOutcome::Ended { ok: true, .. })
        };
        let unheard = self.state.snapshot.exchanges.iter().skip(heard).flat_map(|exchange| &exchange.calls);
        let mut others = unheard.filter(|called| called.act != failed.act);
        others.all(|called| led_here(called) || is_written(called))
    }
}

impl TurnSetup {
    /// Where this call was the search for another that found nothing: what that one becomes.
    fn resolve_search(
        &self,
        search: &PendingSearch,
        called: &ExchangeCall,
        answer: &ToolAnswer,
    ) -> Option<FailedCallFollowUp> {
        let ToolAnswer::Done(seen) = answer else { return None };
        let first = &search.failed;
        let first_tool = self.tool(&first.tool)?;
        let mut found = SessionEntities::default();
        found.observe(&self.tool(&called.tool)?.known.spec, &seen.value);
        let found: Vec<_> = found.known().collect();
        match choices::resolve_fallback_search(&first_tool.known.spec, &first.arguments, &search.hint, &found)
        {
            FallbackSearchOutcome::One(arguments) => {
                Some(FailedCallFollowUp::Call(first.tool.clone(), arguments))
            }
            FallbackSearchOutcome::Ask(asked) => Some(FailedCallFollowUp::Ask(asked)),
            FallbackSearchOutcome::Nothing | FallbackSearchOutcome::Unplaced => None,
        }
    }

    /// Whom a call told of, done or failed, no model elsewhere reads by name.
    pub(crate) fn hide_people(&self, called: &ExchangeCall, transient: &mut TransientResults) {
        let Some((_, result)) = transient.find_told(called) else { return };
        let tool = self.tool(&called.tool);
        let scope = tool.as_ref().map_or("", |tool| tool.known.spec.scope.as_str());
        let names = mask_people::extract_people(result, scope);
        self.redactor.add_names(names.clone());
        transient.keep_names(called.act, names);
    }
}
