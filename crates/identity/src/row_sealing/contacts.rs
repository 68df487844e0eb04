//! Persons and their addresses from before both were sealed.

use munshi_store::{Error, JsonText, Result, RowMark, Tx, is_sealed, params};
use munshi_types::{Id, PersonId};

use crate::address::ContactAddress;
use crate::persons::{move_sealed_address, seal_name_and_tags};

struct PlainPerson {
    id: PersonId,
    name: String,
    tags: JsonText,
}

pub(super) fn seal_next(tx: &mut Tx<'_>, after: RowMark, limit: u32) -> Result<Option<RowMark>> {
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
        for address in list_plain_addresses(tx, *id)? {
            move_sealed_address(tx, *id, &address)?;
        }
    }
    Ok(persons.last().map(|last| RowMark { id: last.id.as_uuid(), number: 0 }))
}

fn list_plain_addresses(tx: &mut Tx<'_>, person: PersonId) -> Result<Vec<ContactAddress>> {
    let odd = || Error::Decode("an address has an unknown kind".to_owned());
    tx.all(
        "SELECT kind, address FROM person_addresses WHERE tenant_id = $1 AND person_id = $2 AND shown IS NULL",
        params![person],
        |row| ContactAddress::from_stored(&row.get::<String>(0)?, row.get(1)?).ok_or_else(odd),
    )
}
