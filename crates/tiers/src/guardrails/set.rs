//! The rules of a binding, compiled once and shared.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::checker::{Checker, Piece};
use super::context::Context;
use super::custom::PatternRule;
use super::rule::{Check, Found, Rule, Scope, Severity, View, Violation};
use super::rules;
use super::rules::price_cooldown;

/// What a tenant can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Turns that must pass between two prices.
    pub price_cooldown: u32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { price_cooldown: 3 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no guardrail `{id}`: use one of {known}, or define it as a pattern rule")]
pub struct UnknownRule {
    pub id: String,
    known: String,
}

/// Rules that run together. Cloning shares them.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rules: Arc<[Rule]>,
    parameters: Parameters,
}

/// What became of a whole reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What may be sent, in order.
    pub pieces: Vec<Piece>,
    pub violations: Vec<Violation>,
}

impl Verdict {
    /// The text alone, without the phrases.
    pub fn text(&self) -> String {
        let texts = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Say(_) => "",
        });
        texts.collect()
    }

    /// Whether anything was kept back or changed.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

impl RuleSet {
    /// The shipped rules with these ids, in the order of the list, then a tenant's own.
    pub fn new(ids: &[&str], parameters: Parameters, own: Vec<PatternRule>) -> Result<Self, UnknownRule> {
        let mut chosen = Vec::new();
        let mut seen = BTreeSet::new();
        for id in ids.iter().copied().filter(|id| seen.insert(*id)) {
            let rule = rules::SHIPPED.iter().find(|rule| rule().id == id).map(|rule| rule());
            let mut rule = rule.ok_or_else(|| unknown(id))?;
            if id == price_cooldown::ID {
                rule.prompt = price_cooldown::prompt(parameters.price_cooldown).into();
            }
            chosen.push(rule);
        }
        chosen.extend(own.into_iter().map(PatternRule::into_rule));
        Ok(Self { rules: chosen.into(), parameters })
    }

    /// Every shipped rule.
    pub fn shipped() -> Self {
        let rules: Vec<Rule> = rules::SHIPPED.iter().map(|rule| rule()).collect();
        Self { rules: rules.into(), parameters: Parameters::default() }
    }

    /// The rules, in the order they are checked.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether a reply may have to wait for its end before any of it is sent.
    pub fn buffers_whole_reply(&self) -> bool {
        self.rules.iter().any(|rule| rule.scope == Scope::Reply && rule.severity == Severity::Block)
    }

    /// Whether this reply has to wait: the red flag's rule holds nothing back while no flag is raised.
    pub fn buffers(&self, context: &Context) -> bool {
        let waits = |rule: &&Rule| rule.scope == Scope::Reply && rule.severity == Severity::Block;
        self.rules.iter().filter(waits).any(|rule| rules::awake(rule, context))
    }

    /// A check of a reply as it arrives.
    pub fn checker(&self, context: Context) -> Checker {
        Checker::new(self.clone(), context)
    }

    /// Checks a reply that is complete.
    pub fn check(&self, reply: &str, context: &Context) -> Verdict {
        let mut checker = self.checker(context.clone());
        let mut cleared = checker.push(reply);
        let last = checker.finish();
        cleared.pieces.extend(last.pieces);
        cleared.violations.extend(last.violations);
        Verdict { pieces: super::checker::joined(cleared.pieces), violations: cleared.violations }
    }

    pub(crate) fn parameters(&self) -> &Parameters {
        &self.parameters
    }
}

impl Rule {
    /// What this rule finds in some sentences.
    pub(crate) fn find(&self, view: &View<'_>) -> Vec<Found> {
        match &self.check {
            Check::Patterns(patterns, what) => {
                patterns.find(view.reading).into_iter().map(|span| Found::new(span, what)).collect()
            }
            Check::Sentences(check) => check(view),
            Check::Custom(compiled) => compiled.find(view.text),
            Check::Reply(_) => Vec::new(),
        }
    }
}

fn unknown(id: &str) -> UnknownRule {
    let known: Vec<String> = rules::SHIPPED.iter().map(|rule| rule().id.into_owned()).collect();
    UnknownRule { id: id.to_owned(), known: known.join(" ") }
}
