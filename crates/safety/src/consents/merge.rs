//! Whoever consented turns out to be somebody known.

use munshi_store::Tx;
use munshi_types::PersonId;
use serde_json::json;

use super::store;
use crate::acts::DeferredAuditEntries;
use crate::audit::{AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use crate::error::Result;

/// Whoever consented is known under another row by now. What either row withdrew, the person withdrew: what was agreed to before that under
/// the other holds no longer, and the audit is to be told so at the end of the transaction.
pub fn move_person(tx: &mut Tx<'_>, from: PersonId, into: PersonId) -> Result<DeferredAuditEntries> {
    store::lock(tx, from, into)?;
    let ending = store::list_withdrawn_by_other(tx, from, into)?;
    store::move_all(tx, from, into)?;
    let mut audit = DeferredAuditEntries::default();
    for (at, (newest, purpose)) in ending.iter().enumerate() {
        if ending[..at].iter().any(|(_, seen)| seen == purpose) {
            continue;
        }
        let ended = ending.iter().filter(|(_, other)| other == purpose).count();
        let entry = NewAuditEntry {
            actor: AuditActor::new(AuditActorKind::System, "merge"),
            event: AuditEvent::CONSENT_WITHDRAWN,
            subject: newest.to_string(),
            payload: json!({ "purpose": purpose, "person": into, "was": from, "ended": ended, "via": "merge" }),
        };
        audit = audit.merge(DeferredAuditEntries::from_entry(entry));
    }
    Ok(audit)
}
