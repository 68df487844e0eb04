//! Three tiers as the stable part of a prompt: made once for their versions, then shared by every turn.

use std::sync::Arc;

use munshi_types::tier::{
    Agent, GuardrailRef, Human, HumanLanguages, MemoryPolicy, PromptBudgets, RecallMode, Team, TierKind,
};
use munshi_types::{ToolName, ToolSpec};

use super::blocks::{MissingTools, PromptBlock, build_agent_blocks, build_human_blocks, build_team_blocks};
use super::hand_over_tool::build_hand_over_tool;
use super::report::{PromptCut, PromptCutReason, PromptReport, PromptSection};
use super::text::count_prompt_tokens;
use super::turn_context::WRAPPING;
use crate::draft::Tier;
use crate::guardrail_rules;
use crate::precedence;

/// What a static prompt is made of.
#[derive(Clone, Copy, Debug)]
pub struct PromptTiers<'a> {
    pub human: &'a Human,
    pub team: &'a Team,
    /// With all that it extends.
    pub agent: &'a Agent,
    /// The tools that are installed; those the agent has and the team chose are offered.
    pub installed: &'a [Arc<ToolSpec>],
}

/// Human, team and agent as text, with the tokens of every block.
#[derive(Clone, Debug)]
pub struct StaticPrompt {
    blocks: Vec<PromptBlock>,
    /// The texts of human, team and agent, each as one.
    system: [String; 3],
    tools: Vec<Arc<ToolSpec>>,
    most_tools: u8,
    budgets: PromptBudgets,
    memory: MemoryPolicy,
    /// How many episodes are called to mind at most, and who says so.
    episodes: (u8, PromptCutReason),
    passages: u8,
    speech: HumanLanguages,
    /// Its shares and what was not offered, with which every turn's report begins.
    report: PromptReport,
}

impl StaticPrompt {
    pub fn new(tiers: &PromptTiers<'_>) -> Self {
        let PromptTiers { human, team, agent, installed } = *tiers;
        let budgets = agent.limits.budgets();
        let mut report = PromptReport::default();
        let tools = select_offered_tools(tiers, installed, &budgets, &mut report);
        let is_offered = |name: &&ToolName| tools.iter().any(|tool| name.means(tool));
        let missing = MissingTools::new(agent.tools.iter().partition(is_offered));
        let named = human.guardrails.iter().chain(&team.guardrails).chain(&agent.guardrails);
        let set = guardrail_rules::resolve_parameters(named);
        let by_tier = [
            build_human_blocks(human, &set),
            build_team_blocks(team, &set),
            build_agent_blocks(agent, &set, &missing),
        ];
        let system =
            by_tier.each_ref().map(|blocks| blocks.iter().map(|block| block.text.as_str()).collect());
        let blocks = by_tier.concat();
        blocks.iter().for_each(|block| report.add(block.section, block.text.tokens()));
        report.most = budgets.ceiling.saturating_sub(budgets.output.unwrap_or(0));
        Self {
            blocks,
            system,
            tools,
            most_tools: agent.limits.tools_offered,
            budgets,
            memory: agent.memory.clone(),
            episodes: episodes(team, agent),
            passages: agent.retrieval.passages,
            speech: human.speech.clone(),
            report,
        }
    }

    /// Its blocks in order, for storing and showing.
    pub fn blocks(&self) -> impl Iterator<Item = (PromptSection, &str, u32)> {
        self.blocks.iter().map(|block| (block.section, block.text.as_str(), block.text.tokens()))
    }

    /// What one of its tiers takes: to be held against the budget before it is ever used.
    pub fn tokens(&self, tier: TierKind) -> u32 {
        let of_tier = self.blocks.iter().filter(|block| block.section.tier() == tier);
        of_tier.map(|block| block.text.tokens()).sum()
    }

    pub const fn budgets(&self) -> &PromptBudgets {
        &self.budgets
    }

    pub(super) const fn system(&self) -> &[String; 3] {
        &self.system
    }

