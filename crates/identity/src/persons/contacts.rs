//! Everybody a tenant has met, with how they are reached: what must be hidden from models elsewhere.

use munshi_store::{Result, Row, Tx, params};
use munshi_types::PersonId;

use super::sealed_contacts::{NAME, read_address, read_unless_forgotten};
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
    Ok(group_by_person(rows).pop())
}

type Line = (PersonId, String, Option<ContactAddress>);

fn line(row: &Row<'_>) -> Result<Line> {
    let id = row.get("id")?;
    let name = read_unless_forgotten(row, "name", NAME.cell(id), || Ok(String::new()))?;
    Ok((id, name, read_address(row)?))
}

/// A row for each address, those of a person one behind the other.
fn group_by_person(rows: Vec<Line>) -> Vec<PersonContacts> {
    let mut all: Vec<PersonContacts> = Vec::new();
    for (id, name, address) in rows {
        if all.last().is_none_or(|last| last.id != id) {
            all.push(PersonContacts { id, name, addresses: Vec::new() });
        }
        if let Some(last) = all.last_mut() {
            last.addresses.extend(address);
        }
    }
    all.iter_mut().for_each(|person| person.addresses.sort());
    all
}

/// Grows with every change of what [`list_contacts`] lists, whoever made it.
pub fn load_change_number(tx: &mut Tx<'_>) -> Result<i64> {
    let number =
        tx.optional("SELECT number FROM people_changes WHERE tenant_id = $1", params![], |row| row.get(0))?;
    Ok(number.unwrap_or(0))
}
