//! One address from the database, on a single snapshot.

use std::sync::Arc;

use munshi_store::{PageRequest, PlatformTx, Tx, tenants};
use munshi_types::tier::{
    Agent, Binding, BindingSlice, Human, RoutingKey, SliceCandidate, Team, TierKind, TierName, TierRef,
    TierStatus,
};
use munshi_types::{BindingId, Id, Tenant, TenantId, TenantName, TenantStatus, TierId};
use papaya::HashMap;

use super::cache::{AddressEntry, AddressTarget, ResolutionCache, SliceArm, TierVersions};
use super::{ActivePlace, AddressResolution, BindingResolution, LoadedTier};
use crate::draft::Tier;
use crate::error::{Error, Result};
use crate::merge;
use crate::plan::StoredTier;
use crate::routing_keys;
use crate::rows;
use crate::tenant_models::{self, TenantModels};
use crate::token_counts::count_tier_tokens;

/// The entry and the count of changes it was read at; none where the address leads nowhere.
pub(super) fn find_by_key(
    tx: &mut PlatformTx<'_>,
    key: &RoutingKey,
    cache: &ResolutionCache,
) -> Result<Option<(AddressEntry, i64)>> {
    let Some((tenant, binding)) = routing_keys::find(tx, key)? else { return Ok(None) };
    let count = rows::current_change(tx)?;
    let Some(tenant) = tenants::find(tx, tenant)? else { return Ok(None) };
    let entry = entry(tx, &tenant, cache, |tx| rows::find_by_id(tx, binding))?;
    let entry = entry.ok_or_else(|| missing_error(&format!("the binding of {key}")))?;
    Ok(Some((entry, count)))
}

/// The same by name; none where an active tenant has no such binding.
pub(super) fn find_by_name(
    tx: &mut PlatformTx<'_>,
    name: &TenantName,
    binding: &TierName,
    cache: &ResolutionCache,
) -> Result<Option<(AddressEntry, i64)>> {
    let count = rows::current_change(tx)?;
    let Some(tenant) = tenants::find_by_name(tx, name)? else { return Err(Error::NoTenant(name.clone())) };
    let entry = entry(tx, &tenant, cache, |tx| rows::find(tx, TierKind::Binding, binding))?;
    Ok(entry.map(|entry| (entry, count)))
}

/// None where the tenant or the binding is not there.
pub(super) fn find_by_id(
    tx: &mut PlatformTx<'_>,
    tenant: TenantId,
    binding: BindingId,
    cache: &ResolutionCache,
) -> Result<Option<AddressEntry>> {
    let Some(tenant) = tenants::find(tx, tenant)? else { return Ok(None) };
    entry(tx, &tenant, cache, |tx| rows::find_by_id(tx, TierId::from_uuid(binding.as_uuid())))
}

/// A binding with the team that took over in it, behind the stricter of its own door and the front binding's.
pub(super) fn find_place(
    tx: &mut PlatformTx<'_>,
    tenant: TenantId,
    place: &ActivePlace,
    front: BindingId,
    (cache, person): (&ResolutionCache, Option<&str>),
) -> Result<AddressResolution> {
    let found = find_by_id(tx, tenant, place.binding, cache)?;
    let resolved = found.map_or(AddressResolution::Unknown, |entry| entry.resolve_for(person));
    let AddressResolution::Bound(mut resolved) = resolved else { return Ok(resolved) };
    // Through which door this person came: of a slice it may be another than the binding's own.
    let front = find_by_id(tx, tenant, front, cache)?.map(|entry| entry.resolve_for(person));
    let Some(AddressResolution::Bound(front)) = front else { return Ok(AddressResolution::Unknown) };
    let front_door = front.binding.door;
    let Some(owner) = tenants::find(tx, tenant)? else { return Ok(AddressResolution::Unknown) };
    tx.as_tenant(tenant, |tx| {
        let own = Arc::make_mut(&mut resolved);
        own.place = Some(place.clone());
        if let Some(name) = &place.team {
            let loader = Loader { tenant: &owner, cache, models: own.tenant_models.clone() };
            if !loader.swap_team(tx, own, name)? {
                return Ok(AddressResolution::Unknown);
            }
        }
        own.binding.door = own.binding.door.max(front_door);
        Ok(AddressResolution::Bound(resolved))
    })
}

/// Looks at one page of tenants, and gives up where there are more.
pub(crate) fn list_holders(tx: &mut PlatformTx<'_>, binding: &TierName) -> Result<Option<Vec<TenantName>>> {
    let page = tenants::list(tx, &PageRequest::new(None, PageRequest::LARGEST))?;
    if page.next.is_some() {
        return Ok(None);
    }
    let mut holders = Vec::new();
    for tenant in page.items {
        if tx.as_tenant(tenant.id, |tx| rows::find_head(tx, TierKind::Binding, binding))?.is_some() {
            holders.push(tenant.name);
        }
    }
    holders.sort();
    Ok(Some(holders))
}

