//! The rules of a binding and the words of its prompt, read once for its versions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use munshi_conversations::Result;
use munshi_guardrails::{GuardrailRuleSet, PromptFingerprint};
use munshi_tiers::{BindingResolution, build_rule_set};
use munshi_types::TierId;
use munshi_types::tier::TierName;

/// More are not kept at once; a binding's come back with its next turn.
const KEPT: usize = 1_000;

#[derive(Clone, Debug)]
pub(crate) struct BindingRules {
    pub(crate) set: GuardrailRuleSet,
    /// What is the same in every turn.
    pub(crate) prompt: Arc<PromptFingerprint>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Versions {
    tiers: [(TierId, u32); 3],
    bases: Vec<(TierName, u32)>,
}

#[derive(Debug, Default)]
pub(crate) struct BindingRulesCache(Mutex<HashMap<Versions, BindingRules>>);

impl BindingRulesCache {
    pub(crate) fn get_or_build(&self, binding: &BindingResolution) -> Result<BindingRules> {
        let (human, team, agent) = (&binding.human, &binding.team, &binding.agent);
        let versions = Versions {
            tiers: [(human.id, human.version), (team.id, team.version), (agent.id, agent.version)],
            bases: agent.bases.clone(),
        };
        if let Some(known) = self.lock().get(&versions) {
            return Ok(known.clone());
        }
        let set = build_rule_set(&human.body, &team.body, &agent.body)?;
        let text: Vec<&str> = binding.static_prompt.blocks().map(|(_, text, _)| text).collect();
        let rules =
            BindingRules { set, prompt: Arc::new(PromptFingerprint::new(&text.join("\n"), Vec::new())) };
        let mut kept = self.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(versions, rules.clone());
        Ok(rules)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Versions, BindingRules>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
