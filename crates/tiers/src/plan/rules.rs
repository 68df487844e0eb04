//! Whether every rule that is named is there, and every rule of a tier's own can be read.

use std::collections::BTreeMap;

use munshi_types::tier::{GuardrailRef, TierKind, TierName};
use serde_json::Value;

use super::After;
use crate::draft::{Draft, Tier};
use crate::merge::Merged;
use crate::nearest;
use crate::problem::{Problem, Quoted};
use crate::rulebook::{self, SHIPPED};

pub(super) fn check(after: &After) -> Vec<Problem> {
    after.drafts.values().filter(|draft| draft.kind != TierKind::Binding).flat_map(of_draft).collect()
}

fn of_draft(draft: &Draft) -> Vec<Problem> {
    let list = |key: &str| draft.body.get(key).and_then(Value::as_array).into_iter().flatten().enumerate();
    let mut problems = Vec::new();
    for (at, rule) in list("guardrails") {
        let path = format!("guardrails[{at}]");
        problems.extend(named(draft, &path, rule));
    }
    for (at, rule) in list("rules") {
        if let Err(error) = rulebook::pattern(draft.kind.as_str(), rule) {
            problems.push(refused(draft, &format!("rules[{at}]"), &error));
        }
    }
    problems
}

fn named(draft: &Draft, path: &str, rule: &Value) -> Option<Problem> {
    let rule: GuardrailRef = serde_json::from_value(rule.clone()).ok()?;
    if !SHIPPED.contains_key(&rule.id) {
        let known: Vec<&str> = SHIPPED.keys().map(String::as_str).collect();
        let hint = nearest::hint(&rule.id, known.clone(), &format!("the rules are {}", known.join(", ")));
        return Some(draft.problem(path, format!("there is no rule {}", Quoted(&rule.id))).hint(hint));
    }
    rulebook::turns(&rule).err().map(|error| refused(draft, path, &error))
}

/// The error says what is wrong, a colon, and what to do.
fn refused(draft: &Draft, path: &str, error: &str) -> Problem {
    match error.split_once(": ") {
        Some((what, hint)) => draft.problem(path, what).hint(hint),
        None => draft.problem(path, error).hint("docs/guardrails.md shows how a rule is written"),
    }
}

/// Bindings whose people wait for the whole reply.
pub(super) fn warnings(after: &After, agents: &BTreeMap<TierName, Merged>) -> Vec<String> {
    let waits = after.of_kind(TierKind::Binding).filter_map(|draft| {
        let Ok(Tier::Binding(binding)) = Tier::read(draft.kind, &draft.body) else { return None };
        let read = |kind, name: &TierName| Tier::read(kind, &after.get(kind, name)?.body).ok();
        let Tier::Human(human) = read(TierKind::Human, &binding.human)? else { return None };
        let Tier::Team(team) = read(TierKind::Team, &binding.team)? else { return None };
        let set = rulebook::rule_set(&human, &team, &agents.get(&binding.agent)?.agent).ok()?;
        set.buffers_whole_reply().then(|| {
            format!(
                "binding {}: a rule may hold a reply back until its end, so it may come at once",
                draft.name
            )
        })
    });
    waits.collect()
}
