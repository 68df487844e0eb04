//! Whether every text fits its budget. Humans and teams are never trimmed, so what is too large is refused here.

use std::collections::{BTreeMap, BTreeSet};

use munshi_types::tier::{Binding, Budgets, TierKind, TierName};

use super::{After, Title, arms};
use crate::draft::{Draft, Tier};
use crate::merge::Merged;
use crate::problem::Problem;
use crate::size::measure;

pub(super) fn check(after: &After, agents: &BTreeMap<TierName, Merged>) -> Vec<Problem> {
    let sizes = Sizes { after, agents };
    let mut problems = Vec::new();
    let mut used: BTreeSet<Title> = BTreeSet::new();
    for draft in after.of_kind(TierKind::Binding) {
        let Ok(Tier::Binding(binding)) = Tier::read(draft.kind, &draft.body) else { continue };
        for (_, arm) in arms(&binding) {
            sizes.of_binding(draft, &arm, &mut problems);
            used.extend([(TierKind::Human, arm.human), (TierKind::Team, arm.team)]);
        }
    }
    for (name, merged) in agents {
        let (size, most) = (tokens(&Tier::Agent(merged.agent.clone())), merged.agent.limits.budgets().agent);
        if let Some(draft) = after.get(TierKind::Agent, name) {
            problems.extend(too_large(draft, size, most, ""));
        }
    }
    // One that no binding uses yet has the budget that most have.
    for (kind, most) in [(TierKind::Human, Budgets::RUNTIME.human), (TierKind::Team, Budgets::RUNTIME.team)] {
        for draft in after.of_kind(kind).filter(|draft| !used.contains(&(kind, draft.name.clone()))) {
            problems.extend(too_large(draft, sizes.of(kind, &draft.name), most, ""));
        }
    }
    problems
}

struct Sizes<'a> {
    after: &'a After,
    agents: &'a BTreeMap<TierName, Merged>,
}

impl Sizes<'_> {
    fn of_binding(&self, draft: &Draft, binding: &Binding, problems: &mut Vec<Problem>) {
        let Some(merged) = self.agents.get(&binding.agent) else { return };
        let budgets = merged.agent.limits.budgets();
        let given = format!(" that agent {} gives it in binding {}", binding.agent, draft.name);
        let (human, team) =
            (self.of(TierKind::Human, &binding.human), self.of(TierKind::Team, &binding.team));
        if let Some(draft) = self.after.get(TierKind::Human, &binding.human) {
            problems.extend(too_large(draft, human, budgets.human, &given));
        }
        if let Some(draft) = self.after.get(TierKind::Team, &binding.team) {
            problems.extend(too_large(draft, team, budgets.team, &given));
        }
        let together = human + team + tokens(&Tier::Agent(merged.agent.clone()));
        if let Some(system) = budgets.system.filter(|most| together > u64::from(*most)) {
            let what = format!(
                "human, team and agent have {together} tokens together, {} more than the {system} of agent {}",
                together - u64::from(system),
                binding.agent
            );
            problems.push(draft.problem("agent", what).hint("shorten them, or raise limits.tokens.system"));
        }
    }

    fn of(&self, kind: TierKind, name: &TierName) -> u64 {
        let tier = self.after.get(kind, name).and_then(|draft| Tier::read(kind, &draft.body).ok());
        tier.as_ref().map_or(0, tokens)
    }
}

fn tokens(tier: &Tier) -> u64 {
    measure(tier).total
}

fn too_large(draft: &Draft, size: u64, most: u32, given: &str) -> Option<Problem> {
    let over = size.checked_sub(u64::from(most)).filter(|over| *over > 0)?;
    let what = format!("{} {} has {size} tokens, {over} more than the {most}{given}", draft.kind, draft.name);
    let hint = format!("shorten it, or raise limits.tokens.{} of the agent", draft.kind);
    Some(draft.problem("", what).hint(hint))
}
