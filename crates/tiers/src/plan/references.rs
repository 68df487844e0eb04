//! Whether everything that is named is there.

use std::collections::{BTreeMap, BTreeSet};

use munshi_types::ToolName;
use munshi_types::tier::{Binding, Destination, SliceCandidate, Team, TierKind, TierName, TierRef};

use super::arms::{BindingArm, PlannedTiers, arms};
use super::{InstalledNames, PlannedTenant, StoredTenantState};
use crate::draft::{Tier, TierDraft};
use crate::merge::{self, AgentChainError, MergedAgent};
use crate::nearest;
use crate::problem::FolderProblem;

/// Everything that refers to nothing.
pub(super) fn check(after: &PlannedTenant, state: &StoredTenantState) -> Vec<FolderProblem> {
    let mut problems = Vec::new();
    for draft in after.drafts.values() {
        match Tier::read(draft.kind, &draft.body) {
            Ok(Tier::Binding(binding)) => of_binding(draft, &binding, after, state, &mut problems),
            Ok(Tier::Team(team)) => of_team(draft, &team, after, &mut problems),
            Ok(Tier::Agent(_)) => problems.extend(of_agent(draft, after)),
            Ok(Tier::Human(_)) => {}
            Err(error) => problems.push(draft.problem("", error.to_string())),
        }
    }
    problems
}

fn of_binding(
    draft: &TierDraft,
    binding: &Binding,
    after: &PlannedTenant,
    state: &StoredTenantState,
    problems: &mut Vec<FolderProblem>,
) {
    let named = [
        (TierKind::Human, "human", &binding.human),
        (TierKind::Team, "team", &binding.team),
        (TierKind::Agent, "agent", &binding.agent),
    ];
    problems
        .extend(named.into_iter().filter_map(|(kind, path, name)| missing(draft, path, kind, name, after)));
    let none = BTreeMap::new();
    let tiers = PlannedTiers { after, state, agents: &none };
    problems.extend(arms(binding).iter().filter_map(|arm| not_a_member(draft, arm, &tiers)));
    let shares: u32 = binding.slices.iter().map(|slice| u32::from(slice.share)).sum();
    if shares > 100 {
        let problem = draft.problem("slices", format!("the slices have {shares} of a hundred people"));
        problems.push(problem.hint("make their shares smaller"));
    }
    let mut names = BTreeSet::new();
    for (at, slice) in binding.slices.iter().enumerate() {
        if !names.insert(&slice.name) {
            let problem = draft
                .problem(&format!("slices[{at}].name"), format!("there are two slices `{}`", slice.name));
            problems.push(problem.hint("give each its own name"));
        }
        problems.extend(of_slice(draft, at, &slice.candidate, after, state));
    }
}

fn of_slice(
    draft: &TierDraft,
    at: usize,
    candidate: &SliceCandidate,
    after: &PlannedTenant,
    state: &StoredTenantState,
) -> Vec<FolderProblem> {
    let path = |key: &str| format!("slices[{at}].{key}");
    match candidate {
        SliceCandidate::Binding(name) if *name == draft.name => {
            vec![draft.problem(&path("binding"), "this is the binding itself").hint("name another one")]
        }
        SliceCandidate::Binding(name) => {
            missing(draft, &path("binding"), TierKind::Binding, name, after).into_iter().collect()
        }
        SliceCandidate::Tiers { human, team, agent } => {
            let named = [(TierKind::Human, human), (TierKind::Team, team), (TierKind::Agent, agent)];
            let found = named.into_iter().filter_map(|(kind, tier)| {
                let tier = tier.as_ref()?;
                let path = path(kind.as_str());
                missing(draft, &path, kind, &tier.name, after)
                    .or_else(|| no_version(draft, &path, kind, tier, state))
            });
            found.collect()
        }
    }
}

/// A version must be stored already: the one that is being made by this very plan is the tier as it is now.
fn no_version(
    draft: &TierDraft,
    path: &str,
    kind: TierKind,
    tier: &TierRef,
    state: &StoredTenantState,
) -> Option<FolderProblem> {
    let version = tier.version?;
    let latest = state.tiers.get(&(kind, tier.name.clone())).map_or(0, |stored| stored.latest);
    if (1..=latest).contains(&version) {
        return None;
    }
    let name = &tier.name;
    let hint = match latest {
        0 => format!("{name} is only being made: write \"{name}\" without a version"),
        _ => format!("it has versions 1 to {latest}; `munshi tier log` shows them"),
    };
    Some(draft.problem(path, format!("{kind} {name} has no version {version}")).hint(hint))
}

