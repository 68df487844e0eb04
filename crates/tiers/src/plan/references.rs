//! Whether everything that is named is there.

use std::collections::{BTreeMap, BTreeSet};

use munshi_types::ToolName;
use munshi_types::tier::{Binding, Destination, SliceCandidate, Team, TierKind, TierName, TierRef};

use super::arms::{BindingArm, PlannedTiers, arms};
use super::{InstalledNames, PlannedTenant, StoredTenantState};
use crate::draft::{Tier, TierDraft};
use crate::merge::{self, AgentChainError, MergedAgent};
use crate::problem::FolderProblem;
use crate::shape::word_forms::RETIRED_USE;

/// Everything that refers to nothing.
pub(super) fn check(after: &PlannedTenant, state: &StoredTenantState) -> Vec<FolderProblem> {
    let mut problems = Vec::new();
    for draft in after.drafts.values() {
        match Tier::read(draft.kind, &draft.body) {
            Ok(Tier::Binding(binding)) => check_binding(draft, &binding, after, state, &mut problems),
            Ok(Tier::Team(team)) => check_team(draft, &team, after, &mut problems),
            Ok(Tier::Agent(_)) => problems.extend(check_agent(draft, after)),
            Ok(Tier::Human(_)) => {}
            Err(error) => problems.push(draft.problem("", error.to_string())),
        }
    }
    problems
}

fn check_binding(
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
    problems.extend(
        named.into_iter().filter_map(|(kind, path, name)| check_exists(draft, path, kind, name, after)),
    );
    let none = BTreeMap::new();
    let tiers = PlannedTiers { after, state, agents: &none };
    problems.extend(arms(binding).iter().filter_map(|arm| check_membership(draft, arm, &tiers)));
    let shares: u32 = binding.slices.iter().map(|slice| u32::from(slice.share)).sum();
    if shares > 100 {
        let problem = draft.problem("slices", format!("the shares of the slices add up to {shares}"));
        problems.push(problem.hint("reduce them to a total of at most 100"));
    }
    let mut names = BTreeSet::new();
    for (at, slice) in binding.slices.iter().enumerate() {
        if !names.insert(&slice.name) {
            let problem = draft
                .problem(&format!("slices[{at}].name"), format!("duplicate slice name `{}`", slice.name));
            problems.push(problem.hint("give each slice a unique name"));
        }
        problems.extend(check_slice(draft, at, &slice.candidate, after, state));
    }
}

fn check_slice(
    draft: &TierDraft,
    at: usize,
    candidate: &SliceCandidate,
    after: &PlannedTenant,
    state: &StoredTenantState,
) -> Vec<FolderProblem> {
    let path = |key: &str| format!("slices[{at}].{key}");
    match candidate {
        SliceCandidate::Binding(name) if *name == draft.name => {
            vec![
                draft
                    .problem(&path("binding"), "a slice can't use its own binding")
                    .hint("name another binding"),
            ]
        }
        SliceCandidate::Binding(name) => {
            check_exists(draft, &path("binding"), TierKind::Binding, name, after).into_iter().collect()
        }
        SliceCandidate::Tiers { human, team, agent } => {
            let named = [(TierKind::Human, human), (TierKind::Team, team), (TierKind::Agent, agent)];
            let found = named.into_iter().filter_map(|(kind, tier)| {
                let tier = tier.as_ref()?;
                let path = path(kind.as_str());
                check_exists(draft, &path, kind, &tier.name, after)
                    .or_else(|| check_version(draft, &path, kind, tier, state))
            });
            found.collect()
        }
    }
}

/// A version must be stored already: the one that is being made by this very plan is the tier as it is now.
fn check_version(
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
        0 => format!("{name} is being created: write \"{name}\" without a version"),
        _ => format!("it has versions 1 to {latest}; `munshi tier log` shows them"),
    };
    Some(draft.problem(path, format!("{kind} {name} has no version {version}")).hint(hint))
}

fn check_membership(draft: &TierDraft, arm: &BindingArm, tiers: &PlannedTiers<'_>) -> Option<FolderProblem> {
    let (human, team) = (&arm.human.name, tiers.team(&arm.team)?);
    tiers.after.get(TierKind::Human, human)?;
    if team.members.is_empty() || team.members.contains(human) {
        return None;
    }
    let name = &arm.team.name;
    let (what, hint) = match (arm.team.version, tiers.after.get(TierKind::Team, name)) {
        (None, Some(found)) => (
            format!("human {human} is not a member of team {name}"),
            format!("add \"{human}\" to `members` in {}", found.file),
        ),
        (version, _) => (
            format!(
                "human {human} was not a member of team {name} at version {}",
                version.unwrap_or_default()
            ),
            "name a version of the team that includes it, or another human".to_owned(),
        ),
    };
    Some(draft.problem(&format!("{}human", arm.path), what).hint(hint))
}