    pub(super) fn tools(&self) -> &[Arc<ToolSpec>] {
        &self.tools
    }

    /// How many tools may be offered beside its own.
    pub fn free_tool_slots(&self) -> usize {
        usize::from(self.most_tools).saturating_sub(self.tools.len())
    }

    pub(super) const fn memory(&self) -> &MemoryPolicy {
        &self.memory
    }

    pub(super) const fn episodes(&self) -> (u8, PromptCutReason) {
        self.episodes
    }

    pub(super) const fn passages(&self) -> u8 {
        self.passages
    }

    pub(super) const fn speech(&self) -> &HumanLanguages {
        &self.speech
    }

    pub(super) const fn report(&self) -> &PromptReport {
        &self.report
    }
}

/// A team may look back less far or farther, but not where the agent never does.
fn episodes(team: &Team, agent: &Agent) -> (u8, PromptCutReason) {
    match (agent.memory.recall, team.recall) {
        (RecallMode::Never, _) => (0, PromptCutReason::Policy),
        (_, Some(_)) => (precedence::recall_depth(team, agent), PromptCutReason::Depth),
        (_, None) => (precedence::recall_depth(team, agent), PromptCutReason::Policy),
    }
}

/// The blocks of one tier and their tokens, as every prompt has them. A binding has none. Other tiers may set another
/// number in this one's rules; it takes one token, whichever it is.
pub(crate) fn count_block_tokens(tier: &Tier) -> impl Iterator<Item = (PromptSection, u32)> {
    let set = |rules: &[GuardrailRef]| guardrail_rules::resolve_parameters(rules.iter());
    let blocks = match tier {
        Tier::Human(human) => build_human_blocks(human, &set(&human.guardrails)),
        Tier::Team(team) => build_team_blocks(team, &set(&team.guardrails)),
        Tier::Agent(agent) => build_agent_blocks(agent, &set(&agent.guardrails), &MissingTools::none(agent)),
        Tier::Binding(_) => Vec::new(),
    };
    blocks.into_iter().map(|block| (block.section, block.text.tokens()))
}

/// The tools in the agent's order, as many as may be offered and as fit their budget. The first are the core: a later
/// one never pushes an earlier one out.
fn select_offered_tools(
    tiers: &PromptTiers<'_>,
    installed: &[Arc<ToolSpec>],
    budgets: &PromptBudgets,
    report: &mut PromptReport,
) -> Vec<Arc<ToolSpec>> {
    let most = usize::from(tiers.agent.limits.tools_offered);
    let (mut tools, mut spent) = (Vec::new(), 0_u32);
    let chosen = precedence::select_tools(tiers.team, tiers.agent);
    // Who may hand over can, however many tools there are beside it.
    if let Some(tool) = build_hand_over_tool(tiers.team) {
        spent += tool_tokens(&tool);
        tools.push(Arc::new(tool));
    }
    let most = most.saturating_add(tools.len());
    let found = chosen.iter().flat_map(|name| installed.iter().filter(|tool| name.means(tool)));
    for (index, tool) in found.enumerate() {
        let size = tool_tokens(tool);
        let fits = budgets.tool_schemas.is_none_or(|budget| spent + size <= budget);
        if fits && tools.len() < most {
            spent += size;
            tools.push(tool.clone());
        } else {
            let why = if fits { PromptCutReason::Policy } else { PromptCutReason::SectionBudget };
            report.cuts.push(PromptCut {
                section: PromptSection::ToolSchemas,
                index,
                tokens: size,
                left: 0,
                why,
            });
        }
    }
    report.add(PromptSection::ToolSchemas, spent);
    tools
}

/// What describing a tool takes, as the gateway estimates it.
pub fn tool_tokens(tool: &ToolSpec) -> u32 {
    let texts = [tool.name.as_str(), &tool.description, &tool.model_parameters().to_string()];
    texts.iter().map(|text| count_prompt_tokens(text)).sum::<u32>() + WRAPPING
}
