//! What is known by how somebody is reached, and not by who they are: it is forgotten before they lose their addresses.

use std::collections::BTreeMap;

use munshi_identity::persons::{self, AddressHash};
use munshi_store::Tx;
use munshi_types::{PersonId, Timestamp};

use crate::error::Result;
use crate::service::ErasureService;

/// A table of a floor that knows addresses alone, such as what waits to be taken in from other platforms.
pub trait AddressedRecords: Send + Sync + 'static {
    /// What it is, as receipts name it.
    fn name(&self) -> &'static str;

    /// Removes or empties what is of these addresses, and says how many rows there were. Done again it finds none. It gets hashes and no
    /// addresses: in an older copy, which is told again, nothing of somebody forgotten opens.
    fn forget(&self, tx: &mut Tx<'_>, addresses: &[AddressHash], now: Timestamp) -> Result<u64>;
}

/// Forgets what is known by a person's addresses; they must still have them. Says how many rows were changed, by kind.
pub(crate) fn forget_addressed(
    tx: &mut Tx<'_>,
    service: &ErasureService,
    person: PersonId,
    now: Timestamp,
) -> Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    if service.addressed.is_empty() {
        return Ok(counts);
    }
    let addresses = persons::list_address_hashes(tx, person)?;
    for records in &service.addressed {
        let count = records.forget(tx, &addresses, now)?;
        if count > 0 {
            *counts.entry(records.name().to_owned()).or_default() += count;
        }
    }
    Ok(counts)
}
