//! A name that is several people's, or nobody's: a search comes before giving up, a numbered question before guessing,
//! and the pick that answers it makes the call it was about.

use munshi_tools::{Answer, Next};
use serde_json::Value;

use super::consent::asking;
use super::{End, Turn, whom};
use crate::choices::{self, Asked, Searched};
use crate::entities::Entities;
use crate::snapshot::{CallOutcome, Called};
use crate::state::Halt;

/// What a failed call leads to beside being told to the model.
pub(crate) enum Led {
    /// Another call comes first.
    Call(String, Value),
    /// The person is asked.
    Ask(Asked),
}

impl Turn {
    /// A message that picks one of the choices that were shown last makes that call, and no model has to guess it.
    pub(crate) fn pick(&mut self) -> Option<End> {
        let picked = self.entities.pick(&self.prepared.message.text)?;
        let arguments = picked.arguments?;
        self.wish(asking(&picked.tool, arguments)).map(End::Halted)
    }

    /// What helps where a tool could not.
    pub(crate) fn led_to(&self, called: &Called, answer: &Answer) -> Option<Led> {
        if let Some(led) = self.found_by(called, answer) {
            return Some(led);
        }
        let Answer::Failed { next: Some(next), .. } = answer else { return None };
        match next.as_ref() {
            Next::Choose { .. } => Asked::of(&called.tool, &called.arguments, next).map(Led::Ask),
            Next::Search { .. } => {
                let (tool, arguments) = choices::search(next, &self.tools())?;
                let again = self.snapshot.all().any(|known| {
                    known.act != called.act && known.tool == tool.as_str() && known.arguments == arguments
                });
                (!again).then(|| Led::Call(tool.to_string(), arguments))
            }
        }
    }

    /// Where this call was the search for another that found nothing: what that one becomes.
    fn found_by(&self, called: &Called, answer: &Answer) -> Option<Led> {
        let Answer::Done(seen) = answer else { return None };
        let (first, next) = self
            .searching
            .as_ref()
            .filter(|(_, _, search)| *search == called.act)
            .map(|(first, next, _)| (first, next))?;
        let first_tool = self.tool(&first.tool)?;
        let mut found = Entities::default();
        found.observe(&self.tool(&called.tool)?.known.spec, &seen.value);
        let found: Vec<_> = found.known().collect();
        match choices::searched(&first_tool.known.spec, &first.arguments, next, &found) {
            Searched::One(arguments) => Some(Led::Call(first.tool.clone(), arguments)),
            Searched::Ask(asked) => Some(Led::Ask(asked)),
            Searched::Nothing | Searched::Unplaced => None,
        }
    }

    /// Goes where a failure leads. Some where the turn ends with a question.
    pub(crate) fn follow_lead(
        &mut self,
        called: &Called,
        answer: &Answer,
        led: Led,
    ) -> Option<Result<(), Halt>> {
        match led {
            Led::Call(tool, arguments) => {
                let halt = self.wish(asking(&tool, arguments));
                let made = self.snapshot.exchanges.last().and_then(|exchange| exchange.calls.last());
                if let (Answer::Failed { next: Some(next), .. }, Some(made)) = (answer, made) {
                    self.searching = Some((called.clone(), next.as_ref().clone(), made.act));
                }
                halt.map(Err)
            }
            Led::Ask(asked) => {
                let words = asked.words(&self.engine.book, self.prepared.tongue.voice);
                match words {
                    Ok(words) => self.reply.say(&words),
                    Err(error) => {
                        tracing::error!(%error, "a choice can't be put");
                        return None;
                    }
                }
                self.entities.ask(asked);
                Some(Ok(()))
            }
        }
    }

    /// Takes in what the tools of this turn have named, also those of a process that died.
    pub(crate) fn recollect(&mut self) {
        self.veil.meet(whom::spoken_of(&self.entities));
        self.snapshot.all().for_each(|called| self.hide_people(called));
        let known: Vec<(String, Value)> = self.snapshot.all().filter_map(of_call).collect();
        for (tool, result) in known {
            self.meet(&tool, &result);
        }
    }

    pub(crate) fn meet(&mut self, tool: &str, result: &Value) {
        if let Some(tool) = self.tool(tool) {
            self.entities.observe(&tool.known.spec, result);
        }
    }

    /// Whom a call told of, done or failed, no model elsewhere reads by name.
    pub(crate) fn hide_people(&self, called: &Called) {
        if let CallOutcome::Ended { result, .. } = &called.outcome {
            let tool = self.tool(&called.tool);
            let scope = tool.as_ref().map_or("", |tool| tool.known.spec.scope.as_str());
            self.veil.meet(whom::people(result, scope));
        }
    }
}

/// The tool and what it said, where it said something.
pub(crate) fn of_call(called: &Called) -> Option<(String, Value)> {
    match &called.outcome {
        CallOutcome::Ended { ok: true, result } => {
            Some((called.tool.clone(), result.get("result").cloned().unwrap_or_default()))
        }
        _ => None,
    }
}
