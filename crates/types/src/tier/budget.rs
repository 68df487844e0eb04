//! How much of the prompt each part may take, in tokens.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A known set of budgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptBudgetProfile {
    /// Room for each tier by itself; 7,700 tokens in all.
    #[default]
    Runtime,
    /// A small prompt for small models: 4,000 tokens with the answer.
    Compact,
}

impl FromStr for PromptBudgetProfile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "runtime" => Ok(Self::Runtime),
            "compact" => Ok(Self::Compact),
            other => Err(format!("unknown profile `{other}`: use runtime or compact")),
        }
    }
}

/// What an agent sets otherwise than its profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TokenLimits {
    pub human: Option<u32>,
    pub team: Option<u32>,
    pub agent: Option<u32>,
    pub dynamic: Option<u32>,
    pub envelope: Option<u32>,
    pub system: Option<u32>,
    pub tool_schemas: Option<u32>,
    pub profile: Option<u32>,
    pub memory: Option<u32>,
    pub history: Option<u32>,
    pub tool_results: Option<u32>,
    pub output: Option<u32>,
}

/// The budgets that apply. What a part has none for is bounded by the whole alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PromptBudgets {
    /// Never trimmed: a tier that is larger is refused when it is applied.
    pub human: u32,
    pub team: u32,
    /// The agent's own text: guidance and technical guardrails.
    pub agent: u32,
    /// Memory, documents and history together.
    pub dynamic: u32,
    /// The time, the place, the channel, and the wrapping of the message.
    pub envelope: u32,
    /// Human, team and agent together, where they share one budget.
    pub system: Option<u32>,
    pub tool_schemas: Option<u32>,
    pub profile: Option<u32>,
    pub memory: Option<u32>,
    pub history: Option<u32>,
    pub tool_results: Option<u32>,
    /// Kept free for the answer.
    pub output: Option<u32>,
    /// The prompt and the room for the answer; nothing goes past it.
    pub ceiling: u32,
}

impl PromptBudgets {
    pub const RUNTIME: Self = Self {
        human: 800,
        team: 1_200,
        agent: 1_500,
        dynamic: 4_000,
        envelope: 200,
        system: None,
        tool_schemas: None,
        profile: None,
        memory: None,
        history: None,
        tool_results: None,
        output: None,
        ceiling: 7_700,
    };

    pub const COMPACT: Self = Self {
        human: 800,
        team: 1_200,
        agent: 1_200,
        dynamic: 1_450,
        envelope: 200,
        system: Some(1_200),
        tool_schemas: Some(800),
        profile: None,
        memory: Some(250),
        history: None,
        tool_results: Some(700),
        output: Some(350),
        ceiling: 4_000,
    };

    pub const fn from_profile(profile: PromptBudgetProfile) -> Self {
        match profile {
            PromptBudgetProfile::Runtime => Self::RUNTIME,
            PromptBudgetProfile::Compact => Self::COMPACT,
        }
    }

    /// The profile's budgets with what the agent says otherwise. The runtime ceiling moves with its parts; the compact
    /// one is a promise and stays.
    pub fn from_limits(profile: PromptBudgetProfile, said: &TokenLimits) -> Self {
        let base = Self::from_profile(profile);
        let mut budgets = Self {
            human: said.human.unwrap_or(base.human),
            team: said.team.unwrap_or(base.team),
            agent: said.agent.unwrap_or(base.agent),
            dynamic: said.dynamic.unwrap_or(base.dynamic),
            envelope: said.envelope.unwrap_or(base.envelope),
            system: said.system.or(base.system),
            tool_schemas: said.tool_schemas.or(base.tool_schemas),
            profile: said.profile.or(base.profile),
            memory: said.memory.or(base.memory),
            history: said.history.or(base.history),
            tool_results: said.tool_results.or(base.tool_results),
            output: said.output.or(base.output),
            ceiling: base.ceiling,
        };
        if profile == PromptBudgetProfile::Runtime {
            let output = budgets.output.unwrap_or(0);
            let parts =
                [budgets.human, budgets.team, budgets.agent, budgets.dynamic, budgets.envelope, output];
            budgets.ceiling = parts.into_iter().fold(0, u32::saturating_add);
        }
        budgets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_itself_until_something_is_said() {
        for profile in [PromptBudgetProfile::Runtime, PromptBudgetProfile::Compact] {
            assert_eq!(
                PromptBudgets::from_limits(profile, &TokenLimits::default()),
                PromptBudgets::from_profile(profile)
            );
        }
        let more = TokenLimits { human: Some(1_000), ..TokenLimits::default() };
        assert_eq!(PromptBudgets::from_limits(PromptBudgetProfile::Runtime, &more).ceiling, 7_900);
        assert_eq!(PromptBudgets::from_limits(PromptBudgetProfile::Compact, &more).ceiling, 4_000);
        let answer = TokenLimits { output: Some(8_000), ..TokenLimits::default() };
        assert_eq!(
            PromptBudgets::from_limits(PromptBudgetProfile::Runtime, &answer).ceiling,
            15_700,
            "the prompt keeps its room"
        );
    }
}
