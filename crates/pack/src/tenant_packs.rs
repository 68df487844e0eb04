//! Which packs a tenant has, wherever a pack would work for it.

use munshi_jobs::JobFailure;
use munshi_safety::policy;
use munshi_store::{Db, Tx};
use munshi_types::{TenantId, TenantPacks};

/// The packs of the transaction's tenant, as its policy lists them.
pub fn load_tenant_packs(tx: &mut Tx<'_>) -> munshi_safety::Result<TenantPacks> {
    Ok(policy::load_current(tx)?.1.packs)
}

/// Whether a job of a pack is one of this tenant's.
pub(crate) async fn has_pack(db: &Db, tenant: TenantId, pack: &str) -> Result<bool, JobFailure> {
    let read = |tx: &mut Tx<'_>| {
        load_tenant_packs(tx).map_err(|error| JobFailure::Passing(format!("the tenant's policy: {error}")))
    };
    Ok(db.read(tenant, read).await?.has(pack))
}

/// Why a job is not done: it waits among the dead letters for a tenant that lists the pack again.
pub(crate) fn missing_pack(pack: &str) -> JobFailure {
    JobFailure::Lasting(format!("the tenant does not have the pack {pack}"))
}
