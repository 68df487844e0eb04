//! Which key a person's text is sealed by.

use munshi_store::{PlatformScope, PlatformTx, Result, SealedBy, Tx, across_tenants, params};
use munshi_types::{DataKeyId, Id, PersonId, TenantId};

use super::{check_not_forgotten, find, is_forgotten};

/// Looking whether the store of keys fits the database.
pub const SEALING: PlatformScope = PlatformScope::new("sealing");

/// What text of this person is sealed by from now on. A person gets a key with the first text that is theirs, and keeps it: where
/// two become one, what either wrote stays under the key that it names. Who is forgotten is given none: the one they had is destroyed.
pub fn seal_by_person(tx: &mut Tx<'_>, person: PersonId) -> Result<SealedBy> {
    if let Some(known) = tx.find_owner_key(person.as_uuid())? {
        return Ok(SealedBy::Person(known));
    }
    let key = find_key(tx, person)?.map_or_else(|| assign_key(tx, person), Ok)?;
    remember(tx, person, key)
}

/// The key of a person as this database says, whatever the process remembers from another copy of it. None for somebody who was forgotten
/// and has none: nothing can be theirs.
pub fn find_or_assign_key(tx: &mut Tx<'_>, person: PersonId) -> Result<Option<DataKeyId>> {
    match find_key(tx, person)? {
        Some(key) => Ok(Some(key)),
        None if is_forgotten(tx, person)? => Ok(None),
        None => assign_key(tx, person).map(Some),
    }
}

/// The same for somebody who has a key already.
pub fn find_seal(tx: &mut Tx<'_>, person: PersonId) -> Result<Option<SealedBy>> {
    if let Some(known) = tx.find_owner_key(person.as_uuid())? {
        return Ok(Some(SealedBy::Person(known)));
    }
    find_key(tx, person)?.map(|key| remember(tx, person, key)).transpose()
}

/// The key of a person, or the tenant's own where there is none. Work on behalf of somebody who is gone meanwhile still has to
/// be ended, and nothing of theirs is written with it.
pub fn seal_by_owner(tx: &mut Tx<'_>, person: Option<PersonId>) -> Result<SealedBy> {
    let Some(person) = person else { return Ok(SealedBy::Tenant) };
    if let Some(known) = find_seal(tx, person)? {
        return Ok(known);
    }
    let is_gone = match find(tx, person) {
        Err(error) if error.is_unreadable() => false,
        found => found?.is_none(),
    };
    if is_gone { Ok(SealedBy::Tenant) } else { seal_by_person(tx, person) }
}

fn remember(tx: &mut Tx<'_>, person: PersonId, key: DataKeyId) -> Result<SealedBy> {
    tx.remember_owner_key(person.as_uuid(), key)?;
    Ok(SealedBy::Person(key))
}

fn find_key(tx: &mut Tx<'_>, person: PersonId) -> Result<Option<DataKeyId>> {
    tx.optional(
        "SELECT key_id FROM person_keys WHERE tenant_id = $1 AND person_id = $2",
        params![person],
        |row| row.get(0),
    )
}

/// Whoever is quicker decides: both have the same key.
fn assign_key(tx: &mut Tx<'_>, person: PersonId) -> Result<DataKeyId> {
    check_not_forgotten(tx, person)?;
    let new = tx.keyring()?.take_new_key(tx.tenant())?;
    tx.one(
        "INSERT INTO person_keys (tenant_id, person_id, key_id) VALUES ($1, $2, $3)
         ON CONFLICT (tenant_id, person_id) DO UPDATE SET key_id = person_keys.key_id RETURNING key_id",
        params![person, new],
        |row| row.get(0),
    )
}

/// Says which key somebody has, where a copy of the database from before does not know it: nothing of theirs gets another.
pub fn restore_key(tx: &mut Tx<'_>, person: PersonId, key: DataKeyId) -> Result<()> {
    tx.execute(
        "INSERT INTO person_keys (tenant_id, person_id, key_id) VALUES ($1, $2, $3)
         ON CONFLICT (tenant_id, person_id) DO NOTHING",
        params![person, key],
    )?;
    Ok(())
}

/// The keys of a person and of everybody who turned out to be them.
pub fn list_keys(tx: &mut Tx<'_>, person: PersonId) -> Result<Vec<DataKeyId>> {
    tx.all(
        "SELECT k.key_id FROM person_keys k JOIN persons p ON p.tenant_id = $1 AND p.id = k.person_id
         WHERE k.tenant_id = $1 AND (p.id = $2 OR p.merged_into = $2) ORDER BY k.person_id",
        params![person],
        |row| row.get(0),
    )
}

/// The keys given last, by whichever tenant: a store of keys that lacks them is older than this database.
pub fn list_newest_keys(tx: &mut PlatformTx<'_>, limit: u32) -> Result<Vec<(TenantId, DataKeyId)>> {
    tx.all(
        across_tenants("SELECT tenant_id, key_id FROM person_keys ORDER BY key_id DESC LIMIT $1"),
        params![limit],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}
