//! What applying a folder would do, found out before anything is done.
//!
//! # Layout
//! - `arms`: a binding as each part of its people has it
//! - `changes`: the difference between what is stored and what is wanted, field by field
//! - `references`: whether everything that is named is there; `tools`: whether tools are, and each name means one; `token_budgets`: whether every text fits its budget
//! - `routing_keys`: which addresses lead where; `rules`: whether guardrails can be checked; `display`: the plan for people to read

mod arms;
mod changes;
mod display;
mod references;
mod routing_keys;
mod rules;
mod token_budgets;
mod tools;

use std::collections::{BTreeMap, BTreeSet};

use munshi_types::tier::{RoutingKey, TierKind, TierName, TierStatus};
use munshi_types::{TenantId, TenantName, TenantPacks, TierId, ToolName};
use serde::{Deserialize, Serialize};

pub(crate) use arms::list_pins;
pub use changes::{DiffLine, FieldChange, TierAction, TierChange, diff_fields};
pub(crate) use routing_keys::{TenantAddresses, list_wanted_keys};

use crate::draft::{TierBody, TierDraft};
use crate::error::Result;
use crate::folder_extension::ExtensionChange;
use crate::problem::FolderProblems;
use crate::token_counts::TierTokenCounts;

/// A tier by its kind and name.
pub type TierTitle = (TierKind, TierName);

/// A tier as it is stored: its head, and the body of the version in force.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTier {
    pub id: TierId,
    pub kind: TierKind,
    pub name: TierName,
    pub status: TierStatus,
    pub version: u32,
    pub latest: u32,
    pub body: TierBody,
    pub tokens: TierTokenCounts,
}

/// Everything stored of a tenant that a plan must know.
#[derive(Clone, Debug, Default)]
pub struct StoredTenantState {
    /// None where the tenant is to be made.
    pub tenant: Option<TenantId>,
    pub tiers: BTreeMap<TierTitle, StoredTier>,
    /// Versions that slices hold on to.
    pub pinned: BTreeMap<(TierTitle, u32), TierBody>,
    /// Wanted addresses that lead to other tenants, and where.
    pub taken: BTreeMap<RoutingKey, (TenantId, TierId)>,
    /// Wanted handles by which another tenant's binding is found as yet.
    pub shadowing: BTreeSet<RoutingKey>,
    /// Wanted addresses that another tenant of the same plan wants too.
    pub claimed: BTreeMap<RoutingKey, TenantName>,
}

/// What is there to be used.
#[derive(Clone, Debug, Default)]
pub struct InstalledNames {
    /// As `pack.tool`, or bare where no pack brings it. One that is not among them is warned of, and is not offered.
    pub tools: BTreeSet<ToolName>,
    /// The installation's models. One that is not among them is warned of, and passed over.
    pub models: BTreeSet<String>,
}

/// What is there to be used by the tenant of a plan.
#[derive(Clone, Copy)]
pub struct PlannedInstallation<'a> {
    pub names: &'a InstalledNames,
    /// The packs it will have; none where the plan does not know.
    pub packs: Option<&'a TenantPacks>,
}

/// What to do about tiers that are stored but not in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VanishedTierPolicy {
    Keep,
    Archive,
}

/// What is going to be done, and what it was planned upon. Applying it to anything else is refused. One that is read from
/// JSON is for showing alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApplyPlan {
    pub tenant: TenantName,
    /// The tenant is to be made.
    pub is_new: bool,
    pub changes: Vec<TierChange>,
    /// What happens to files that are no tiers, such as `policy.toml`.
    pub files: Vec<ExtensionChange>,
    /// Stored and active, but not in the folder; they stay as they are.
    pub left: Vec<String>,
    /// Files that are no tiers and are not in the folder, though something like them is in force; that stays.
    pub left_files: Vec<String>,
    pub warnings: Vec<String>,
    /// False where it was read from JSON.
    #[serde(skip)]
    pub(crate) is_own: bool,
    /// The version whose words the one tier gets again, where that is what the plan is for.
    #[serde(skip)]
    pub(crate) back_to: Option<u32>,
    #[serde(skip)]
    pub(crate) id: Option<TenantId>,
    #[serde(skip)]
    pub(crate) seen: BTreeMap<TierTitle, (TierId, u32, TierStatus)>,
    /// The connectors that agents name, and which do.
    #[serde(skip)]
    pub(crate) connectors: BTreeMap<String, BTreeSet<TierName>>,
    /// Every address of every active binding, once all is done.
    #[serde(skip)]
    pub(crate) keys: BTreeMap<RoutingKey, TierName>,
}