fn entry(
    tx: &mut PlatformTx<'_>,
    tenant: &Tenant,
    cache: &ResolutionCache,
    find: impl FnOnce(&mut Tx<'_>) -> Result<Option<StoredTier>>,
) -> Result<Option<AddressEntry>> {
    let leads = match tenant.status {
        TenantStatus::Paused => Some(AddressTarget::TenantPaused(tenant.name.clone())),
        TenantStatus::Archived => Some(AddressTarget::TenantArchived(tenant.name.clone())),
        TenantStatus::Active => tx.as_tenant(tenant.id, |tx| match find(tx)? {
            Some(found) => load_target(tx, tenant, found, cache).map(Some),
            None => Ok(None),
        })?,
    };
    Ok(leads.map(|leads| AddressEntry { tenant: tenant.id, leads }))
}

fn load_target(
    tx: &mut Tx<'_>,
    tenant: &Tenant,
    found: StoredTier,
    cache: &ResolutionCache,
) -> Result<AddressTarget> {
    if found.status == TierStatus::Archived {
        return Ok(AddressTarget::BindingArchived { tenant: tenant.name.clone(), binding: found.name });
    }
    let loader = Loader { tenant, cache, models: Arc::new(tenant_models::load(tx)?) };
    let body = binding_of(&found)?;
    let slices = loader.slices(tx, &found, &body)?;
    let binding = rows::as_binding(found.id);
    Ok(AddressTarget::Bound { binding, main: Arc::new(loader.resolution(tx, &found, body, None)?), slices })
}

struct Loader<'a> {
    tenant: &'a Tenant,
    cache: &'a ResolutionCache,
    models: Arc<TenantModels>,
}

impl Loader<'_> {
    fn slices(&self, tx: &mut Tx<'_>, found: &StoredTier, binding: &Binding) -> Result<Vec<SliceArm>> {
        let (mut arms, mut end) = (Vec::new(), 0_u8);
        for slice in &binding.slices {
            end = end.saturating_add(slice.share);
            arms.push(SliceArm { end, resolution: Arc::new(self.candidate(tx, found, binding, slice)?) });
        }
        Ok(arms)
    }

    fn candidate(
        &self,
        tx: &mut Tx<'_>,
        found: &StoredTier,
        binding: &Binding,
        slice: &BindingSlice,
    ) -> Result<BindingResolution> {
        match &slice.candidate {
            SliceCandidate::Binding(name) => {
                let other = rows::find(tx, TierKind::Binding, name)?;
                let other =
                    other.ok_or_else(|| missing_error(&format!("binding {name} of slice {}", slice.name)))?;
                let body = binding_of(&other)?;
                self.resolution(tx, &other, body, Some(slice))
            }
            SliceCandidate::Tiers { .. } => self.resolution(tx, found, binding.clone(), Some(slice)),
        }
    }

    fn resolution(
        &self,
        tx: &mut Tx<'_>,
        found: &StoredTier,
        binding: Binding,
        slice: Option<&BindingSlice>,
    ) -> Result<BindingResolution> {
        let now = |name: &TierName| TierRef { name: name.clone(), version: None };
        let (mut human, mut team, mut agent) = (now(&binding.human), now(&binding.team), now(&binding.agent));
        if let Some(SliceCandidate::Tiers { human: other, team: another, agent: third }) =
            slice.map(|slice| &slice.candidate)
        {
            human = other.clone().unwrap_or(human);
            team = another.clone().unwrap_or(team);
            agent = third.clone().unwrap_or(agent);
        }
        let (human, team) = (self.human(tx, &human)?, self.team(tx, &team)?);
        let (agent, mut versions) = self.agent(tx, &agent)?;
        versions.splice(0..0, [(human.id, human.version), (team.id, team.version)]);
        let static_prompt = self.cache.get_or_build_prompt(&human.body, &team.body, &agent.body, versions);
        Ok(BindingResolution {
            tenant: self.tenant.id,
            tenant_name: self.tenant.name.clone(),
            zone: self.tenant.zone.clone(),
            binding_id: rows::as_binding(found.id),
            binding_name: found.name.clone(),
            binding_version: found.version,
            binding,
            human,
            team,
            agent,
            static_prompt,
            tenant_models: self.models.clone(),
            slice: slice.map(|slice| slice.name.clone()),
            place: None,
        })
    }

    /// Puts another team into a resolution, and of its people the same human if it is one of them. False where there is no
    /// such team in force any more.
    fn swap_team(&self, tx: &mut Tx<'_>, own: &mut BindingResolution, name: &TierName) -> Result<bool> {
        let found = rows::find(tx, TierKind::Team, name)?;
        if found.is_none_or(|found| found.status == TierStatus::Archived) {
            return Ok(false);
        }
        let now = |name: &TierName| TierRef { name: name.clone(), version: None };
        let team = self.team(tx, &now(name))?;
        let members = &team.body.members;
        if let Some(first) = members.first().filter(|_| !members.contains(&own.human.name)) {
            own.human = self.human(tx, &now(first))?;
        }
        let agent = TierRef { name: own.agent.name.clone(), version: Some(own.agent.version) };
        let (_, mut versions) = self.agent(tx, &agent)?;
        versions.splice(0..0, [(own.human.id, own.human.version), (team.id, team.version)]);
        own.static_prompt =
            self.cache.get_or_build_prompt(&own.human.body, &team.body, &own.agent.body, versions);
        own.team = team;
        Ok(true)
    }

    fn human(&self, tx: &mut Tx<'_>, wanted: &TierRef) -> Result<Arc<LoadedTier<Human>>> {
        load_cached_tier(tx, TierKind::Human, wanted, &self.cache.humans, |tier| match tier {
            Tier::Human(human) => Some(human),
            _ => None,
        })
    }

    fn team(&self, tx: &mut Tx<'_>, wanted: &TierRef) -> Result<Arc<LoadedTier<Team>>> {
        load_cached_tier(tx, TierKind::Team, wanted, &self.cache.teams, |tier| match tier {
            Tier::Team(team) => Some(team),
            _ => None,
        })
    }

    /// With the versions of it and of all it extends: bindings share it as long as these are the same.
    fn agent(&self, tx: &mut Tx<'_>, wanted: &TierRef) -> Result<(Arc<LoadedTier<Agent>>, TierVersions)> {
        let mut line = vec![load_stored_tier(tx, TierKind::Agent, wanted)?];
        while let Some(base) = line.last().and_then(|agent| merge::parse_extends(&agent.body)) {
            if line.len() >= merge::LONGEST_CHAIN {
                return Err(missing_error(&format!("the last base of agent {}", wanted.name)));
            }
            line.push(load_stored_tier(tx, TierKind::Agent, &TierRef { name: base, version: None })?);
        }
        line.reverse();
        let versions: TierVersions = line.iter().map(|agent| (agent.id, agent.version)).collect();
        if let Some(known) = self.cache.agents.pin().get(&versions) {
            return Ok((known.clone(), versions));
        }
        let chain: Vec<_> = line.iter().map(|agent| (agent.name.clone(), &agent.body)).collect();
        let body = merge::merge(&chain)?.agent;
        let mut bases: Vec<_> = line.iter().map(|agent| (agent.name.clone(), agent.version)).collect();
        bases.pop();
        let Some(own) = line.pop() else { return Err(missing_error(&format!("agent {}", wanted.name))) };
        // The count that was stored is from before a base changed.
        let tokens =
            if bases.is_empty() { own.tokens } else { count_tier_tokens(&Tier::Agent(body.clone())) };
        let loaded =
            Arc::new(LoadedTier { id: own.id, name: own.name, version: own.version, body, tokens, bases });
        self.cache.agents.pin().insert(versions.clone(), loaded.clone());
        Ok((loaded, versions))
    }
}

