//! The rules of a binding, compiled once and shared.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::checker::{GuardrailChecker, ReplyPiece};
use super::context::GuardrailContext;
use super::custom::PatternRule;
use super::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailView,
    GuardrailViolation,
};
use super::rules;
use super::rules::price_cooldown;

/// What a tenant can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardrailParameters {
    /// Turns that must pass between two prices.
    pub price_cooldown: u32,
}

impl Default for GuardrailParameters {
    fn default() -> Self {
        Self { price_cooldown: 3 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no guardrail `{id}`: use one of {known}, or define it as a pattern rule")]
pub struct UnknownGuardrailRule {
    pub id: String,
    known: String,
}

/// Rules that run together. Cloning shares them.
#[derive(Clone, Debug)]
pub struct GuardrailRuleSet {
    rules: Arc<[GuardrailRule]>,
    parameters: GuardrailParameters,
}

/// What became of a whole reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardrailVerdict {
    /// What may be sent, in order.
    pub pieces: Vec<ReplyPiece>,
    pub violations: Vec<GuardrailViolation>,
}

impl GuardrailVerdict {
    /// The text alone, without the phrases.
    pub fn text(&self) -> String {
        let texts = self.pieces.iter().map(|piece| match piece {
            ReplyPiece::Text(text) => text.as_str(),
            ReplyPiece::Say(_) => "",
        });
        texts.collect()
    }

    /// Whether anything was kept back or changed.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

impl GuardrailRuleSet {
    /// The shipped rules with these ids, in the order of the list, then a tenant's own.
    pub fn new(
        ids: &[&str],
        parameters: GuardrailParameters,
        own: Vec<PatternRule>,
    ) -> Result<Self, UnknownGuardrailRule> {
        let mut chosen = Vec::new();
        let mut seen = BTreeSet::new();
        for id in ids.iter().copied().filter(|id| seen.insert(*id)) {
            let rule = rules::SHIPPED.iter().find(|rule| rule().id == id).map(|rule| rule());
            let mut rule = rule.ok_or_else(|| unknown_rule_error(id))?;
            if id == price_cooldown::ID {
                rule.prompt = price_cooldown::render_prompt(parameters.price_cooldown).into();
            }
            chosen.push(rule);
        }
        chosen.extend(own.into_iter().map(PatternRule::into_rule));
        Ok(Self { rules: chosen.into(), parameters })
    }

    /// Every shipped rule.
    pub fn shipped() -> Self {
        let rules: Vec<GuardrailRule> = rules::SHIPPED.iter().map(|rule| rule()).collect();
        Self { rules: rules.into(), parameters: GuardrailParameters::default() }
    }

    /// The same where colleagues have told something for the turn, which comes back in no reply.
    #[must_use]
    pub fn with_whispers(&self) -> Self {
        let whole = self.rules.iter().cloned().chain([rules::whisper_leak::rule()]);
        Self { rules: whole.collect(), parameters: self.parameters }
    }

    /// The rules, in the order they are checked.
    pub fn rules(&self) -> &[GuardrailRule] {
        &self.rules
    }

    /// Whether a reply may have to wait for its end before any of it is sent.
    pub fn buffers_whole_reply(&self) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.scope == GuardrailScope::Reply && rule.severity == GuardrailSeverity::Block)
    }

    /// Whether this reply has to wait: the red flag's rule holds nothing back while no flag is raised.
    pub fn buffers(&self, context: &GuardrailContext) -> bool {
        let waits = |rule: &&GuardrailRule| {
            rule.scope == GuardrailScope::Reply && rule.severity == GuardrailSeverity::Block
        };
        self.rules.iter().filter(waits).any(|rule| rules::is_active(rule, context))
    }

    /// A check of a reply as it arrives.
    pub fn checker(&self, context: GuardrailContext) -> GuardrailChecker {
        GuardrailChecker::new(self.clone(), context)
    }

    /// Checks a reply that is complete.
    pub fn check(&self, reply: &str, context: &GuardrailContext) -> GuardrailVerdict {
        let mut checker = self.checker(context.clone());
        let mut cleared = checker.push(reply);
        let last = checker.finish();
        cleared.pieces.extend(last.pieces);
        cleared.violations.extend(last.violations);
        GuardrailVerdict {
            pieces: super::checker::merge_texts(cleared.pieces),
            violations: cleared.violations,
        }
    }

    pub(crate) fn parameters(&self) -> &GuardrailParameters {
        &self.parameters
    }
}

impl GuardrailRule {
    /// What this rule finds in some sentences.
    pub(crate) fn find(&self, view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
        match &self.check {
            GuardrailCheck::Patterns(patterns, what) => patterns
                .find(view.reading)
                .into_iter()
                .map(|span| GuardrailFinding::new(span, what))
                .collect(),
            GuardrailCheck::Sentences(check) => check(view),
            GuardrailCheck::Custom(compiled) => compiled.find(view.text),
            GuardrailCheck::Reply(_) => Vec::new(),
        }
    }
}

fn unknown_rule_error(id: &str) -> UnknownGuardrailRule {
    let known: Vec<String> = rules::SHIPPED.iter().map(|rule| rule().id.into_owned()).collect();
    UnknownGuardrailRule { id: id.to_owned(), known: known.join(" ") }
}
