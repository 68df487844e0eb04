//! What is said where a turn ends without an answer of its own, in the person's language.

use munshi_lang::Fill;
use serde_json::Value;

use super::Turn;
use crate::snapshot::CallOutcome;
use crate::state::Halt;

impl Turn {
    /// The sentence for it, in place of a reply or after what was said already.
    pub(crate) fn excuse(&mut self, halt: &Halt) {
        let phrase = match halt {
            Halt::OverBudget(_) => "limit-reached",
            Halt::RunSpent(_) | Halt::ToolCap => "too-much",
            Halt::Stuck(_) if self.snapshot.denials > 0 => "not-permitted",
            Halt::Stuck(_) => "stuck",
            Halt::RefusedAtDoor(_) => "aadhaar-refused",
            Halt::Cancelled if self.has_done_something() => "stopped",
            Halt::Cancelled => "cancelled",
            Halt::NoModel(_) | Halt::Broken(_) => "error",
        };
        let words = self.phrase(phrase, &[]);
        self.reply.say(&words);
    }

    /// Whether anything may have changed in the world: what failed surely did not.
    fn has_done_something(&self) -> bool {
        let unknown = |result: &Value| result["code"] == "unknown_outcome";
        let wrote = |tool: &str| {
            let tool = self.tool(tool);
            tool.is_none_or(|tool| tool.known.spec.effect.writes())
        };
        self.snapshot.all().any(|called| match &called.outcome {
            CallOutcome::Ended { ok, result } => (*ok || unknown(result)) && wrote(&called.tool),
            CallOutcome::Open => self.begun.contains(&called.act) || self.taken_up.contains(&called.act),
            CallOutcome::Waiting { .. } => false,
        })
    }

    /// Words of the phrasebook. One that can't be said is our mistake, and no reason to say nothing.
    pub(crate) fn phrase(&self, name: &str, slots: &[(String, String)]) -> String {
        let fills: Vec<(&str, Fill<'_>)> =
            slots.iter().map(|(name, text)| (name.as_str(), Fill::Text(text))).collect();
        let voice = self.prepared.tongue.voice;
        let own = self.engine.book.say(name, voice, &fills);
        own.or_else(|_| self.engine.house.say(voice, name, slots)).unwrap_or_else(|error| {
            tracing::error!(%error, phrase = name, "a phrase can't be said");
            self.engine.book.say("error", voice, &[]).unwrap_or_default()
        })
    }
}

/// Whether what was said is an excuse, which nobody is billed for.
pub(crate) const fn is_degraded(halt: &Halt) -> bool {
    !matches!(halt, Halt::Stuck(_) | Halt::ToolCap | Halt::Cancelled)
}
