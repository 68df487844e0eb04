//! An agent and what it extends, as one, with where each value came from.

use std::collections::BTreeMap;

use munshi_types::tier::{Agent, TierKind, TierName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::draft::{Tier, TierBody};
use crate::error::{Error, Result};

/// A longer line of agents is a mistake.
pub(crate) const LONGEST_CHAIN: usize = 8;
/// Lists that are added to, so that no agent loses a rule of its base by naming one of its own.
pub const ADDED: [&str; 4] = ["guardrails", "rules", "policy.deny", "policy.ask"];

/// An agent with everything it extends.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedAgent {
    pub agent: Agent,
    pub body: TierBody,
    /// Who said it, by path; what nobody said is a default. Guardrails stand by their id: `guardrails.no-discount`.
    pub origins: BTreeMap<String, AgentValueOrigin>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentValueOrigin {
    Default,
    Agent(TierName),
}

/// Why a line of agents has no end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AgentChainError {
    #[error("there is no agent called {0}")]
    Missing(TierName),
    #[error("these agents extend each other in a cycle: {}", join_names(.0))]
    Circle(Vec<TierName>),
    #[error("the chain of `extends` has more than {LONGEST_CHAIN} agents")]
    TooLong,
}

fn join_names(names: &[TierName]) -> String {
    names.iter().map(TierName::as_str).collect::<Vec<_>>().join(" → ")
}

/// The agent and those it extends, the farthest first.
pub(crate) fn resolve_chain<'a>(
    name: &TierName,
    body: &'a TierBody,
    find: impl Fn(&TierName) -> Option<&'a TierBody>,
) -> Result<Vec<(TierName, &'a TierBody)>, AgentChainError> {
    let mut chain = vec![(name.clone(), body)];
    while let Some(base) = chain.last().and_then(|(_, body)| parse_extends(body)) {
        if chain.iter().any(|(known, _)| *known == base) {
            let names = chain.into_iter().map(|(name, _)| name).chain([base]);
            return Err(AgentChainError::Circle(names.collect()));
        }
        if chain.len() == LONGEST_CHAIN {
            return Err(AgentChainError::TooLong);
        }
        let found = find(&base).ok_or_else(|| AgentChainError::Missing(base.clone()))?;
        chain.push((base, found));
    }
    chain.reverse();
    Ok(chain)
}

pub(crate) fn parse_extends(body: &TierBody) -> Option<TierName> {
    body.get("extends")?.as_str()?.parse().ok()
}

/// Puts a line of agents together, the farthest first.
pub fn merge(chain: &[(TierName, &TierBody)]) -> Result<MergedAgent> {
    let mut body = Map::new();
    let mut origins = BTreeMap::new();
    for (name, part) in chain {
        for (key, value) in *part {
            merge_value(key, value, &mut body, key, name, &mut origins);
        }
    }
    let Tier::Agent(agent) = Tier::read(TierKind::Agent, &body)? else {
        return Err(Error::Unreadable("the stored tier is not an agent".to_owned()));
    };
    for path in leaves(&serde_json::to_value(&agent).unwrap_or_default()) {
        origins.entry(path).or_insert(AgentValueOrigin::Default);
    }
    Ok(MergedAgent { agent, body, origins })
}

/// Tables are laid over each other key by key, some lists are added to; everything else takes the place of what was there.
fn merge_value(
    key: &str,
    value: &Value,
    body: &mut TierBody,
    path: &str,
    name: &TierName,
    origins: &mut BTreeMap<String, AgentValueOrigin>,
) {
    match value {
        Value::Object(inner) => {
            let slot = body.entry(key).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(below) = slot {
                for (key, value) in inner {
                    merge_value(key, value, below, &format!("{path}.{key}"), name, origins);
                }
            }
        }
        Value::Array(items) if ADDED.contains(&path) => merge_list(key, items, body, path, name, origins),
        value => {
            body.insert(key.to_owned(), value.clone());
            origins.insert(path.to_owned(), AgentValueOrigin::Agent(name.clone()));
        }
    }
}

