//! The agent: the machinery under a human and its team.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::budget::{PromptBudgetProfile, PromptBudgets, TokenLimits};
use super::{GuardrailRef, MemoryPolicy, Retrieval, TierName};
use crate::policy::Conduct;
use crate::tool::{ConnectorName, ToolName};

/// Models, tools, memory and limits. Its guardrails are the hard ones: no team and no human goes past them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Agent {
    /// As people see it: `Standard productivity`.
    pub name: String,
    /// The agent it starts from. What it says itself wins; guardrails and rules are added.
    pub extends: Option<TierName>,
    pub models: AgentModels,
    pub tools: Vec<ToolName>,
    /// Connectors of the tenant whose tools it has too; for each message the most fitting are offered.
    pub connectors: Vec<ConnectorName>,
    /// How to use the tools, as prose: the last words before the cache boundary.
    pub guidance: String,
    pub memory: MemoryPolicy,
    pub retrieval: Retrieval,
    pub limits: AgentLimits,
    /// How far it goes by itself, and which scopes are open to it.
    pub policy: Conduct,
    pub guardrails: Vec<GuardrailRef>,
    /// Pattern rules of its own, as they were written; those who check replies read them.
    pub rules: Vec<Value>,
}

/// Which models are asked for what. Empty leaves it to the installation's own routes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentModels {
    /// None leaves it to the installation.
    pub strategy: Option<RouteStrategy>,
    /// Names of models by use (`default`, `cheap`, `multilingual` …), the first choice first.
    pub uses: BTreeMap<String, Vec<String>>,
    /// Where data may go, in the installation's own words; none permits what the installation permits.
    pub residency: Vec<String>,
    /// Words that ask for more than a quick answer; the hybrid strategy looks for them.
    pub escalation_words: Vec<String>,
    /// The model of this machine answers first where it is at least this sure, in thousandths.
    pub sure_above: Option<u16>,
    /// Whether what plainly asks for a tool that needs no model is answered by templates; none leaves it to the installation.
    pub templates: Option<bool>,
}

/// How the class of model is chosen; the gateway's strategies by their own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteStrategy {
    Rule,
    Classifier,
    Hybrid,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentLimits {
    pub profile: PromptBudgetProfile,
    /// What differs from the profile.
    pub tokens: TokenLimits,
    /// How many times tools may be called in a turn: 4 in a chat, up to 20 in an investigation.
    pub tool_calls: u8,
    /// How many tools are offered at once.
    pub tools_offered: u8,
    /// After so many failures of one tool the turn says so and stops.
    pub tool_failures: u8,
    /// How long a turn may take.
    pub turn_seconds: u16,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self {
            profile: PromptBudgetProfile::default(),
            tokens: TokenLimits::default(),
            tool_calls: 4,
            tools_offered: 12,
            tool_failures: 2,
            turn_seconds: 120,
        }
    }
}

impl AgentLimits {
    pub fn budgets(&self) -> PromptBudgets {
        PromptBudgets::from_limits(self.profile, &self.tokens)
    }
}
