//! Looking back: a tier's versions, one of them, and the way back to it.

use std::collections::BTreeMap;

use munshi_store::{Db, PlatformTx, Tx, tenants};
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_types::{BindingId, Id, Tenant, TenantName, TierId};
use serde::Serialize;
use serde_json::Value;

use crate::apply;
use crate::draft::{Tier, TierBody, TierDraft};
use crate::error::{Error, Result};
use crate::events::{self, TierEvent};
use crate::merge::{self, AgentValueOrigin};
use crate::plan::{
    self, ApplyPlan, InstalledNames, PlannedInstallation, StoredTenantState, StoredTier, TierTitle,
    VanishedTierPolicy,
};
use crate::routing_keys::ROUTING;
use crate::rows::{self, TierVersionView};
use crate::token_counts::TierTokenCounts;

/// A tier and how it came about, the newest version first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierHistory {
    pub kind: TierKind,
    pub name: TierName,
    pub status: TierStatus,
    pub versions: Vec<TierHistoryEntry>,
    /// What else happened to it, the newest first.
    pub events: Vec<TierEvent>,
}

/// A version and how it differs from the one before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierHistoryEntry {
    #[serde(flatten)]
    pub version: TierVersionView,
    pub changes: Vec<plan::FieldChange>,
}

/// A tier at one version. An agent is shown with all that it extends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierSnapshot {
    pub kind: TierKind,
    pub name: TierName,
    pub status: TierStatus,
    pub version: u32,
    pub latest: u32,
    /// Every value, defaults filled in.
    pub values: Value,
    /// Of an agent: who said each value, by path.
    pub origins: BTreeMap<String, AgentValueOrigin>,
    pub tokens: TierTokenCounts,
    /// As it was written, which is what `export` writes.
    #[serde(skip)]
    pub body: TierBody,
}

/// Every tier of a tenant, as `export` writes them: the active ones at their version in force.
pub async fn list_tiers(db: &Db, tenant: &TenantName) -> Result<Vec<StoredTier>> {
    Ok(load_all(db, tenant).await?.into_values().collect())
}

/// The same, in the tenant's own transaction.
pub fn list_stored(tx: &mut Tx<'_>) -> Result<Vec<StoredTier>> {
    Ok(rows::load_all(tx)?.into_values().collect())
}

/// What a binding of the tenant is called.
pub fn find_binding_name(tx: &mut Tx<'_>, binding: BindingId) -> Result<Option<TierName>> {
    let found = rows::find_by_id(tx, TierId::from_uuid(binding.as_uuid()))?;
    Ok(found.filter(|tier| tier.kind == TierKind::Binding).map(|tier| tier.name))
}

pub async fn load(db: &Db, tenant: &TenantName, kind: TierKind, name: &TierName) -> Result<TierHistory> {
    let (who, title) = (tenant.clone(), (kind, name.clone()));
    let read = move |tx: &mut PlatformTx<'_>| {
        let found = load_tenant(tx, &who)?;
        tx.as_tenant(found.id, |tx| {
            let tier = rows::find(tx, title.0, &title.1)?.ok_or_else(|| no_tier(&who, &title))?;
            let versions = rows::list_versions(tx, &tier)?;
            Ok::<_, Error>((tier.status, versions, events::list(tx, tier.id)?))
        })
    };
    let (status, versions, events) = db.platform(ROUTING).read(read).await?;
    let nothing = TierBody::new();
    let before = versions.iter().skip(1).map(|older| &older.body).chain([&nothing]);
    let changes =
        versions.iter().zip(before).map(|(version, before)| plan::diff_fields(before, &version.body));
    let changes: Vec<_> = changes.collect();
    let entries =
        versions.into_iter().zip(changes).map(|(version, changes)| TierHistoryEntry { version, changes });
    Ok(TierHistory { kind, name: name.clone(), status, versions: entries.collect(), events })
}

/// A tier as it was written at a version, or at the one in force.
pub async fn find_version(
    db: &Db,
    tenant: &TenantName,
    kind: TierKind,
    name: &TierName,
    version: Option<u32>,
) -> Result<StoredTier> {
    let title = (kind, name.clone());
    let current = load_all(db, tenant).await?.remove(&title).ok_or_else(|| no_tier(tenant, &title))?;
    match version {
        Some(version) if version != current.version => load_version(db, tenant, &current, version).await,
        _ => Ok(current),
    }
}

