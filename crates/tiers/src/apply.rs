//! From a folder to the database: read, plan, write. The write is one transaction for all tenants of a plan.

use std::collections::{BTreeMap, BTreeSet};

use munshi_store::{AdminTx, Db, PlatformAdminTx, PlatformTx, Tx, tenants};
use munshi_types::tier::{RoutingKey, TierKind, TierName, TierStatus};
use munshi_types::{IdGenerator, Tenant, TenantId, TenantName, TenantStatus, TierId, Zone};
use serde_json::json;

use crate::draft::{TierBody, TierDraft};
use crate::error::{Error, Result};
use crate::events::{self, TierEventKind};
use crate::files::TenantFolder;
use crate::folder_extension;
use crate::plan::{
    self, ApplyPlan, InstalledNames, PlannedInstallation, StoredTenantState, TierAction, TierChange,
    TierTitle, VanishedTierPolicy,
};
use crate::problem::FolderProblems;
use crate::routing_keys::{self, ROUTING};
use crate::rows::{self, Authorship, NewTierVersion};

/// Plans a tenant's folder against what is stored. Reads only.
pub async fn plan_folder(
    db: &Db,
    folder: &TenantFolder,
    vanished: VanishedTierPolicy,
    installed: &InstalledNames,
) -> Result<ApplyPlan> {
    let state = load_state(db, &folder.tenant, &folder.drafts).await?;
    plan_with_extensions(db, &state, folder, vanished, installed).await
}

/// The tiers and the files beside them.
async fn plan_with_extensions(
    db: &Db,
    state: &StoredTenantState,
    folder: &TenantFolder,
    vanished: VanishedTierPolicy,
    installed: &InstalledNames,
) -> Result<ApplyPlan> {
    let beside = folder_extension::plan(db, state.tenant, &folder.beside).await?;
    let installed = PlannedInstallation { names: installed, packs: beside.packs.as_ref() };
    let mut plan = plan::plan(&folder.tenant, state, &folder.drafts, vanished, installed)?;
    plan.files = beside.changes;
    plan.left_files = beside.left;
    plan.warnings.extend(beside.warnings);
    if let Some(declared) = beside.connectors {
        for (connector, agents) in plan.connectors.iter().filter(|(name, _)| !declared.contains(*name)) {
            let agents = agents.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            plan.warnings.push(format!(
                "agent {agents}: there is no connector {connector}, so its tools are not offered"
            ));
        }
    }
    Ok(plan)
}

/// Plans all of them, and tells everything that is wrong with any.
pub async fn plan_folders(
    db: &Db,
    folders: &[TenantFolder],
    vanished: VanishedTierPolicy,
    installed: &InstalledNames,
) -> Result<Vec<ApplyPlan>> {
    let mut states = Vec::new();
    for folder in folders {
        states.push(load_state(db, &folder.tenant, &folder.drafts).await?);
    }
    let hold = |(folder, state): (&TenantFolder, &StoredTenantState)| {
        plan::TenantAddresses::new(&folder.tenant, state, &folder.drafts, vanished)
    };
    let all: Vec<_> = folders.iter().zip(&states).map(hold).collect();
    let (mut plans, mut problems) = (Vec::new(), Vec::new());
    for (at, (folder, mut state)) in folders.iter().zip(states).enumerate() {
        state.reconcile_addresses(&all, all.get(..at).unwrap_or_default());
        match plan_with_extensions(db, &state, folder, vanished, installed).await {
            Ok(plan) => plans.push(plan),
            Err(Error::Problems(found)) => problems.extend(found.iter().cloned()),
            Err(error) => return Err(error),
        }
    }
    FolderProblems::ensure_none(problems)?;
    Ok(plans)
}

/// What is stored of a tenant, and which of the wanted addresses are another's.
pub(crate) async fn load_state(
    db: &Db,
    tenant: &TenantName,
    wanted: &[TierDraft],
) -> Result<StoredTenantState> {
    let (name, keys) = (tenant.clone(), plan::list_wanted_keys(wanted));
    let bindings = wanted.iter().filter(|draft| draft.kind == TierKind::Binding);
    let bindings: Vec<TierBody> = bindings.map(|draft| draft.body.clone()).collect();
    db.platform(ROUTING)
        .read(move |tx| {
            let Some(tenant) = tenants::find_by_name(tx, &name)? else {
                let shadowing = routing_keys::list_shadowing(tx, None, &keys)?;
                return Ok(StoredTenantState {
                    taken: routing_keys::list_taken(tx, None, &keys)?,
                    shadowing,
                    ..StoredTenantState::default()
                });
            };
            if tenant.status == TenantStatus::Archived {
                return Err(Error::TenantArchived(name));
            }
            let taken = routing_keys::list_taken(tx, Some(tenant.id), &keys)?;
            let shadowing = routing_keys::list_shadowing(tx, Some(&tenant.name), &keys)?;
            let tiers = tx.as_tenant(tenant.id, rows::load_all)?;
            let active = tiers.values().filter(|tier| tier.kind == TierKind::Binding).map(|tier| &tier.body);
            let named = plan::list_pins(bindings.iter().chain(active));
            let pinned = tx.as_tenant(tenant.id, |tx| rows::load_pinned(tx, named))?;
            let claimed = BTreeMap::new();
            Ok(StoredTenantState { tenant: Some(tenant.id), tiers, pinned, taken, shadowing, claimed })
        })
        .await
}

