//! Whether every rule that is named is there, and every rule of a tier's own can be read.

use std::collections::{BTreeMap, BTreeSet};

use munshi_toml::{QuotedValue, render_hint};
use munshi_types::tier::{GuardrailRef, TierKind, TierName};
use serde_json::Value;

use super::arms::{BindingArm, PlannedTiers};
use crate::draft::TierDraft;
use crate::guardrail_rules::{self, SHIPPED};
use crate::problem::FolderProblem;

pub(super) fn check(tiers: &PlannedTiers<'_>) -> Vec<FolderProblem> {
    let drafts = tiers.after.drafts.values().filter(|draft| draft.kind != TierKind::Binding);
    let mut problems: Vec<FolderProblem> = drafts.flat_map(check_draft).collect();
    for (draft, arm) in tiers.arms() {
        problems.extend(check_pinned(tiers, draft, &arm));
        problems.extend(check_duplicate_ids(tiers, draft, &arm));
    }
    problems
}

/// What is wrong with the rules of an old version, told where the version is named.
fn check_pinned(tiers: &PlannedTiers<'_>, binding: &TierDraft, arm: &BindingArm) -> Vec<FolderProblem> {
    let old = arm.tiers().into_iter().filter_map(|(kind, path, tier)| {
        let version = tier.version?;
        let body = tiers.body(kind, tier)?;
        let wrong = check_draft(&TierDraft::without_file(kind, tier.name.clone(), body.clone()))
            .into_iter()
            .next()?;
        let what = format!("{kind} {}@{version} can't be used: {}", tier.name, wrong.what);
        Some(binding.problem(&path, what).hint("name a newer version"))
    });
    old.collect()
}

/// One id for two rules: whoever reads the record could not tell which it was.
fn check_duplicate_ids(
    tiers: &PlannedTiers<'_>,
    binding: &TierDraft,
    arm: &BindingArm,
) -> Vec<FolderProblem> {
    let read = (tiers.human(&arm.human), tiers.team(&arm.team), tiers.agent(&arm.agent));
    let (Some(human), Some(team), Some(agent)) = read else { return Vec::new() };
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut problems = Vec::new();
    for ((kind, path, tier), rules) in arm.tiers().into_iter().zip([&human.rules, &team.rules, &agent.rules])
    {
        let called = format!("{kind} {}", tier.name);
        for id in rules.iter().filter_map(|rule| rule.get("id")?.as_str()) {
            match known.get(id).filter(|other| **other != called) {
                Some(other) => {
                    let what = format!("{other} and {called} both have a rule {}", QuotedValue(id));
                    problems.push(binding.problem(&path, what).hint("give one of the two another id"));
                }
                None => {
                    known.insert(id.to_owned(), called.clone());
                }
            }
        }
    }
    problems
}

fn check_draft(draft: &TierDraft) -> Vec<FolderProblem> {
    let list = |key: &str| draft.body.get(key).and_then(Value::as_array).into_iter().flatten().enumerate();
    let mut problems = Vec::new();
    for (at, rule) in list("guardrails") {
        let path = format!("guardrails[{at}]");
        problems.extend(check_shipped_rule(draft, &path, rule));
    }
    let mut ids = BTreeSet::new();
    for (at, rule) in list("rules") {
        let id = rule.get("id").and_then(Value::as_str).unwrap_or_default();
        if SHIPPED.contains_key(id) {
            let problem =
                draft.problem(&format!("rules[{at}]"), format!("{} is a shipped rule", QuotedValue(id)));
            problems.push(problem.hint("give yours another id, or name the shipped one in `guardrails`"));
        } else if !id.is_empty() && !ids.insert(id) {
            let problem =
                draft.problem(&format!("rules[{at}]"), format!("duplicate rule id {}", QuotedValue(id)));
            problems.push(problem.hint("give each rule a unique id"));
        }
        if let Err(error) = guardrail_rules::parse_pattern_rule(draft.kind.as_str(), rule) {
            problems.push(rule_problem(draft, &format!("rules[{at}]"), &error));
        }
    }
    problems
}

fn check_shipped_rule(draft: &TierDraft, path: &str, rule: &Value) -> Option<FolderProblem> {
    let rule: GuardrailRef = serde_json::from_value(rule.clone()).ok()?;
    if !SHIPPED.contains_key(&rule.id) {
        let known: Vec<&str> = SHIPPED.keys().map(String::as_str).collect();
        let hint = render_hint(&rule.id, known.clone(), &format!("the rules are {}", known.join(", ")));
        return Some(draft.problem(path, format!("there is no rule {}", QuotedValue(&rule.id))).hint(hint));
    }
    guardrail_rules::parse_cooldown_turns(&rule).err().map(|error| rule_problem(draft, path, &error))
}

/// The error says what is wrong, a colon, and what to do.
fn rule_problem(draft: &TierDraft, path: &str, error: &str) -> FolderProblem {
    match error.split_once(": ") {
        Some((what, hint)) => draft.problem(path, what).hint(hint),
        None => draft.problem(path, error).hint("docs/guardrails.md shows how a rule is written"),
    }
}

/// Bindings whose people wait for the whole reply, or those of a slice.
pub(super) fn warnings(tiers: &PlannedTiers<'_>) -> Vec<String> {
    let mut told: BTreeSet<&TierName> = BTreeSet::new();
    let mut warnings = Vec::new();
    for (draft, arm) in tiers.arms() {
        let read = (tiers.human(&arm.human), tiers.team(&arm.team), tiers.agent(&arm.agent));
        let (Some(human), Some(team), Some(agent)) = read else { continue };
        let waits =
            guardrail_rules::build_rule_set(&human, &team, &agent).is_ok_and(|set| set.buffers_whole_reply());
        if waits && told.insert(&draft.name) {
            let slice = arm.slice.map(|slice| format!(", slice {slice}")).unwrap_or_default();
            warnings.push(format!(
                "binding {}{slice}: a rule checks the whole reply, so the reply may not stream",
                draft.name
            ));
        }
    }
    warnings
}