impl ApplyPlan {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.files.is_empty() && !self.is_new
    }
}

/// Compares what is wanted with what is stored. Everything that is wrong is told at once.
pub fn plan(
    tenant: &TenantName,
    state: &StoredTenantState,
    wanted: &[TierDraft],
    vanished: VanishedTierPolicy,
    installed: PlannedInstallation<'_>,
) -> Result<ApplyPlan> {
    let after = PlannedTenant::new(state, wanted, vanished);
    let mut problems = references::check(&after, state);
    let agents = after.agents();
    let tiers = arms::PlannedTiers { after: &after, state, agents: &agents };
    problems.extend(tools::check(&after, &agents, installed));
    problems.extend(rules::check(&tiers));
    problems.extend(token_budgets::check(&tiers));
    let (keys, clashes) = routing_keys::check(&after, state);
    problems.extend(clashes);
    FolderProblems::ensure_none(problems)?;
    let changes = changes::list(state, wanted, vanished, &agents)?;
    let left = if vanished == VanishedTierPolicy::Keep {
        after.list_missing_from_folder(wanted)
    } else {
        Vec::new()
    };
    let mut warnings = references::warnings(&after, &agents, installed.names);
    warnings.extend(tools::warnings(&agents, installed));
    warnings.extend(rules::warnings(&tiers));
    let mut connectors: BTreeMap<String, BTreeSet<TierName>> = BTreeMap::new();
    for (name, merged) in &agents {
        for connector in &merged.agent.connectors {
            connectors.entry(connector.to_string()).or_default().insert(name.clone());
        }
    }
    Ok(ApplyPlan {
        connectors,
        tenant: tenant.clone(),
        is_new: state.tenant.is_none(),
        changes,
        files: Vec::new(),
        left,
        left_files: Vec::new(),
        warnings,
        is_own: true,
        back_to: None,
        id: state.tenant,
        seen: state
            .tiers
            .iter()
            .map(|(title, tier)| (title.clone(), (tier.id, tier.version, tier.status)))
            .collect(),
        keys,
    })
}

/// The tenant as it would be: every active tier as a draft, whether it comes from a file or was there.
pub(crate) struct PlannedTenant {
    pub(crate) drafts: BTreeMap<TierTitle, TierDraft>,
    /// Archived ones, to tell them from those that never were.
    pub(crate) archived: BTreeSet<TierTitle>,
}

impl PlannedTenant {
    fn new(state: &StoredTenantState, wanted: &[TierDraft], vanished: VanishedTierPolicy) -> Self {
        let mut drafts: BTreeMap<TierTitle, TierDraft> =
            wanted.iter().map(|draft| ((draft.kind, draft.name.clone()), draft.clone())).collect();
        let mut archived = BTreeSet::new();
        for (title, tier) in &state.tiers {
            if drafts.contains_key(title) {
                continue;
            }
            if tier.status == TierStatus::Active && vanished == VanishedTierPolicy::Keep {
                let draft = TierDraft::without_file(tier.kind, tier.name.clone(), tier.body.clone());
                drafts.insert(title.clone(), draft);
            } else {
                archived.insert(title.clone());
            }
        }
        Self { drafts, archived }
    }

    pub(crate) fn get(&self, kind: TierKind, name: &TierName) -> Option<&TierDraft> {
        self.drafts.get(&(kind, name.clone()))
    }

    pub(crate) fn drafts_of_kind(&self, kind: TierKind) -> impl Iterator<Item = &TierDraft> {
        self.drafts.values().filter(move |draft| draft.kind == kind)
    }

    /// Every agent put together with what it extends, as far as that can be done.
    fn agents(&self) -> BTreeMap<TierName, crate::merge::MergedAgent> {
        let find = |name: &TierName| self.get(TierKind::Agent, name).map(|draft| &draft.body);
        let merged = self.drafts_of_kind(TierKind::Agent).filter_map(|draft| {
            let chain = crate::merge::resolve_chain(&draft.name, &draft.body, find).ok()?;
            Some((draft.name.clone(), crate::merge::merge(&chain).ok()?))
        });
        merged.collect()
    }

    fn list_missing_from_folder(&self, wanted: &[TierDraft]) -> Vec<String> {
        let named: BTreeSet<TierTitle> =
            wanted.iter().map(|draft| (draft.kind, draft.name.clone())).collect();
        let left = self.drafts.keys().filter(|title| !named.contains(*title));
        left.map(|(kind, name)| format!("{kind} {name}")).collect()
    }
}
