//! Whether agents' tools are there, and each name means one of them.

use std::collections::{BTreeMap, BTreeSet};

use munshi_types::ToolName;
use munshi_types::tier::{TierKind, TierName};

use super::{InstalledNames, PlannedInstallation, PlannedTenant};
use crate::merge::MergedAgent;
use crate::problem::FolderProblem;

/// Names that mean several tools: of packs that the tenant has, or of one agent.
pub(super) fn check(
    after: &PlannedTenant,
    agents: &BTreeMap<TierName, MergedAgent>,
    installed: PlannedInstallation<'_>,
) -> Vec<FolderProblem> {
    let mut problems = Vec::new();
    for (name, merged) in agents {
        let Some(draft) = after.get(TierKind::Agent, name) else { continue };
        let tools = &merged.agent.tools;
        for (at, tool) in tools.iter().enumerate() {
            if let Some(twin) = tools.iter().take(at).find(|twin| *twin != tool && twin.bare() == tool.bare())
            {
                let what = format!("{twin} and {tool} have the same name to a model");
                problems.push(draft.problem("tools", what).hint("keep one of them"));
            }
            let found = list_of_tenant(tool, installed);
            if installed.packs.is_some() && found.len() > 1 {
                let packs: Vec<&str> = found.iter().filter_map(|one| one.pack()).collect();
                let full: Vec<String> = found.iter().map(ToString::to_string).collect();
                let what = format!("several packs have a tool called {tool}: {}", packs.join(", "));
                let hint = format!("write {}", full.join(" or "));
                problems.push(draft.problem("tools", what).hint(hint));
            }
        }
    }
    problems
}

/// Tools that are not there, or not for this tenant.
pub(super) fn warnings(
    agents: &BTreeMap<TierName, MergedAgent>,
    installed: PlannedInstallation<'_>,
) -> BTreeSet<String> {
    let mut warnings = BTreeSet::new();
    for (name, merged) in agents {
        for tool in merged.agent.tools.iter().filter(|tool| list_of_tenant(tool, installed).is_empty()) {
            let why = match list_installed(tool, installed.names).next().and_then(ToolName::pack) {
                Some(pack) => format!("is of pack {pack}, which policy.toml does not list"),
                None => "is not installed".to_owned(),
            };
            warnings.insert(format!("agent {name}: tool {tool} {why}, so it is not offered"));
        }
    }
    warnings
}

/// The tools that a name means and the tenant has.
fn list_of_tenant<'i>(tool: &ToolName, installed: PlannedInstallation<'i>) -> Vec<&'i ToolName> {
    let is_listed = |one: &&ToolName| match (installed.packs, one.pack()) {
        (Some(packs), Some(pack)) => packs.has(pack),
        _ => true,
    };
    list_installed(tool, installed.names).filter(is_listed).collect()
}

fn list_installed<'i>(tool: &ToolName, installed: &'i InstalledNames) -> impl Iterator<Item = &'i ToolName> {
    installed.tools.iter().filter(move |one| one.overlaps(tool))
}
