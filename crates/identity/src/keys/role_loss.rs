//! Keys that somebody has made with keys of theirs, when they are less than they were.

use munshi_store::{Tx, params};
use munshi_types::{KeyId, PersonId, Timestamp};

use super::ApiKeyRecord;
use super::rows::{render_key_maker, revoke_with_children};
use crate::error::Result;
use crate::persons::Person;
use crate::role::Role;

/// Takes back what a person has made with keys of theirs, where their role falls or they leave; gives the keys that were good
/// until now. They don't come back with the role. Of a key that somebody else rotated since, the secret that they know ends.
pub fn revoke_after_role_loss(
    tx: &mut Tx<'_>,
    before: &Person,
    after: &Person,
    now: Timestamp,
) -> Result<Vec<ApiKeyRecord>> {
    if !is_lower(held_role(after), held_role(before)) {
        return Ok(Vec::new());
    }
    let made = list_made_by(tx, before.id)?;
    let revoked = revoke_all(tx, made, now)?;
    end_secrets(tx, before.id, now)?;
    Ok(revoked)
}

/// Takes back what stands for somebody who is forgotten, and what they have made; gives the keys that were good until now. Of a key that
/// somebody else rotated since, the secret that they know ends.
pub fn revoke_of_person(tx: &mut Tx<'_>, person: PersonId, now: Timestamp) -> Result<Vec<ApiKeyRecord>> {
    let mut theirs = list_of_person(tx, person)?;
    theirs.extend(list_made_by(tx, person)?);
    let revoked = revoke_all(tx, theirs, now)?;
    end_secrets(tx, person, now)?;
    Ok(revoked)
}

fn revoke_all(tx: &mut Tx<'_>, keys: Vec<KeyId>, now: Timestamp) -> Result<Vec<ApiKeyRecord>> {
    let mut revoked = Vec::new();
    for id in keys {
        if let Some(one) = revoke_with_children(tx, id, now)? {
            revoked.extend(one.changed.then_some(one.key).into_iter().chain(one.made_with_it));
        }
    }
    Ok(revoked)
}

fn end_secrets(tx: &mut Tx<'_>, maker: PersonId, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE api_key_secrets SET ends_at = $3 WHERE tenant_id = $1 AND maker_person = $2 AND ends_at > $3",
        params![maker, now],
    )?;
    Ok(())
}

/// Who has left has none.
fn held_role(person: &Person) -> Option<Role> {
    person.role.filter(|_| person.left_at.is_none())
}

fn is_lower(after: Option<Role>, before: Option<Role>) -> bool {
    match (after, before) {
        (Some(after), Some(before)) => after > before,
        (None, Some(_)) => true,
        (_, None) => false,
    }
}

/// The keys that stand for a person, good or not.
pub fn list_of_person(tx: &mut Tx<'_>, person: PersonId) -> munshi_store::Result<Vec<KeyId>> {
    tx.all(
        "SELECT id FROM api_keys WHERE tenant_id = $1 AND person_id = $2 ORDER BY id",
        params![person],
        |row| row.get(0),
    )
}

/// Keys that are good and whose maker is the person. From before that was stored, those that name a key of theirs as maker.
fn list_made_by(tx: &mut Tx<'_>, person: PersonId) -> Result<Vec<KeyId>> {
    let mut found: Vec<KeyId> = tx.all(
        "SELECT id FROM api_keys WHERE tenant_id = $1 AND maker_person = $2 AND revoked_at IS NULL ORDER BY id",
        params![person],
        |row| row.get(0),
    )?;
    let own = list_of_person(tx, person)?;
    for key in own {
        found.extend(tx.all(
            "SELECT id FROM api_keys
             WHERE tenant_id = $1 AND maker = $2 AND maker_person IS NULL AND revoked_at IS NULL ORDER BY id",
            params![render_key_maker(key)],
            |row| row.get::<KeyId>(0),
        )?);
    }
    Ok(found)
}
