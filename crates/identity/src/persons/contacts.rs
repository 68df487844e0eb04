//! Everybody a tenant has met, with how they are reached: what must be hidden from models elsewhere.

use munshi_store::{Result, Row, SealedCell, Tx, params};
use munshi_types::PersonId;
use sha2::{Digest, Sha256};

use super::sealed_contacts::{NAME, StoredAddress, unless_forgotten};
use crate::ContactAddress;

/// Somebody's name and how they are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonContacts {
    pub id: PersonId,
    pub name: String,
    pub addresses: Vec<ContactAddress>,
}

/// So many of those who don't work here are listed, the last met.
pub const MOST_REACHED: i64 = 5_000;
/// They are looked for among so many rows: visitors without a name may be without number.
const MOST_LOOKED_AT: i64 = 4 * MOST_REACHED;

/// Those who work here and the last met of those who don't, the oldest first. Visitors who have said no name are left
/// out. Ids grow with time, so the last met are the end of the key.
pub fn list_contacts(tx: &mut Tx<'_>) -> Result<Vec<PersonContacts>> {
    let stored = list_sealed_contacts(tx)?;
    open_contacts(tx, &stored)
}

/// The same as they stand in their rows: for those who know what some of them hold, and open the others.
pub fn list_sealed_contacts(tx: &mut Tx<'_>) -> Result<Vec<SealedContacts>> {
    let rows = tx.all(
        "SELECT p.id, p.name, a.kind, a.address, a.shown
         FROM (SELECT id, name, made_at FROM persons
               WHERE tenant_id = $1 AND role IS NOT NULL AND left_at IS NULL
               UNION SELECT id, name, made_at FROM (
                 SELECT id, name, made_at FROM (
                   SELECT id, name, made_at, visitor, merged_into FROM persons WHERE tenant_id = $1
                   ORDER BY id DESC LIMIT $2) newest
                 WHERE merged_into IS NULL AND (name <> '' OR NOT visitor)
                 ORDER BY id DESC LIMIT $3) met) p
         LEFT JOIN person_addresses a ON a.tenant_id = $1 AND a.person_id = p.id
         ORDER BY p.made_at, p.id",
        params![MOST_LOOKED_AT, MOST_REACHED],
        line,
    )?;
    Ok(group_by_person(rows))
}

/// The same of one, whoever they are.
pub fn find_contacts(tx: &mut Tx<'_>, person: PersonId) -> Result<Option<PersonContacts>> {
    let rows = tx.all(
        "SELECT p.id, p.name, a.kind, a.address, a.shown FROM persons p
         LEFT JOIN person_addresses a ON a.tenant_id = $1 AND a.person_id = p.id
         WHERE p.tenant_id = $1 AND p.id = $2",
        params![person],
        line,
    )?;
    Ok(open_contacts(tx, &group_by_person(rows))?.pop())
}

/// Somebody as they stand in their rows.
pub struct SealedContacts {
    id: PersonId,
    name: String,
    addresses: Vec<StoredAddress>,
}

impl SealedContacts {
    pub fn id(&self) -> PersonId {
        self.id
    }

    /// The same as long as their rows are: another once anything was sealed anew, came or went.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        add(&self.name);
        // Rows of addresses come in no order.
        let mut addresses: Vec<_> = self.addresses.iter().map(StoredAddress::columns).collect();
        addresses.sort_unstable();
        for (kind, address, shown) in addresses {
            add(kind);
            add(address);
            add(shown.unwrap_or_default());
        }
        hash.finalize().into()
    }
}

type Line = (PersonId, String, Option<StoredAddress>);

fn line(row: &Row<'_>) -> Result<Line> {
    Ok((row.get("id")?, row.get("name")?, StoredAddress::read(row)?))
}

/// A row for each address, those of a person one behind the other.
fn group_by_person(rows: Vec<Line>) -> Vec<SealedContacts> {
    let mut all: Vec<SealedContacts> = Vec::new();
    for (id, name, address) in rows {
        if all.last().is_none_or(|last| last.id != id) {
            all.push(SealedContacts { id, name, addresses: Vec::new() });
        }
        if let Some(last) = all.last_mut() {
            last.addresses.extend(address);
        }
    }
    all
}

/// Each in its place. Each person has a key of their own: all of them are fetched together.
pub fn open_contacts(tx: &Tx<'_>, stored: &[SealedContacts]) -> Result<Vec<PersonContacts>> {
    let mut values: Vec<(SealedCell, &str)> = Vec::new();
    for person in stored {
        values.push((NAME.cell(person.id), &person.name));
        values.extend(person.addresses.iter().filter_map(StoredAddress::sealed));
    }
    let mut opened = tx.open_all(&values)?.into_iter();
    let mut all = Vec::with_capacity(stored.len());
    for person in stored {
        let name = opened.next().map(unless_forgotten).transpose()?.flatten().unwrap_or_default();
        let mut addresses = Vec::with_capacity(person.addresses.len());
        for address in &person.addresses {
            let shown = if address.sealed().is_some() { opened.next() } else { None };
            addresses.extend(address.open(shown)?);
        }
        addresses.sort();
        all.push(PersonContacts { id: person.id, name, addresses });
    }
    Ok(all)
}

/// Grows with every change of what [`list_contacts`] lists, whoever made it.
pub fn load_change_number(tx: &mut Tx<'_>) -> Result<i64> {
    let number =
        tx.optional("SELECT number FROM people_changes WHERE tenant_id = $1", params![], |row| row.get(0))?;
    Ok(number.unwrap_or(0))
}
