//! What a tenant's own audit is told of it.

use munshi_safety::audit::{self, AuditActor, AuditEvent, NewAuditEntry};
use munshi_store::{Db, PlatformTx};
use munshi_types::{IdGenerator, Tenant, TenantId, Timestamp};
use munshi_wiring::failure::Result;
use serde_json::json;

use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

pub(super) struct TenantAuditContext {
    actor: AuditActor,
    ids: IdGenerator,
    now: Timestamp,
}

impl TenantAuditContext {
    pub(super) async fn from_operator(
        context: &CommandContext,
        operator: &OperatorArguments,
        db: &Db,
        tenant: TenantId,
    ) -> Result<Self> {
        let actor = operator.resolve_actor(context, db, tenant).await?;
        Ok(Self { actor, ids: IdGenerator::system(), now: context.now() })
    }

    /// Last in the transaction.
    pub(super) fn record(
        &self,
        tx: &mut PlatformTx<'_>,
        tenant: &Tenant,
        event: AuditEvent,
    ) -> munshi_safety::Result<()> {
        let entry = NewAuditEntry {
            actor: self.actor.clone(),
            event,
            subject: tenant.name.to_string(),
            payload: json!({ "status": tenant.status, "zone": tenant.zone }),
        };
        tx.as_tenant(tenant.id, |tx| audit::append(tx, &entry, self.now, &self.ids).map(|_| ()))
    }
}
