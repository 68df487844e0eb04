//! Whether every text fits its budget. Humans and teams are never trimmed, so what is too large is refused here.

use std::collections::BTreeSet;

use munshi_types::tier::{Agent, Human, PromptBudgets, Team, TierKind, TierRef};

use super::TierTitle;
use super::arms::{BindingArm, PlannedTiers};
use crate::draft::{Tier, TierDraft};
use crate::problem::FolderProblem;
use crate::prompt::{self, StaticPrompt};
use crate::token_counts::count_tier_tokens;

pub(super) fn check(tiers: &PlannedTiers<'_>) -> Vec<FolderProblem> {
    let mut problems = Vec::new();
    let mut used: BTreeSet<TierTitle> = BTreeSet::new();
    for (draft, arm) in tiers.arms() {
        problems.extend(check_arm(tiers, draft, &arm));
        let now = arm.tiers().into_iter().filter(|(_, _, tier)| tier.version.is_none());
        used.extend(now.map(|(kind, _, tier)| (kind, tier.name.clone())));
    }
    for (name, merged) in tiers.agents {
        let (size, most) = (tokens(&Tier::Agent(merged.agent.clone())), merged.agent.limits.budgets().agent);
        if let Some(draft) = tiers.after.get(TierKind::Agent, name) {
            problems.extend(check_size(draft, "", &draft_title(draft), size, most, ""));
        }
    }
    // One that no binding uses yet has the budget that most have.
    for (kind, most) in
        [(TierKind::Human, PromptBudgets::RUNTIME.human), (TierKind::Team, PromptBudgets::RUNTIME.team)]
    {
        for draft in
            tiers.after.drafts_of_kind(kind).filter(|draft| !used.contains(&(kind, draft.name.clone())))
        {
            let size = Tier::read(kind, &draft.body).map_or(0, |tier| tokens(&tier));
            problems.extend(check_size(draft, "", &draft_title(draft), size, most, ""));
        }
    }
    problems
}

fn check_arm(tiers: &PlannedTiers<'_>, binding: &TierDraft, arm: &BindingArm) -> Vec<FolderProblem> {
    let read = (tiers.human(&arm.human), tiers.team(&arm.team), tiers.agent(&arm.agent));
    let (Some(human), Some(team), Some(agent)) = read else { return Vec::new() };
    let budgets = agent.limits.budgets();
    let given = format!(" of agent {} in binding {}", arm.agent.name, binding.name);
    let sizes = [
        tokens(&Tier::Human(human.clone())),
        tokens(&Tier::Team(team.clone())),
        tokens(&Tier::Agent(agent.clone())),
    ];
    let mut problems = Vec::new();
    for ((kind, path, tier), size) in arm.tiers().into_iter().zip(sizes) {
        let (most, given) = match kind {
            TierKind::Human => (budgets.human, given.as_str()),
            TierKind::Team => (budgets.team, given.as_str()),
            // One that is in force is counted by itself.
            _ if tier.version.is_none() => continue,
            _ => (budgets.agent, ""),
        };
        let of = Named { kind, tier };
        problems.extend(match (tier.version, tiers.after.get(kind, &tier.name)) {
            (None, Some(draft)) => check_size(draft, "", &of.description(), size, most, given),
            _ => check_size(binding, &path, &of.description(), size, most, given),
        });
    }
    problems.extend(check_combined_size(binding, arm, sizes.iter().sum(), &budgets));
    if problems.is_empty() {
        problems.extend(check_message_room(binding, arm, &human, &team, &agent));
    }
    problems
}

fn check_combined_size(
    binding: &TierDraft,
    arm: &BindingArm,
    together: u64,
    budgets: &PromptBudgets,
) -> Option<FolderProblem> {
    let system = budgets.system.filter(|most| together > u64::from(*most))?;
    let what = format!(
        "human, team and agent have {together} tokens in total, {} over the limit of {system} of agent {}",
        together - u64::from(system),
        arm.agent.name
    );
    let hint = "shorten them, or raise limits.tokens.system";
    Some(binding.problem(&format!("{}agent", arm.path), what).hint(hint))
}

/// Budgets that leave no room for the shortest message make no prompt at all.
fn check_message_room(
    binding: &TierDraft,
    arm: &BindingArm,
    human: &Human,
    team: &Team,
    agent: &Agent,
) -> Option<FolderProblem> {
    let static_prompt = StaticPrompt::new(&prompt::PromptTiers { human, team, agent, installed: &[] });
    let needed = prompt::check_minimum_room(&static_prompt)?;
    let what = format!(
        "agent {} leaves no room for a message: the shortest prompt takes {} tokens and the limit is {}",
        arm.agent.name, needed.needed, needed.most
    );
    let hint = "raise limits.tokens.dynamic, or lower limits.tokens.output";
    Some(binding.problem(&format!("{}agent", arm.path), what).hint(hint))
}

fn tokens(tier: &Tier) -> u64 {
    count_tier_tokens(tier).total
}

struct Named<'a> {
    kind: TierKind,
    tier: &'a TierRef,
}

impl Named<'_> {
    fn description(&self) -> String {
        let Self { kind, tier } = self;
        match tier.version {
            Some(version) => format!("{kind} {}@{version}", tier.name),
            None => format!("{kind} {}", tier.name),
        }
    }
}

fn draft_title(draft: &TierDraft) -> String {
    format!("{} {}", draft.kind, draft.name)
}

fn check_size(
    draft: &TierDraft,
    path: &str,
    of: &str,
    size: u64,
    most: u32,
    given: &str,
) -> Option<FolderProblem> {
    let over = size.checked_sub(u64::from(most)).filter(|over| *over > 0)?;
    let what = format!("{of} has {size} tokens, {over} over the limit of {most}{given}");
    let kind = of.split(' ').next().unwrap_or_default();
    let shorten = if path.is_empty() { "shorten it" } else { "name a shorter version" };
    let hint = format!("{shorten}, or raise limits.tokens.{kind} of the agent");
    Some(draft.problem(path, what).hint(hint))
}
