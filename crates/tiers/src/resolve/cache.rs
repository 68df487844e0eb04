//! What is remembered of addresses and tiers. Reading takes no lock.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use munshi_types::tier::{Agent, Human, RoutingKey, Team, TierName};
use munshi_types::{BindingId, TenantId, TenantName, TierId, ToolSpec};
use papaya::HashMap;
use tokio::time::Instant;

use super::slice::assign_bucket;
use super::{AddressResolution, BindingResolution, LoadedTier};
use crate::prompt::{PromptTiers, StaticPrompt};

/// An address and where it leads, for everybody who writes to it.
pub(super) struct AddressEntry {
    pub(super) tenant: TenantId,
    pub(super) leads: AddressTarget,
}

pub(super) enum AddressTarget {
    Bound { binding: BindingId, main: Arc<BindingResolution>, slices: Vec<SliceArm> },
    TenantPaused(TenantName),
    TenantArchived(TenantName),
    BindingArchived { tenant: TenantName, binding: TierName },
}

/// One slice: the people whose part is below `end` and not in a slice before it.
pub(super) struct SliceArm {
    pub(super) end: u8,
    pub(super) resolution: Arc<BindingResolution>,
}

impl AddressEntry {
    pub(super) fn resolve_for(&self, person: Option<&str>) -> AddressResolution {
        match &self.leads {
            AddressTarget::Bound { binding, main, slices } => {
                let part = || person.map(|person| assign_bucket(*binding, person));
                let arm = match slices.is_empty() {
                    true => None,
                    false => part().and_then(|part| slices.iter().find(|arm| part < arm.end)),
                };
                AddressResolution::Bound(arm.map_or(main, |arm| &arm.resolution).clone())
            }
            AddressTarget::TenantPaused(name) => AddressResolution::TenantPaused(name.clone()),
            AddressTarget::TenantArchived(name) => AddressResolution::TenantArchived(name.clone()),
            AddressTarget::BindingArchived { tenant, binding } => {
                AddressResolution::BindingArchived { tenant: tenant.clone(), binding: binding.clone() }
            }
        }
    }
}

/// A tier's id and version; of an agent also those of all it extends.
pub(super) type TierVersions = Vec<(TierId, u32)>;

pub(super) struct ResolutionCache {
    entries: HashMap<RoutingKey, AddressEntry>,
    /// The same by name, for those who know it.
    names: HashMap<(TenantName, TierName), AddressEntry>,
    pub(super) humans: HashMap<TierVersions, Arc<LoadedTier<Human>>>,
    pub(super) teams: HashMap<TierVersions, Arc<LoadedTier<Team>>>,
    pub(super) agents: HashMap<TierVersions, Arc<LoadedTier<Agent>>>,
    /// By the versions of human and team, then those of the agent.
    casts: HashMap<TierVersions, Arc<StaticPrompt>>,
    /// What is installed. The same for as long as the process lives, so no static prompt is made of other tools.
    tools: Vec<Arc<ToolSpec>>,
    /// The count of changes up to which entries were forgotten.
    known: AtomicI64,
    began: Instant,
    /// When the count was last asked for, in milliseconds after it began.
    looked: AtomicU64,
}

impl Default for ResolutionCache {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            names: HashMap::new(),
            humans: HashMap::new(),
            teams: HashMap::new(),
            agents: HashMap::new(),
            casts: HashMap::new(),
            tools: Vec::new(),
            known: AtomicI64::new(-1),
            began: Instant::now(),
            looked: AtomicU64::new(0),
        }
    }
}

impl ResolutionCache {
    pub(super) fn with_tools(tools: Vec<Arc<ToolSpec>>) -> Self {
        Self { tools, ..Self::default() }
    }

    /// The three as text: made when these versions are first met.
    pub(super) fn get_or_build_prompt(
        &self,
        human: &Human,
        team: &Team,
        agent: &Agent,
        versions: TierVersions,
    ) -> Arc<StaticPrompt> {
        if let Some(known) = self.casts.pin().get(&versions) {
            return known.clone();
        }
        let static_prompt =
            Arc::new(StaticPrompt::new(&PromptTiers { human, team, agent, installed: &self.tools }));
        self.casts.pin().insert(versions, static_prompt.clone());
        static_prompt
    }

