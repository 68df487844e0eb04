//! What the audit is told when tiers are applied.

use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_store::Tx;
use munshi_tiers::{ApplyPlan, Authorship, Result};
use munshi_types::IdGenerator;
use serde_json::json;

use crate::policy::convert_safety_error;

/// One entry for a tenant that is made and one for each tier, with the names of what changed in it and not the text.
pub fn build_recorder(
    ids: IdGenerator,
) -> impl Fn(&mut Tx<'_>, &ApplyPlan, &Authorship) -> Result<()> + Send + 'static {
    move |tx, plan, by| {
        let mut append = |event: AuditEvent, subject: String, payload| {
            let actor = AuditActor::new(AuditActorKind::Operator, by.author.as_str());
            let entry = NewAuditEntry { actor, event, subject, payload };
            audit::append(tx, &entry, by.made_at, &ids).map(|_| ()).map_err(convert_safety_error)
        };
        if plan.is_new {
            append(AuditEvent::TENANT_ADDED, plan.tenant.to_string(), json!({}))?;
        }
        for change in &plan.changes {
            let keys: Vec<&str> = change.fields.iter().map(|field| field.key.as_str()).collect();
            let payload =
                json!({ "action": change.action, "from": change.from, "to": change.to, "keys": keys });
            append(AuditEvent::TIER_CHANGED, format!("{} {}", change.kind, change.name), payload)?;
        }
        Ok(())
    }
}