fn load_cached_tier<T>(
    tx: &mut Tx<'_>,
    kind: TierKind,
    wanted: &TierRef,
    cache: &HashMap<TierVersions, Arc<LoadedTier<T>>>,
    of: impl Fn(Tier) -> Option<T>,
) -> Result<Arc<LoadedTier<T>>> {
    let head = rows::find_head(tx, kind, &wanted.name)?
        .ok_or_else(|| missing_error(&format!("{kind} {}", wanted.name)))?;
    let versions = vec![(head.0, wanted.version.unwrap_or(head.1))];
    if let Some(known) = cache.pin().get(&versions) {
        return Ok(known.clone());
    }
    let StoredTier { id, name, version, body, tokens, .. } = load_stored_tier(tx, kind, wanted)?;
    let body = of(Tier::read(kind, &body)?).ok_or_else(|| missing_error(&format!("{kind} {name}")))?;
    let loaded = Arc::new(LoadedTier { id, name, version, body, tokens, bases: Vec::new() });
    cache.pin().insert(versions, loaded.clone());
    Ok(loaded)
}

fn load_stored_tier(tx: &mut Tx<'_>, kind: TierKind, wanted: &TierRef) -> Result<StoredTier> {
    let found = match wanted.version {
        Some(version) => rows::find_at(tx, kind, &wanted.name, version)?,
        None => rows::find(tx, kind, &wanted.name)?,
    };
    found.ok_or_else(|| missing_error(&format!("{kind} {wanted}")))
}

fn binding_of(found: &StoredTier) -> Result<Binding> {
    match Tier::read(TierKind::Binding, &found.body)? {
        Tier::Binding(binding) => Ok(binding),
        _ => Err(missing_error(&format!("binding {}", found.name))),
    }
}

/// Applying refuses what refers to nothing, so this is a database that was changed by hand.
fn missing_error(what: &str) -> Error {
    Error::Unreadable(format!("{what} is not in the database"))
}
