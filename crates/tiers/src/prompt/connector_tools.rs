//! Tools that connectors bring: offered beside the agent's own while there is room.

use std::sync::Arc;

use munshi_types::{HAND_OVER, ToolName, ToolSpec};

use super::report::{PromptCut, PromptCutReason, PromptReport, PromptSection};
use super::static_prompt::StaticPrompt;
use super::turn_context::TurnContext;

/// Tools of connectors get at most one part in this many of the tokens that the tiers leave free, so that there is room
/// for the message.
const SHARE: u32 = 3;

/// All tools of a prompt: the static prompt's own, as far as the tenant has their packs, and of the others the first that fit. These stand by name, so that
/// the same choice is the same bytes.
pub(super) fn collect_tools(
    static_prompt: &StaticPrompt,
    turn: &TurnContext,
    report: &mut PromptReport,
) -> Vec<Arc<ToolSpec>> {
    let is_had = |tool: &ToolSpec| tool.name.as_str() == HAND_OVER || turn.packs.has(tool.module());
    let is_declared = |tool: &ToolSpec| match (&tool.consent, &turn.purposes) {
        (Some(purpose), Some(declared)) => declared.contains(purpose),
        _ => true,
    };
    let is_listed = |tool: &&Arc<ToolSpec>| is_had(tool) && is_declared(tool);
    let mut tools: Vec<Arc<ToolSpec>> = static_prompt.tools().iter().filter(is_listed).cloned().collect();
    // A name that two packs of the tenant have means neither, and no provider takes it twice.
    let names: Vec<ToolName> = tools.iter().map(|tool| tool.name.clone()).collect();
    tools.retain(|tool| names.iter().filter(|name| **name == tool.name).count() == 1);
    let own = report.tokens(PromptSection::ToolSchemas);
    let budget = static_prompt.budgets().tool_schemas.map_or(u32::MAX, |budget| budget.saturating_sub(own));
    let room = budget.min(report.most.saturating_sub(report.total) / SHARE);
    let (mut spent, mut guests) = (0_u32, Vec::new());
    for (at, guest) in turn.tools.iter().enumerate() {
        let fits = spent.saturating_add(guest.tokens) <= room;
        if fits && guests.len() < static_prompt.free_tool_slots() {
            spent += guest.tokens;
            guests.push(guest.tool.clone());
        } else {
            let why = if fits { PromptCutReason::Policy } else { PromptCutReason::SectionBudget };
            let index = static_prompt.tools().len() + at;
            report.cuts.push(PromptCut {
                section: PromptSection::ToolSchemas,
                index,
                tokens: guest.tokens,
                left: 0,
                why,
            });
        }
    }
    report.add(PromptSection::ToolSchemas, spent);
    guests.sort_by(|one, other| one.name.cmp(&other.name));
    tools.append(&mut guests);
    tools
}
