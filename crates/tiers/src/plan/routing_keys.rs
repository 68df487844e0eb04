//! Which addresses lead where.

use std::collections::{BTreeMap, BTreeSet};

use munshi_types::tier::{RoutingKey, TierKind, TierName};
use munshi_types::{TenantId, TenantName, TierId};

use super::{PlannedTenant, StoredTenantState, VanishedTierPolicy};
use crate::draft::{Tier, TierDraft};
use crate::problem::FolderProblem;

/// Every address of every active binding, and those that can't lead where they are wanted.
pub(super) fn check(
    after: &PlannedTenant,
    state: &StoredTenantState,
) -> (BTreeMap<RoutingKey, TierName>, Vec<FolderProblem>) {
    let mut keys: BTreeMap<RoutingKey, TierName> = BTreeMap::new();
    let mut problems = Vec::new();
    for draft in after.drafts_of_kind(TierKind::Binding) {
        for (at, key) in list_draft_keys(draft).into_iter().enumerate() {
            let path = format!("keys[{at}]");
            problems.extend(check_ownership(draft, &path, &key, state));
            match keys.get(&key) {
                Some(other) if *other == draft.name => {
                    problems.push(
                        draft.problem(&path, format!("{key} is listed twice")).hint("remove one of them"),
                    );
                }
                Some(other) => {
                    let problem = draft.problem(&path, format!("{key} already routes to binding {other}"));
                    problems
                        .push(problem.hint("an address routes to one binding: remove it from one of them"));
                }
                None => {
                    keys.insert(key, draft.name.clone());
                }
            }
        }
    }
    (keys, problems)
}

fn check_ownership(
    draft: &TierDraft,
    path: &str,
    key: &RoutingKey,
    state: &StoredTenantState,
) -> Option<FolderProblem> {
    let once = "an address routes to one binding across all tenants: remove it";
    if state.taken.contains_key(key) {
        let problem = draft.problem(path, format!("{key} already routes to another tenant"));
        return Some(problem.hint(format!("{once} there first")));
    }
    if state.shadowing.contains(key) {
        let what = format!(
            "{key} is the name of another tenant's binding and would take its page /c/{}",
            key.text()
        );
        return Some(draft.problem(path, what).hint("choose another handle"));
    }
    let other = state.claimed.get(key)?;
    Some(
        draft
            .problem(path, format!("tenant {other} also claims {key}"))
            .hint(format!("{once} from one of them")),
    )
}

/// The addresses that a tenant would hold.
pub(crate) struct TenantAddresses {
    tenant: Option<TenantId>,
    name: TenantName,
    wanted: BTreeSet<RoutingKey>,
    /// Archived bindings keep theirs.
    archived: BTreeSet<TierId>,
}

impl TenantAddresses {
    pub(crate) fn new(
        name: &TenantName,
        state: &StoredTenantState,
        wanted: &[TierDraft],
        vanished: VanishedTierPolicy,
    ) -> Self {
        let after = PlannedTenant::new(state, wanted, vanished);
        let archived = after.archived.iter().filter_map(|title| state.tiers.get(title));
        Self {
            tenant: state.tenant,
            name: name.clone(),
            wanted: after.drafts_of_kind(TierKind::Binding).flat_map(list_draft_keys).collect(),
            archived: archived.map(|tier| tier.id).collect(),
        }
    }

    fn keeps(&self, key: &RoutingKey, binding: TierId) -> bool {
        self.wanted.contains(key) || self.archived.contains(&binding)
    }
}

impl StoredTenantState {
    /// Holds the addresses against what the others of the same plan would hold, and not against what they hold now.
    /// `before` are those that come first: where two want what nobody has, the later one is told.
    pub(crate) fn reconcile_addresses(&mut self, all: &[TenantAddresses], before: &[TenantAddresses]) {
        self.taken.retain(|key, (tenant, binding)| {
            all.iter()
                .find(|other| other.tenant == Some(*tenant))
                .is_none_or(|other| other.keeps(key, *binding))
        });
        let own = self.tenant;
        let others = before.iter().filter(|other| other.tenant.is_none() || other.tenant != own);
        for other in others {
            let name = || other.name.clone();
            self.claimed.extend(other.wanted.iter().map(|key| (key.clone(), name())));
        }
    }
}

/// The addresses that drafts want, to be looked up before the plan is made.
pub(crate) fn list_wanted_keys(drafts: &[TierDraft]) -> Vec<RoutingKey> {
    drafts.iter().filter(|draft| draft.kind == TierKind::Binding).flat_map(list_draft_keys).collect()
}

fn list_draft_keys(draft: &TierDraft) -> Vec<RoutingKey> {
    match Tier::read(draft.kind, &draft.body) {
        Ok(Tier::Binding(binding)) => binding.keys,
        _ => Vec::new(),
    }
}