fn check_team(draft: &TierDraft, team: &Team, after: &PlannedTenant, problems: &mut Vec<FolderProblem>) {
    for (at, member) in team.members.iter().enumerate() {
        problems.extend(check_exists(draft, &format!("members[{at}]"), TierKind::Human, member, after));
    }
    for (at, handoff) in team.handoffs.iter().enumerate() {
        let path = format!("handoffs[{at}].to");
        let (kind, name) = match &handoff.to {
            Destination::Team(name) => (TierKind::Team, name),
            Destination::Binding(name) => (TierKind::Binding, name),
            Destination::Person => continue,
        };
        if kind == TierKind::Team && *name == draft.name {
            problems.push(draft.problem(&path, "a team can't hand off to itself").hint("name another team"));
        }
        problems.extend(check_exists(draft, &path, kind, name, after));
    }
    let Some(next) = &team.escalation.unanswered else { return };
    let is_named = team.handoffs.iter().any(|way| way.to == Destination::Team(next.clone()));
    if !is_named {
        let what = format!("team {} may not hand conversations to team {next}", draft.name);
        let hint = format!("add a handoff to \"{next}\", or remove `unanswered`: the agent goes on then");
        problems.push(draft.problem("escalation.unanswered", what).hint(hint));
    }
}

fn check_agent(draft: &TierDraft, after: &PlannedTenant) -> Option<FolderProblem> {
    let find = |name: &TierName| after.get(TierKind::Agent, name).map(|draft| &draft.body);
    match merge::resolve_chain(&draft.name, &draft.body, find).err()? {
        // The agent in between is told about by itself.
        AgentChainError::Missing(name) if merge::parse_extends(&draft.body).as_ref() == Some(&name) => {
            check_exists(draft, "extends", TierKind::Agent, &name, after)
        }
        AgentChainError::Missing(_) => None,
        circle @ AgentChainError::Circle(_) => {
            Some(draft.problem("extends", circle.to_string()).hint("remove `extends` from one of them"))
        }
        long @ AgentChainError::TooLong => {
            Some(draft.problem("extends", long.to_string()).hint("merge some of them"))
        }
    }
}

/// That nothing active goes by this name, and what to do.
fn check_exists(
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
        let hint = format!("restore {file} in the folder, or name another {kind}");
        return Some(draft.problem(path, format!("{kind} {name} is archived")).hint(hint));
    }
    let known: Vec<&str> = after.drafts_of_kind(kind).map(|draft| draft.name.as_str()).collect();
    let hint =
        munshi_toml::render_hint(name.as_str(), known, &format!("create {file}, or name another {kind}"));
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
        if merged.agent.models.uses.contains_key(RETIRED_USE) {
            warnings.insert(format!(
                "agent {name}: {RETIRED_USE} is no model use any more and does nothing: remove it"
            ));
        }
        let models = merged.agent.models.uses.values().flatten();
        for model in models.filter(|model| !installed.models.contains(*model)) {
            warnings.insert(format!("agent {name}: model {model} is not configured, so it is skipped"));
        }
    }
    for draft in after.drafts_of_kind(TierKind::Binding) {
        let Ok(Tier::Binding(binding)) = Tier::read(draft.kind, &draft.body) else { continue };
        let (name, Some(merged)) = (&draft.name, agents.get(&binding.agent)) else { continue };
        let Some(team) = after.get(TierKind::Team, &binding.team) else { continue };
        let Ok(Tier::Team(team)) = Tier::read(team.kind, &team.body) else { continue };
        let brings = |tool: &ToolName| {
            let connectors = &merged.agent.connectors;
            connectors.iter().any(|name| tool.as_str().starts_with(&format!("{name}_")))
        };
        let has = |tool: &ToolName| merged.agent.tools.iter().any(|own| own.overlaps(tool)) || brings(tool);
        for tool in team.tools.iter().flatten().filter(|tool| !has(tool)) {
            let agent = &binding.agent;
            warnings.insert(format!(
                "binding {name}: team {} uses {tool}, which agent {agent} does not have",
                binding.team
            ));
        }
    }
    warnings.into_iter().collect()
}
