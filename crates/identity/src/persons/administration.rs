//! What administration does to people: only in a transaction that tells the audit.

use munshi_store::{AdminTx, Result};
use munshi_types::PersonId;

use super::{Person, add_address, forget_browsers, upsert};
use crate::address::ContactAddress;

/// Adds somebody, or replaces what is known of them as [`upsert`] does, and ties addresses to them. One that is somebody
/// else's is a [`Conflict`](munshi_store::Error::Conflict).
pub fn save(tx: &mut AdminTx<'_, '_>, person: &Person, addresses: &[ContactAddress]) -> Result<()> {
    upsert(tx, person)?;
    addresses.iter().try_for_each(|address| add_address(tx, person.id, address))
}

/// Removes every browser that somebody was recognised by; gives how many there were.
pub fn clear_browsers(tx: &mut AdminTx<'_, '_>, person: PersonId) -> Result<u64> {
    forget_browsers(tx, person)
}
