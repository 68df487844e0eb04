//! What a tenant's own audit is told of it.

use munshi_safety::audit::{self, Actor, Event, NewEntry};
use munshi_store::{Db, PlatformTx};
use munshi_types::{Ids, Tenant, TenantId, Timestamp};
use serde_json::json;

use crate::commands::vault::Operator;
use crate::context::Context;
use crate::failure::Result;

pub(super) struct Telling {
    actor: Actor,
    ids: Ids,
    now: Timestamp,
}

impl Telling {
    pub(super) async fn of(
        context: &Context,
        operator: &Operator,
        db: &Db,
        tenant: TenantId,
    ) -> Result<Self> {
        let actor = operator.known_in(context, db, tenant).await?;
        Ok(Self { actor, ids: Ids::system(), now: context.now() })
    }

    /// Last in the transaction.
    pub(super) fn tell(
        &self,
        tx: &mut PlatformTx<'_>,
        tenant: &Tenant,
        event: Event,
    ) -> munshi_safety::Result<()> {
        let entry = NewEntry {
            actor: self.actor.clone(),
            event,
            subject: tenant.name.to_string(),
            payload: json!({ "status": tenant.status, "zone": tenant.zone }),
        };
        tx.as_tenant(tenant.id, |tx| audit::append(tx, &entry, self.now, &self.ids).map(|_| ()))
    }
}