fn not_a_member(draft: &TierDraft, arm: &BindingArm, tiers: &PlannedTiers<'_>) -> Option<FolderProblem> {
    let (human, team) = (&arm.human.name, tiers.team(&arm.team)?);
    tiers.after.get(TierKind::Human, human)?;
    if team.members.is_empty() || team.members.contains(human) {
        return None;
    }
    let name = &arm.team.name;
    let (what, hint) = match (arm.team.version, tiers.after.get(TierKind::Team, name)) {
        (None, Some(found)) => (
            format!("human {human} is no member of team {name}"),
            format!("add \"{human}\" to `members` in {}", found.file),
        ),
        (version, _) => (
            format!("human {human} was no member of team {name} at version {}", version.unwrap_or_default()),
            "name a version of the team that has it, or another human".to_owned(),
        ),
    };
    Some(draft.problem(&format!("{}human", arm.path), what).hint(hint))
}

fn of_team(draft: &TierDraft, team: &Team, after: &PlannedTenant, problems: &mut Vec<FolderProblem>) {
    for (at, member) in team.members.iter().enumerate() {
        problems.extend(missing(draft, &format!("members[{at}]"), TierKind::Human, member, after));
    }
    for (at, handoff) in team.handoffs.iter().enumerate() {
        let path = format!("handoffs[{at}].to");
        let (kind, name) = match &handoff.to {
            Destination::Team(name) => (TierKind::Team, name),
            Destination::Binding(name) => (TierKind::Binding, name),
        };
        if kind == TierKind::Team && *name == draft.name {
            problems.push(draft.problem(&path, "this is the team itself").hint("name another one"));
        }
        problems.extend(missing(draft, &path, kind, name, after));
    }
}

fn of_agent(draft: &TierDraft, after: &PlannedTenant) -> Option<FolderProblem> {
    let find = |name: &TierName| after.get(TierKind::Agent, name).map(|draft| &draft.body);
    match merge::chain(&draft.name, &draft.body, find).err()? {
        // The agent in between is told about by itself.
        AgentChainError::Missing(name) if merge::extended(&draft.body).as_ref() == Some(&name) => {
            missing(draft, "extends", TierKind::Agent, &name, after)
        }
        AgentChainError::Missing(_) => None,
        circle @ AgentChainError::Circle(_) => {
            Some(draft.problem("extends", circle.to_string()).hint("let one of them stand by itself"))
        }
        long @ AgentChainError::TooLong => {
            Some(draft.problem("extends", long.to_string()).hint("put some of them together"))
        }
    }
}

/// That nothing active goes by this name, and what to do.
fn missing(
    draft: &TierDraft,
    path: &str,
    kind: TierKind,
    name: &TierName,
    after: &PlannedTenant,
) -> Option<FolderProblem> {
    if after.get(kind, name).is_some() {
        return None;
    }
    let file = format!("{}/{name}.{}", kind.folder(), kind.extension());
    if after.archived.contains(&(kind, name.clone())) {
        let hint = format!("put {file} back into the folder, or name another {kind}");
        return Some(draft.problem(path, format!("{kind} {name} is archived")).hint(hint));
    }
    let known: Vec<&str> = after.of_kind(kind).map(|draft| draft.name.as_str()).collect();
    let hint = nearest::hint(name.as_str(), known, &format!("write {file}, or name another {kind}"));
    Some(draft.problem(path, format!("there is no {kind} called {name}")).hint(hint))
}

/// What works, but perhaps not as meant.
pub(super) fn warnings(
    after: &PlannedTenant,
    agents: &BTreeMap<TierName, MergedAgent>,
    installed: &InstalledNames,
) -> Vec<String> {
    let mut warnings = BTreeSet::new();
    for (name, merged) in agents {
        for tool in merged.agent.tools.iter().filter(|tool| !installed.tools.contains(tool.as_str())) {
            warnings.insert(format!("agent {name}: tool {tool} is not installed, so it is not offered"));
        }
        let models = merged.agent.models.uses.values().flatten();
        for model in models.filter(|model| !installed.models.contains(*model)) {
            warnings.insert(format!(
                "agent {name}: there is no model {model} in the settings, so it is passed over"
            ));
        }
    }
    for draft in after.of_kind(TierKind::Binding) {
        let Ok(Tier::Binding(binding)) = Tier::read(draft.kind, &draft.body) else { continue };
        let (name, Some(merged)) = (&draft.name, agents.get(&binding.agent)) else { continue };
        let Some(team) = after.get(TierKind::Team, &binding.team) else { continue };
        let Ok(Tier::Team(team)) = Tier::read(team.kind, &team.body) else { continue };
        let brings = |tool: &ToolName| {
            let connectors = &merged.agent.connectors;
            connectors.iter().any(|name| tool.as_str().starts_with(&format!("{name}_")))
        };
        let has = |tool: &ToolName| merged.agent.tools.contains(tool) || brings(tool);
        for tool in team.tools.iter().flatten().filter(|tool| !has(tool)) {
            let agent = &binding.agent;
            warnings.insert(format!(
                "binding {name}: team {} uses {tool}, which agent {agent} lacks",
                binding.team
            ));
        }
    }
    warnings.into_iter().collect()
}