    pub(super) fn get(&self, key: &RoutingKey, person: Option<&str>) -> Option<AddressResolution> {
        Some(self.entries.pin().get(key)?.resolve_for(person))
    }

    /// Keeps what was read when the count stood at `count`. If the watch has gone past that meanwhile, it may have
    /// looked for this entry before it was here; then it is forgotten at once, and the next message asks again.
    pub(super) fn insert(&self, key: &RoutingKey, entry: AddressEntry, count: i64) {
        self.entries.pin().insert(key.clone(), entry);
        if self.known.load(Ordering::SeqCst) > count {
            self.entries.pin().remove(key);
        }
    }

    pub(super) fn get_by_name(
        &self,
        name: &(TenantName, TierName),
        person: Option<&str>,
    ) -> Option<AddressResolution> {
        Some(self.names.pin().get(name)?.resolve_for(person))
    }

    /// As [`Self::insert`], by name.
    pub(super) fn insert_by_name(&self, name: &(TenantName, TierName), entry: AddressEntry, count: i64) {
        self.names.pin().insert(name.clone(), entry);
        if self.known.load(Ordering::SeqCst) > count {
            self.names.pin().remove(name);
        }
    }

    pub(super) fn known_change(&self) -> i64 {
        self.known.load(Ordering::SeqCst)
    }

    pub(super) fn record_poll(&self) {
        let after = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.looked.store(after, Ordering::Relaxed);
    }

    pub(super) fn time_since_poll(&self) -> Duration {
        self.began.elapsed().saturating_sub(Duration::from_millis(self.looked.load(Ordering::Relaxed)))
    }

    /// Forgets what these tenants' addresses led to. The count is set first: see `keep`.
    pub(super) fn invalidate(&self, tenants: &BTreeSet<TenantId>, count: i64) {
        self.known.store(count, Ordering::SeqCst);
        self.entries.pin().retain(|_, entry| !tenants.contains(&entry.tenant));
        self.names.pin().retain(|_, entry| !tenants.contains(&entry.tenant));
    }

    /// Forgets every address, and the versions that nobody holds any longer.
    pub(super) fn invalidate_all(&self) {
        self.entries.pin().clear();
        self.names.pin().clear();
        self.humans.pin().retain(|_, tier| Arc::strong_count(tier) > 1);
        self.teams.pin().retain(|_, tier| Arc::strong_count(tier) > 1);
        self.agents.pin().retain(|_, tier| Arc::strong_count(tier) > 1);
        self.casts.pin().retain(|_, static_prompt| Arc::strong_count(static_prompt) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::tier::RoutingKeyKind;

    fn paused(tenant: TenantId) -> AddressEntry {
        AddressEntry { tenant, leads: AddressTarget::TenantPaused("shop".parse().unwrap()) }
    }

    #[test]
    fn what_was_read_before_a_change_and_comes_after_it_is_not_kept() {
        let (cache, tenant) = (ResolutionCache::default(), TenantId::from_uuid(uuid::Uuid::from_u128(1)));
        let key = RoutingKey::new(RoutingKeyKind::Handle, "shop").unwrap();
        cache.insert(&key, paused(tenant), 4);
        assert!(cache.get(&key, None).is_some(), "nobody has looked yet");
        cache.invalidate(&[tenant].into(), 5);
        assert!(cache.get(&key, None).is_none());
        cache.insert(&key, paused(tenant), 4);
        assert!(cache.get(&key, None).is_none(), "read at 4, forgotten up to 5");
        cache.insert(&key, paused(tenant), 5);
        cache.invalidate(&[TenantId::PLATFORM].into(), 6);
        assert!(cache.get(&key, None).is_some(), "another tenant's change");
    }

    #[test]
    fn versions_that_nobody_holds_are_let_go() {
        let cache = ResolutionCache::default();
        let id = TierId::from_uuid(uuid::Uuid::from_u128(1));
        let tier = |version| {
            Arc::new(LoadedTier {
                id,
                name: "meera".parse().unwrap(),
                version,
                body: Human::default(),
                tokens: crate::token_counts::TierTokenCounts::default(),
                bases: Vec::new(),
            })
        };
        let held = tier(1);
        cache.humans.pin().insert(vec![(id, 1)], held.clone());
        cache.humans.pin().insert(vec![(id, 2)], tier(2));
        cache.invalidate_all();
        assert_eq!(cache.humans.len(), 1);
        drop(held);
    }
}