/// Does what the plans say within the transaction, and notes each tenant that is made and each change, with the names of
/// what changed in it and not the text. New tenants get the zone. What an error leaves half done must be rolled back.
pub fn apply(
    tx: &mut PlatformAdminTx<'_, '_>,
    plans: Vec<ApplyPlan>,
    zone: &Zone,
    by: &Authorship,
    ids: &IdGenerator,
) -> Result<()> {
    let work: Vec<Work> = plans
        .into_iter()
        .filter(|plan| !plan.is_empty())
        .map(|plan| Work::prepare(plan, ids))
        .collect::<Result<_>>()?;
    if work.is_empty() {
        return Ok(());
    }
    let turn = rows::claim_change_number(tx)?;
    for work in &work {
        work.ensure_tenant(tx, zone, by)?;
        tx.as_tenant(work.tenant, |tx| work.write(tx, by))?;
        rows::mark_changed(tx, work.tenant, turn)?;
    }
    // An address may move from a tenant to one that was written before it.
    for work in &work {
        tx.as_tenant(work.tenant, |tx| work.write_keys_and_files(tx, by))?;
    }
    for work in &work {
        tx.as_tenant(work.tenant, |tx| {
            work.note_changes(tx);
            Ok::<_, Error>(())
        })?;
    }
    Ok(())
}

/// A plan with the ids and texts of what it makes.
struct Work {
    plan: ApplyPlan,
    tenant: TenantId,
    /// Ids for the tiers that are new.
    ids: BTreeMap<TierTitle, TierId>,
    versions: Vec<Option<NewTierVersion>>,
}

impl Work {
    fn prepare(plan: ApplyPlan, ids: &IdGenerator) -> Result<Self> {
        if !plan.is_own {
            return Err(Error::OnlyShown);
        }
        let new = plan.changes.iter().filter(|change| change.action == TierAction::Create);
        let made = new.map(|change| (title(change), ids.next())).collect();
        let version = |change: &TierChange| {
            let body = change.body.as_ref();
            body.map(|body| NewTierVersion::new(change.to, body, &change.tokens)).transpose()
        };
        let versions = plan.changes.iter().map(version).collect::<Result<_>>()?;
        Ok(Self { tenant: plan.id.unwrap_or_else(|| ids.next()), ids: made, versions, plan })
    }

    /// Makes the tenant, or sees that it may still be changed.
    fn ensure_tenant(&self, tx: &mut PlatformTx<'_>, zone: &Zone, by: &Authorship) -> Result<()> {
        let name = &self.plan.tenant;
        let overtaken = || Error::Overtaken { what: format!("tenant {name}") };
        match tenants::find_by_name(tx, name)? {
            Some(tenant) if tenant.status == TenantStatus::Archived => {
                Err(Error::TenantArchived(name.clone()))
            }
            Some(tenant) if Some(tenant.id) == self.plan.id => Ok(()),
            Some(_) => Err(overtaken()),
            None if self.plan.id.is_some() => Err(overtaken()),
            None => {
                let tenant = Tenant {
                    id: self.tenant,
                    name: name.clone(),
                    zone: zone.clone(),
                    status: TenantStatus::Active,
                    created_at: by.made_at,
                };
                Ok(tenants::add(tx, &tenant)?)
            }
        }
    }

    fn write(&self, tx: &mut Tx<'_>, by: &Authorship) -> Result<()> {
        let now = rows::load_heads(tx)?;
        if let Some((kind, name)) = find_difference(&self.plan.seen, &now) {
            return Err(Error::Overtaken { what: format!("{kind} {name}") });
        }
        for (change, version) in self.plan.changes.iter().zip(&self.versions) {
            self.write_change(tx, change, version.as_ref(), by)?;
        }
        let (wanted, archived) = self.resolve_keys(tx)?;
        routing_keys::release_unwanted(tx, &wanted, &archived)
    }

