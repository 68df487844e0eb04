//! What is said where a turn ends without an answer of its own, in the person's language.

use munshi_conversations::snapshot::{ExchangeCall, ExchangeCallOutcome};
use munshi_conversations::{HaltReason, RunSnapshot, runs};
use munshi_lang::PlaceholderValue;
use munshi_safety::acts::in_plain_words;
use munshi_tools::ToolAnswer;
use munshi_types::{ActId, TenantId};
use serde_json::Value;

use super::notes::KnownActs;
use super::setup::TurnSetup;
use super::{Turn, TurnOutcome};
use crate::deferred_results;
use crate::engine::TurnEngineInner;
use crate::phrases::log_unrendered;

impl Turn {
    /// The sentence for it, in place of a reply or after what was said already.
    pub(crate) fn excuse(&mut self, halt: &HaltReason, acts: &KnownActs) {
        if self.setup.run.kind == runs::LATE && *halt != HaltReason::Cancelled {
            return self.report_late_result();
        }
        let phrase = match halt {
            // "Try again" would have it done twice.
            _ if self.has_done_something(acts) => "stopped",
            HaltReason::OverBudget(_) => "limit-reached",
            HaltReason::RunSpent(_) | HaltReason::ToolCap => "too-much",
            HaltReason::Stuck(_) if self.state.snapshot.denials > 0 => "not-permitted",
            HaltReason::Stuck(_) => "stuck",
            HaltReason::RefusedAtDoor(_) => "aadhaar-refused",
            HaltReason::OptedOut => "opted-out",
            HaltReason::OptedIn => "opted-in",
            HaltReason::Cancelled => "cancelled",
            // It ends without a word.
            HaltReason::Held => "stopped",
            HaltReason::NoModel(_)
            | HaltReason::PersonGone
            | HaltReason::Joined(_)
            | HaltReason::Broken(_) => "error",
        };
        let words = self.setup.phrase(phrase, &[]);
        let done = self.describe_done(0);
        self.reply.say(&[words].into_iter().chain(done).collect::<Vec<_>>().join("\n"));
    }

    /// A result that came late and that no model words: as it is, by the rules that every reply goes by.
    pub(super) fn report_late_result(&mut self) {
        let results = self.state.snapshot.iter_calls().filter_map(|called| match &called.outcome {
            ExchangeCallOutcome::Ended { ok: true, result } => {
                result.get("result").map(deferred_results::render_result)
            }
            _ => None,
        });
        let words = results.collect::<Vec<_>>().join("\n");
        let lead = self.setup.phrase("late-result", &[]);
        self.reply.say(&lead);
        self.reply.push_model_text(&format!("\n{words}"));
        self.reply.finish();
    }

    /// What was surely written from an exchange on, a line each, in the words a question about it would have.
    pub(crate) fn describe_done(&self, from: usize) -> Vec<String> {
        self.list_done(from).into_iter().map(|(_, words)| words).collect()
    }

    /// Says at a pause what is done so far, each act once: what the pause asks about may be refused, and nothing more be
    /// said of the rest.
    pub(super) fn report_done(&mut self) {
        let mut done = self.list_done(0);
        done.retain(|(act, _)| !self.state.snapshot.told_done.contains(act));
        if done.is_empty() {
            return;
        }
        let lead = self.setup.phrase("done", &[]);
        let (acts, lines): (Vec<ActId>, Vec<String>) = done.into_iter().unzip();
        self.reply.say(&[lead].into_iter().chain(lines).collect::<Vec<_>>().join("\n"));
        self.state.snapshot.told_done.extend(acts);
    }

    fn list_done(&self, from: usize) -> Vec<(ActId, String)> {
        // What goes on by itself may still fail.
        let is_done = |called: &&ExchangeCall| matches!(&called.outcome, ExchangeCallOutcome::Ended { ok: true, result } if result["code"] != ToolAnswer::WORKING);
        let words = |called: &ExchangeCall| {
            let tool = self.setup.tool(&called.tool).filter(|tool| tool.known.spec.effect.writes())?;
            Some((called.act, in_plain_words(&tool.known.spec, &called.arguments)))
        };
        match self.setup.run.kind == runs::REHEARSAL {
            true => Vec::new(),
            false => {
                let calls =
                    self.state.snapshot.exchanges.iter().skip(from).flat_map(|exchange| &exchange.calls);
                calls.filter(is_done).filter_map(words).collect()
            }
        }
    }

    /// Whether what is said at the end is an excuse, which nobody is billed for. Where something was done, it is none.
    pub(crate) fn is_excuse(&self, end: &TurnOutcome, acts: &KnownActs) -> bool {
        matches!(end, TurnOutcome::Halted(halt) if halt.is_excuse()) && !self.has_done_something(acts)
    }

    /// Writes that were begun and have not ended as far as this turn knows.
    pub(crate) fn list_unfinished(&self, acts: &KnownActs) -> Vec<ActId> {
        let is_unfinished = |called: &&ExchangeCall| self.is_unfinished(called, acts);
        self.state.snapshot.iter_calls().filter(is_unfinished).map(|called| called.act).collect()
    }

    fn is_unfinished(&self, called: &ExchangeCall, acts: &KnownActs) -> bool {
        matches!(called.outcome, ExchangeCallOutcome::Open)
            && acts.may_have_begun(called.act)
            && self.is_write(called)
    }

    fn is_write(&self, called: &ExchangeCall) -> bool {
        self.setup.engine.is_write(self.setup.tenant(), called)
    }

    /// Whether anything may have changed in the world.
    fn has_done_something(&self, acts: &KnownActs) -> bool {
        self.setup.engine.has_written(self.setup.tenant(), &self.state.snapshot)
            || self.state.snapshot.iter_calls().any(|called| self.is_unfinished(called, acts))
    }
}

impl TurnEngineInner {
    /// A tool that is gone may have been one that writes.
    fn is_write(&self, tenant: TenantId, called: &ExchangeCall) -> bool {
        self.dispatcher.find_tool(tenant, &called.tool).is_none_or(|tool| tool.known.spec.effect.writes())
    }

    /// Whether a call that ended may have changed anything in the world: one that failed surely did not.
    pub(super) fn has_written(&self, tenant: TenantId, snapshot: &RunSnapshot) -> bool {
        let unknown = |result: &Value| result["code"] == "unknown_outcome";
        snapshot.iter_calls().any(|called| match &called.outcome {
            ExchangeCallOutcome::Ended { ok, result } => {
                (*ok || unknown(result)) && self.is_write(tenant, called)
            }
            _ => false,
        })
    }
}

impl Turn {
    /// Says something of our own.
    pub(super) fn say_phrase(&mut self, name: &str, slots: &[(String, String)]) {
        let words = self.setup.phrase(name, slots);
        self.reply.say(&words);
    }
}

impl TurnSetup {
    /// Words of the phrasebook. One that can't be said is our mistake, and no reason to say nothing.
    pub(crate) fn phrase(&self, name: &str, slots: &[(String, String)]) -> String {
        let fills: Vec<(&str, PlaceholderValue<'_>)> =
            slots.iter().map(|(name, text)| (name.as_str(), PlaceholderValue::Text(text))).collect();
        let voice = self.prepared.reply_language.voice;
        let own = self.engine.phrasebook.render(name, voice, &fills);
        let rendered = own.or_else(|_| self.engine.packs.render_phrase(voice, name, slots));
        log_unrendered(rendered, name)
            .unwrap_or_else(|| self.engine.phrasebook.render("error", voice, &[]).unwrap_or_default())
    }
}