/// One with the same id takes the place of the base's, parameters and all.
fn merge_list(
    key: &str,
    items: &[Value],
    body: &mut TierBody,
    path: &str,
    name: &TierName,
    origins: &mut BTreeMap<String, AgentValueOrigin>,
) {
    let slot = body.entry(key).or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(list) = slot else { return };
    for item in items {
        let same = list.iter_mut().find(|known| id(known).is_some() && id(known) == id(item));
        match same {
            Some(known) => *known = item.clone(),
            None => list.push(item.clone()),
        }
        if let Some(id) = id(item) {
            origins.insert(format!("{path}.{id}"), AgentValueOrigin::Agent(name.clone()));
        }
    }
}

fn id(item: &Value) -> Option<&str> {
    item.as_str().or_else(|| item.get("id")?.as_str())
}

/// The paths of all that is no table, lists as a whole but for those with ids.
fn leaves(value: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    walk(value, "", &mut paths);
    paths
}

fn walk(value: &Value, path: &str, paths: &mut Vec<String>) {
    match value {
        Value::Object(inner) => {
            for (key, value) in inner {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(value, &path, paths);
            }
        }
        Value::Array(items) if ADDED.contains(&path) => {
            paths.extend(items.iter().filter_map(|item| Some(format!("{path}.{}", id(item)?))));
        }
        _ => paths.push(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body(value: &Value) -> TierBody {
        value.as_object().unwrap().clone()
    }

    fn name(text: &str) -> TierName {
        text.parse().unwrap()
    }

    #[test]
    fn the_nearest_word_wins_and_rules_are_added() {
        let base = body(&json!({
            "tools": ["a", "b"], "limits": { "tool_calls": 8, "profile": "compact" },
            "guardrails": ["no-secrets", { "id": "cooldown", "turns": 3 }],
        }));
        let own = body(&json!({
            "extends": "base", "tools": ["c"], "limits": { "tool_calls": 2 },
            "guardrails": ["no-ids", { "id": "cooldown", "turns": 4 }],
        }));
        let merged = merge(&[(name("base"), &base), (name("own"), &own)]).unwrap();
        assert_eq!(merged.agent.tools.len(), 1);
        assert_eq!(merged.agent.limits.tool_calls, 2);
        assert_eq!(merged.agent.limits.budgets().ceiling, 4_000);
        let rules: Vec<&str> = merged.agent.guardrails.iter().map(|rule| rule.id.as_str()).collect();
        assert_eq!(rules, ["no-secrets", "cooldown", "no-ids"]);
        assert_eq!(merged.agent.guardrails[1].parameters["turns"], 4);
        let origin = |path: &str| merged.origins[path].clone();
        assert_eq!(origin("limits.tool_calls"), AgentValueOrigin::Agent(name("own")));
        assert_eq!(origin("limits.profile"), AgentValueOrigin::Agent(name("base")));
        assert_eq!(origin("guardrails.no-secrets"), AgentValueOrigin::Agent(name("base")));
        assert_eq!(origin("guardrails.cooldown"), AgentValueOrigin::Agent(name("own")));
        assert_eq!(origin("memory.facts"), AgentValueOrigin::Default);
    }

    #[test]
    fn a_circle_and_a_gap_are_found() {
        let a = body(&json!({ "extends": "b" }));
        let b = body(&json!({ "extends": "a" }));
        let find = |wanted: &TierName| match wanted.as_str() {
            "a" => Some(&a),
            "b" => Some(&b),
            _ => None,
        };
        let circle = resolve_chain(&name("a"), &a, find).unwrap_err();
        assert_eq!(circle, AgentChainError::Circle(vec![name("a"), name("b"), name("a")]));
        assert_eq!(resolve_chain(&name("x"), &a, |_| None).unwrap_err(), AgentChainError::Missing(name("b")));
    }
}
