//! Plans of tenants' folders that are applied by no operation: what is imported, and tenants that come ready.

use munshi_safety::audit::{AuditActor, AuditActorKind, AuditStamp, administer_platform};
use munshi_store::Db;
use munshi_tiers::{ApplyPlan, Authorship, ROUTING};
use munshi_types::{IdGenerator, TenantId, Zone};

/// Does what they say in one transaction, and tells the audit who did.
pub async fn apply_plans<E>(
    db: &Db,
    plans: Vec<ApplyPlan>,
    zone: Zone,
    by: Authorship,
    ids: &IdGenerator,
) -> Result<(), E>
where
    E: From<munshi_store::Error> + From<munshi_safety::Error> + From<munshi_tiers::Error> + Send + 'static,
{
    let stamp = AuditStamp {
        actor: AuditActor::new(AuditActorKind::Operator, by.author.as_str()),
        ids: ids.clone(),
        now: by.made_at,
        claim: None,
    };
    let ids = ids.clone();
    administer_platform(db, ROUTING, TenantId::PLATFORM, stamp, move |tx| {
        Ok(munshi_tiers::apply(tx, plans, &zone, &by, &ids)?)
    })
    .await
}
