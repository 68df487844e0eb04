//! What a tenant's audit is told when it may use more or less.

use munshi_safety::audit::{self, Actor, Event, NewEntry};
use munshi_store::Tx;
use munshi_types::{Ids, Timestamp};
use serde_json::Value;

/// Last in the transaction.
pub(super) fn tell(
    tx: &mut Tx<'_>,
    actor: Actor,
    subject: &str,
    payload: Value,
    now: Timestamp,
) -> munshi_safety::Result<()> {
    let entry = NewEntry { actor, event: Event::BUDGET_CHANGED, subject: subject.to_owned(), payload };
    audit::append(tx, &entry, now, &Ids::system()).map(|_| ())
}
