//! What the audit hears of signing in and of who may: ids, never an e-mail, a password or a link.

use munshi_identity::keys::ApiKeyRecord;
use munshi_identity::links;
use munshi_identity::operators::{Operator, roles};
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_store::PlatformTx;
use munshi_types::{IdGenerator, OperatorId, TenantId, Timestamp};
use serde_json::{Value, json};

use crate::access::AccessState;
use crate::error::ApiError;

/// Who does it, and when.
#[derive(Clone, Debug)]
pub struct AccountAuditContext {
    actor: AuditActor,
    ids: IdGenerator,
    pub now: Timestamp,
}

impl AccountAuditContext {
    pub fn for_operator(access: &AccessState, operator: OperatorId) -> Self {
        let actor = AuditActor::new(AuditActorKind::Operator, links::render_maker(operator));
        Self { actor, ids: access.ids.clone(), now: access.clock.now() }
    }

    /// Something nobody who is known did.
    pub fn for_system(access: &AccessState) -> Self {
        let actor = AuditActor::new(AuditActorKind::System, "sign-in");
        Self { actor, ids: access.ids.clone(), now: access.clock.now() }
    }

    /// Last in the transaction: in the chain of the installation, and of those tenants whom it concerns.
    pub fn record(
        &self,
        tx: &mut PlatformTx<'_>,
        tenants: &[TenantId],
        event: &str,
        subject: String,
        payload: Value,
    ) -> Result<(), ApiError> {
        let event: AuditEvent = event.parse().map_err(ApiError::from)?;
        let entry = NewAuditEntry { actor: self.actor.clone(), event, subject, payload };
        let mut chains: Vec<TenantId> = tenants.to_vec();
        chains.push(TenantId::PLATFORM);
        // In one order, so that no two wait for each other.
        chains.sort_unstable();
        chains.dedup();
        for chain in chains {
            tx.as_tenant(chain, |tx| audit::append(tx, &entry, self.now, &self.ids).map(|_| ()))
                .map_err(ApiError::from)?;
        }
        Ok(())
    }
}

impl AccountAuditContext {
    /// Keys that an account had made before its e-mail was proved.
    pub fn record_unproved_keys(
        &self,
        tx: &mut PlatformTx<'_>,
        keys: &[(TenantId, ApiKeyRecord)],
    ) -> Result<(), ApiError> {
        for (tenant, key) in keys {
            let why = "it was made before its maker's e-mail was proved";
            let payload = json!({ "name": key.name, "why": why });
            self.record(tx, &[*tenant], "api_key.revoked", key.id.to_string(), payload)?;
        }
        Ok(())
    }
}

/// The tenants that hear of what an account does: those it has a role in.
pub fn list_affected_tenants(
    tx: &mut PlatformTx<'_>,
    operator: &Operator,
) -> Result<Vec<TenantId>, ApiError> {
    Ok(roles::list(tx, operator.id)?.into_iter().map(|(tenant, _)| tenant).collect())
}