/// A tier at a version, or at the one in force.
pub async fn show(
    db: &Db,
    tenant: &TenantName,
    kind: TierKind,
    name: &TierName,
    version: Option<u32>,
) -> Result<TierSnapshot> {
    let tiers = load_all(db, tenant).await?;
    let title = (kind, name.clone());
    let current = tiers.get(&title).ok_or_else(|| no_tier(tenant, &title))?.clone();
    let tier = match version {
        Some(version) if version != current.version => load_version(db, tenant, &current, version).await?,
        _ => current,
    };
    let (values, origins) = match kind {
        TierKind::Agent => {
            let find = |name: &TierName| tiers.get(&(TierKind::Agent, name.clone())).map(|tier| &tier.body);
            let unreadable = |broken| Error::Unreadable(format!("can't resolve agent {name}: {broken}"));
            let chain = merge::resolve_chain(name, &tier.body, find).map_err(unreadable)?;
            let merged = merge::merge(&chain)?;
            (Tier::Agent(merged.agent).values()?, merged.origins)
        }
        _ => (Tier::read(kind, &tier.body)?.values()?, BTreeMap::new()),
    };
    let StoredTier { kind, name, status, version, latest, body, tokens, .. } = tier;
    Ok(TierSnapshot { kind, name, status, version, latest, values, origins, tokens, body })
}

/// Plans the return to a version, or to the one before. It becomes a new version, so that the history stays whole; all
/// that holds for a folder holds for it too.
pub async fn plan_rollback(
    db: &Db,
    tenant: &TenantName,
    kind: TierKind,
    name: &TierName,
    version: Option<u32>,
    installed: &InstalledNames,
) -> Result<(ApplyPlan, u32)> {
    let tiers = load_all(db, tenant).await?;
    let title = (kind, name.clone());
    let current = tiers.get(&title).ok_or_else(|| no_tier(tenant, &title))?;
    let back_to = match version {
        Some(version) => version,
        None => resolve_previous_version(db, tenant, current).await?,
    };
    let old = load_version(db, tenant, current, back_to).await?;
    let wanted = vec![TierDraft::without_file(kind, name.clone(), old.body)];
    let state: StoredTenantState = apply::load_state(db, tenant, &wanted).await?;
    let installed = PlannedInstallation { names: installed, packs: None };
    let mut plan = plan::plan(tenant, &state, &wanted, VanishedTierPolicy::Keep, installed)?;
    // Nothing is missing from a folder where there is none.
    plan.left.clear();
    plan.back_to = Some(back_to);
    Ok((plan, back_to))
}

/// The version before the one whose words are in force, so that going back twice goes back twice.
async fn resolve_previous_version(db: &Db, tenant: &TenantName, current: &StoredTier) -> Result<u32> {
    let (who, id) = (tenant.clone(), current.id);
    let read = move |tx: &mut PlatformTx<'_>| {
        let found = load_tenant(tx, &who)?;
        tx.as_tenant(found.id, |tx| events::list(tx, id))
    };
    let events = db.platform(ROUTING).read(read).await?;
    let origin = |version: u32| {
        let back = events.iter().find(|event| event.version == version && event.back_to.is_some());
        back.and_then(|event| event.back_to).filter(|old| *old < version)
    };
    let mut version = current.version;
    while let Some(older) = origin(version) {
        version = older;
    }
    let first = || Error::FirstVersion { kind: current.kind, name: current.name.clone() };
    version.checked_sub(1).filter(|version| *version > 0).ok_or_else(first)
}

async fn load_version(
    db: &Db,
    tenant: &TenantName,
    current: &StoredTier,
    version: u32,
) -> Result<StoredTier> {
    let (who, kind, name) = (tenant.clone(), current.kind, current.name.clone());
    let found = db
        .platform(ROUTING)
        .read(move |tx| {
            let found = load_tenant(tx, &who)?;
            tx.as_tenant(found.id, |tx| rows::find_at(tx, kind, &name, version))
        })
        .await?;
    let (kind, name, latest) = (current.kind, current.name.clone(), current.latest);
    found.ok_or(Error::NoVersion { kind, name, version, latest })
}

async fn load_all(db: &Db, tenant: &TenantName) -> Result<BTreeMap<TierTitle, StoredTier>> {
    let who = tenant.clone();
    db.platform(ROUTING)
        .read(move |tx| {
            let found = load_tenant(tx, &who)?;
            tx.as_tenant(found.id, rows::load_all)
        })
        .await
}

fn load_tenant(tx: &mut PlatformTx<'_>, name: &TenantName) -> Result<Tenant> {
    tenants::find_by_name(tx, name)?.ok_or_else(|| Error::NoTenant(name.clone()))
}

fn no_tier(tenant: &TenantName, (kind, name): &TierTitle) -> Error {
    Error::NoTier { tenant: tenant.clone(), kind: *kind, name: name.clone() }
}
