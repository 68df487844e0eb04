//! What is left of somebody who is forgotten: a row that says nothing, under an id that other rows name.

use munshi_store::{Error, Result, Tx, params};
use munshi_types::{Id, PersonId, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::personal_data::PersonalData;

pub const PERSONAL_DATA: &[PersonalData] =
    &[PersonalData { name: "persons", list_next: list_self, show: show_person, erase: erase_persons }];

fn show_person(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let id = PersonId::from_uuid(id);
    let Some(person) = super::find(tx, id)? else { return Ok(None) };
    let addresses: Vec<Value> = super::list_addresses(tx, id)?
        .iter()
        .map(|address| json!({ "kind": address.kind().as_str(), "address": address.as_str() }))
        .collect();
    Ok(Some(json!({ "person": person, "addresses": addresses })))
}

/// Takes everything from somebody by which they are known again, at once: whoever writes from there is somebody new, and nothing makes
/// somebody of the row again.
pub fn detach(tx: &mut Tx<'_>, person: PersonId, now: Timestamp) -> Result<()> {
    tx.execute(
        "DELETE FROM code_turns WHERE tenant_id = $1 AND whose IN (
           SELECT c.kind || ' ' || c.mailbox FROM one_time_codes c
           JOIN person_addresses a ON a.tenant_id = $1 AND a.kind = c.kind AND a.address = c.address
           WHERE c.tenant_id = $1 AND a.person_id = $2 AND c.mailbox IS NOT NULL)",
        params![person],
    )?;
    tx.execute(
        "DELETE FROM one_time_codes WHERE tenant_id = $1 AND EXISTS (
           SELECT 1 FROM person_addresses a WHERE a.tenant_id = $1 AND a.person_id = $2
             AND a.kind = one_time_codes.kind AND a.address = one_time_codes.address)",
        params![person],
    )?;
    tx.execute(
        "DELETE FROM code_turns WHERE tenant_id = $1 AND whose IN (
           SELECT a.kind || ' ' || a.address FROM person_addresses a WHERE a.tenant_id = $1 AND a.person_id = $2)",
        params![person],
    )?;
    tx.execute("DELETE FROM person_addresses WHERE tenant_id = $1 AND person_id = $2", params![person])?;
    tx.execute(
        "UPDATE persons SET left_at = COALESCE(left_at, $3), role = NULL, forgotten_at = COALESCE(forgotten_at, $3)
         WHERE tenant_id = $1 AND id = $2",
        params![person, now],
    )?;
    Ok(())
}

/// Whom somebody turned out to be, most themself; none where this database does not know them.
pub fn find_head(tx: &mut Tx<'_>, person: PersonId) -> Result<Option<PersonId>> {
    tx.optional(
        "SELECT COALESCE(merged_into, id) FROM persons WHERE tenant_id = $1 AND id = $2",
        params![person],
        |row| row.get(0),
    )
}

/// Whether somebody was forgotten, or is being forgotten.
pub fn is_forgotten(tx: &mut Tx<'_>, person: PersonId) -> Result<bool> {
    let found = tx.optional(
        "SELECT 1 FROM persons WHERE tenant_id = $1 AND id = $2 AND forgotten_at IS NOT NULL",
        params![person],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

/// Refuses what is done for somebody who was forgotten, or is being forgotten. Others are held until the transaction ends: whoever forgets
/// them waits, and sees what was done.
pub fn check_not_forgotten(tx: &mut Tx<'_>, person: PersonId) -> Result<()> {
    let forgotten_at: Option<Option<Timestamp>> = tx.optional(
        (
            "SELECT forgotten_at FROM persons WHERE tenant_id = $1 AND id = $2",
            "SELECT forgotten_at FROM persons WHERE tenant_id = $1 AND id = $2 FOR KEY SHARE",
        ),
        params![person],
        |row| row.get(0),
    )?;
    match forgotten_at.flatten() {
        None => Ok(()),
        Some(_) => Err(Error::Refused(format!("person {person} was forgotten"))),
    }
}

/// Somebody and those who turned out to be them, held until the transaction ends: whoever merges one of them, gives them an address or
/// takes a message of theirs waits, and sees what came of it.
pub fn lock_group(tx: &mut Tx<'_>, person: PersonId) -> Result<Vec<PersonId>> {
    // First the one that others lead to: nobody becomes them from then on.
    tx.optional(
        (
            "SELECT id FROM persons WHERE tenant_id = $1 AND id = $2",
            "SELECT id FROM persons WHERE tenant_id = $1 AND id = $2 FOR UPDATE",
        ),
        params![person],
        |_| Ok(()),
    )?;
    tx.all(
        (
            "SELECT id FROM persons WHERE tenant_id = $1 AND (id = $2 OR merged_into = $2) ORDER BY id",
            "SELECT id FROM persons WHERE tenant_id = $1 AND (id = $2 OR merged_into = $2) ORDER BY id FOR UPDATE",
        ),
        params![person],
        |row| row.get(0),
    )
}

/// Somebody and those who turned out to be them.
pub fn list_group(tx: &mut Tx<'_>, person: PersonId) -> Result<Vec<PersonId>> {
    tx.all(
        "SELECT id FROM persons WHERE tenant_id = $1 AND (id = $2 OR merged_into = $2) ORDER BY id",
        params![person],
        |row| row.get(0),
    )
}

fn list_self(_: &mut Tx<'_>, person: PersonId, after: Uuid, _: u32) -> Result<Vec<Uuid>> {
    Ok(if after < person.as_uuid() { vec![person.as_uuid()] } else { Vec::new() })
}

fn erase_persons(tx: &mut Tx<'_>, persons: &[Uuid]) -> Result<u64> {
    let mut erased = 0;
    for &id in persons {
        let person = PersonId::from_uuid(id);
        let addresses =
            tx.execute("DELETE FROM person_addresses WHERE tenant_id = $1 AND person_id = $2", params![id])?;
        let rows = tx.execute(
            (
                "UPDATE persons SET name = '', name_hash = NULL, tags = '[]', opened = '[]', closed = '[]', role = NULL,
                        language = NULL, visitor = TRUE, left_at = COALESCE(left_at, made_at)
                 WHERE tenant_id = $1 AND id = $2
                   AND (name <> '' OR name_hash IS NOT NULL OR tags <> '[]' OR opened <> '[]' OR closed <> '[]'
                        OR role IS NOT NULL OR language IS NOT NULL OR NOT visitor OR left_at IS NULL)",
                "UPDATE persons SET name = '', name_hash = NULL, tags = '[]'::jsonb, opened = '[]'::jsonb,
                        closed = '[]'::jsonb, role = NULL, language = NULL, visitor = TRUE,
                        left_at = COALESCE(left_at, made_at)
                 WHERE tenant_id = $1 AND id = $2
                   AND (name <> '' OR name_hash IS NOT NULL OR tags <> '[]'::jsonb OR opened <> '[]'::jsonb
                        OR closed <> '[]'::jsonb OR role IS NOT NULL OR language IS NOT NULL OR NOT visitor
                        OR left_at IS NULL)",
            ),
            params![person],
        )?;
        erased += addresses.max(rows);
    }
    Ok(erased)
}
