//! What a tenant's audit is told when it may use more or less.

use munshi_safety::audit::{self, AuditActor, AuditEvent, NewAuditEntry};
use munshi_store::Tx;
use munshi_types::{IdGenerator, Timestamp};
use serde_json::Value;

/// Last in the transaction.
pub(super) fn record_budget_change(
    tx: &mut Tx<'_>,
    actor: AuditActor,
    subject: &str,
    payload: Value,
    now: Timestamp,
) -> munshi_safety::Result<()> {
    let entry =
        NewAuditEntry { actor, event: AuditEvent::BUDGET_CHANGED, subject: subject.to_owned(), payload };
    audit::append(tx, &entry, now, &IdGenerator::system()).map(|_| ())
}
