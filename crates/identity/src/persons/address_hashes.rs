//! Addresses as they are found: by keyed hashes, which nobody needs to open anything for.

use munshi_store::{Result, SealedBy, Tx, params};
use munshi_types::PersonId;
use serde::{Deserialize, Serialize};

use super::find_seal;
use super::sealed_contacts::{AddressKey, StoredAddress};
use crate::address::ContactAddress;

/// What an address is found by in the rows of a tenant. Nothing of the address can be read from it, and it outlives the key that the
/// address itself is sealed by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AddressHash(String);

impl AddressHash {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is stored in place of an address.
pub fn hash_address(tx: &Tx<'_>, address: &ContactAddress) -> Result<AddressHash> {
    AddressKey::of(tx, address).map(|key| AddressHash(key.hashed))
}

/// What a person is reached by, whether or not it can still be opened.
pub fn list_address_hashes(tx: &mut Tx<'_>, person: PersonId) -> Result<Vec<AddressHash>> {
    let found = tx.all(
        "SELECT kind, address, shown FROM person_addresses WHERE tenant_id = $1 AND person_id = $2",
        params![person],
        StoredAddress::read,
    )?;
    found.iter().flatten().map(|stored| hash_stored(tx, stored)).collect()
}

fn hash_stored(tx: &Tx<'_>, stored: &StoredAddress) -> Result<AddressHash> {
    match stored.open_plain()? {
        Some(plain) => hash_address(tx, &plain),
        None => Ok(AddressHash(stored.columns().1.to_owned())),
    }
}

/// The key of whoever has one of these addresses, the first that is somebody's, held until the transaction ends: whoever forgets them
/// waits. None where nobody has any, or they have no key yet.
pub fn find_seal_by_address(tx: &mut Tx<'_>, addresses: &[AddressHash]) -> Result<Option<SealedBy>> {
    for address in addresses {
        let found: Option<PersonId> = tx.optional(
            (
                "SELECT p.id FROM person_addresses a JOIN persons p ON p.tenant_id = $1 AND p.id = a.person_id
                 WHERE a.tenant_id = $1 AND a.kind IN ('phone', 'email', 'handle', 'channel') AND a.address = $2
                   AND p.forgotten_at IS NULL",
                "SELECT p.id FROM person_addresses a JOIN persons p ON p.tenant_id = $1 AND p.id = a.person_id
                 WHERE a.tenant_id = $1 AND a.kind IN ('phone', 'email', 'handle', 'channel') AND a.address = $2
                   AND p.forgotten_at IS NULL FOR KEY SHARE OF p",
            ),
            params![address.as_str()],
            |row| row.get(0),
        )?;
        if let Some(person) = found {
            return find_seal(tx, person);
        }
    }
    Ok(None)
}
