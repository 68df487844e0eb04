//! Which key a person's text is sealed by.

use munshi_store::{Result, SealedBy, Tx, params};
use munshi_types::{DataKeyId, Id, PersonId};

/// What text of this person is sealed by from now on. A person gets a key with the first text that is theirs, and keeps it: where
/// two become one, what either wrote stays under the key that it names.
pub fn seal_by_person(tx: &mut Tx<'_>, person: PersonId) -> Result<SealedBy> {
    let (tenant, owner) = (tx.tenant(), person.as_uuid());
    if let Some(known) = tx.keyring()?.find_known_key(tenant, owner) {
        return Ok(SealedBy::Person(known));
    }
    let key = match find_key(tx, person)? {
        Some(key) => key,
        None => assign_key(tx, person)?,
    };
    let keyring = tx.shared_keyring()?;
    tx.after_commit(move || keyring.remember_key(tenant, owner, key));
    Ok(SealedBy::Person(key))
}

fn find_key(tx: &mut Tx<'_>, person: PersonId) -> Result<Option<DataKeyId>> {
    tx.optional(
        "SELECT key_id FROM person_keys WHERE tenant_id = $1 AND person_id = $2",
        params![person],
        |row| row.get(0),
    )
}

fn assign_key(tx: &mut Tx<'_>, person: PersonId) -> Result<DataKeyId> {
    let new = tx.keyring()?.take_new_key(tx.tenant())?;
    tx.execute(
        "INSERT INTO person_keys (tenant_id, person_id, key_id) VALUES ($1, $2, $3)
         ON CONFLICT (tenant_id, person_id) DO NOTHING",
        params![person, new],
    )?;
    // Another may have been quicker; then theirs is the person's.
    Ok(find_key(tx, person)?.unwrap_or(new))
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