    fn write_keys_and_files(&self, tx: &mut Tx<'_>, by: &Authorship) -> Result<()> {
        let (wanted, _) = self.resolve_keys(tx)?;
        routing_keys::assign(tx, &wanted)?;
        self.plan.files.iter().try_for_each(|file| file.write(tx, by))
    }

    fn note_changes(&self, tx: &mut AdminTx<'_, '_>) {
        if self.plan.is_new {
            tx.note("tenant.added", self.plan.tenant.as_str(), json!({}));
        }
        for change in &self.plan.changes {
            let keys: Vec<&str> = change.fields.iter().map(|field| field.key.as_str()).collect();
            let payload =
                json!({ "action": change.action, "from": change.from, "to": change.to, "keys": keys });
            tx.note("tier.changed", format!("{} {}", change.kind, change.name), payload);
        }
        for file in &self.plan.files {
            file.note(tx);
        }
    }

    /// Which addresses lead where once all is done, and the bindings that are archived.
    fn resolve_keys(&self, tx: &mut Tx<'_>) -> Result<(BTreeMap<RoutingKey, TierId>, BTreeSet<TierId>)> {
        let bindings: BTreeMap<TierName, (TierId, TierStatus)> = rows::load_heads(tx)?
            .into_iter()
            .filter(|((kind, _), _)| *kind == TierKind::Binding)
            .map(|((_, name), (id, _, status))| (name, (id, status)))
            .collect();
        let archived: BTreeSet<TierId> = bindings
            .values()
            .filter(|(_, status)| *status == TierStatus::Archived)
            .map(|(id, _)| *id)
            .collect();
        let wanted =
            self.plan.keys.iter().filter_map(|(key, name)| Some((key.clone(), bindings.get(name)?.0)));
        Ok((wanted.collect(), archived))
    }

    fn write_change(
        &self,
        tx: &mut Tx<'_>,
        change: &TierChange,
        version: Option<&NewTierVersion>,
        by: &Authorship,
    ) -> Result<()> {
        let title = title(change);
        let id = match self.ids.get(&title) {
            Some(id) => {
                rows::add(tx, *id, &title, by.made_at)?;
                *id
            }
            None => self
                .plan
                .seen
                .get(&title)
                .map(|(id, _, _)| *id)
                .ok_or_else(|| Error::Overtaken { what: format!("{} {}", title.0, title.1) })?,
        };
        match (change.action, version) {
            (TierAction::Archive, _) => rows::set_status(tx, id, TierStatus::Archived)?,
            (_, Some(version)) => rows::add_version(tx, id, version, by)?,
            (_, None) => rows::set_status(tx, id, TierStatus::Active)?,
        }
        let happened = match change.action {
            TierAction::Archive => Some(TierEventKind::Archived),
            TierAction::Restore => Some(TierEventKind::Restored),
            TierAction::Create | TierAction::Update => None,
        };
        if let Some(happened) = happened {
            events::add(tx, id, (happened, change.to, None), by)?;
        }
        // A restored tier that has the words it had was not taken back to anything.
        match self.plan.back_to.filter(|_| version.is_some()) {
            Some(old) => events::add(tx, id, (TierEventKind::RolledBack, change.to, Some(old)), by),
            None => Ok(()),
        }
    }
}

fn title(change: &TierChange) -> TierTitle {
    (change.kind, change.name.clone())
}

/// The first tier that is not as it was.
fn find_difference<V: PartialEq>(
    seen: &BTreeMap<TierTitle, V>,
    now: &BTreeMap<TierTitle, V>,
) -> Option<TierTitle> {
    let gone = seen.iter().find(|(title, head)| now.get(*title) != Some(*head));
    let come = || now.iter().find(|(title, _)| !seen.contains_key(*title));
    gone.or_else(come).map(|(title, _)| title.clone())
}

/// Says that something about a tenant changes that decides whether its bindings answer, such as being paused. Every
/// node looks at it anew within a second. Comes first in its transaction, as it does in that of `apply`.
pub fn mark_tenant_changed(tx: &mut PlatformTx<'_>, tenant: TenantId) -> Result<()> {
    let turn = rows::claim_change_number(tx)?;
    rows::mark_changed(tx, tenant, turn)
}

/// Addresses that a plan takes for its tenant and that are not the tenant's yet. They belong to the whole installation.
pub fn list_new_addresses(tx: &mut PlatformTx<'_>, plan: &ApplyPlan) -> Result<Vec<RoutingKey>> {
    let mut new = Vec::new();
    for key in plan.keys.keys() {
        let holder = routing_keys::find(tx, key)?.map(|(tenant, _)| tenant);
        if holder.is_none() || holder != plan.id {
            new.push(key.clone());
        }
    }
    Ok(new)
}
