//! Persons and their addresses from before both were sealed.

use munshi_store::{JsonText, Result, RowMark, Tx, is_sealed, params};
use munshi_types::{Id, PersonId};

use crate::persons::{seal_name_and_tags, seal_plain_addresses};

struct PlainPerson {
    id: PersonId,
    name: String,
    tags: JsonText,
}

pub(super) fn seal_next(tx: &mut Tx<'_>, after: RowMark, limit: u32) -> Result<Option<RowMark>> {
    let next = "SELECT 1 FROM persons WHERE tenant_id = $1 AND id > $2 LIMIT 1";
    if tx.optional(next, params![after.id], |_| Ok(()))?.is_none() {
        return Ok(None);
    }
    // First, as whoever ties an address does: the change of a person counts there, and neither waits for the other in a ring.
    tx.execute(
        "INSERT INTO people_changes (tenant_id, number) VALUES ($1, 1)
         ON CONFLICT (tenant_id) DO UPDATE SET number = people_changes.number + 1",
        params![],
    )?;
    let persons = tx.all(
        (
            "SELECT id, name, tags FROM persons WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3",
            "SELECT id, name, tags FROM persons WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3
             FOR NO KEY UPDATE",
        ),
        params![after.id, limit],
        |row| Ok(PlainPerson { id: row.get(0)?, name: row.get(1)?, tags: row.get(2)? }),
    )?;
    for PlainPerson { id, name, tags } in &persons {
        let is_plain = |text: &str| !is_sealed(text) && !matches!(text, "" | "[]");
        if is_plain(name) || is_plain(tags.as_str()) {
            seal_name_and_tags(tx, *id, name, tags)?;
        }
        seal_plain_addresses(tx, *id)?;
    }
    Ok(persons.last().map(|last| RowMark { id: last.id.as_uuid(), number: 0 }))
}
