//! Lists of people, each with the keys of everybody in it fetched together.

use munshi_store::{
    Cursor, Error, JsonText, Page, PageRequest, Result, Row, SealedCell, Tx, params, sql_in_both_orders,
};
use munshi_types::Id;

use super::sealed_contacts::{NAME, TAGS, hash_name, unless_forgotten};
use super::{Person, read_unsealed};

/// Those who work here, the highest role first; who to ask.
pub fn list_members(tx: &mut Tx<'_>) -> Result<Vec<Person>> {
    let rows = tx.all(
        "SELECT id, name, role, opened, closed, tags, language, made_at, left_at, visitor, merged_into FROM persons
         WHERE tenant_id = $1 AND role IS NOT NULL AND left_at IS NULL
         ORDER BY CASE role WHEN 'owner' THEN 0 WHEN 'admin' THEN 1 WHEN 'staff' THEN 2 ELSE 3 END, made_at, id",
        params![],
        StoredPerson::read,
    )?;
    open_all(tx, rows)
}

/// Which people a list holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonFilter {
    Here,
    /// Those who have left too.
    Everybody,
}

/// Those who work here and those who don't, newest first or the other way round.
pub fn list(tx: &mut Tx<'_>, wanted: PersonFilter, request: &PageRequest) -> Result<Page<Person>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, name, role, opened, closed, tags, language, made_at, left_at, visitor, merged_into FROM persons
             WHERE tenant_id = $1 AND (made_at, id) < ($2, $3) AND (left_at IS NULL OR $4)
               AND merged_into IS NULL
             ORDER BY made_at DESC, id DESC LIMIT $5"
        )),
        params![request.after.time, request.after.id, wanted == PersonFilter::Everybody, request.fetch_limit()],
        StoredPerson::read,
    )?;
    let rows = open_all(tx, rows)?;
    Ok(Page::from_rows(rows, request, |person| Cursor { time: person.made_at, id: person.id.as_uuid() }))
}

/// Those of exactly this name, the oldest first; two people may share one. Who is being forgotten is called nothing.
pub fn list_by_name(tx: &mut Tx<'_>, name: &str) -> Result<Vec<Person>> {
    let hash = hash_name(tx, name)?;
    let rows = tx.all(
        "SELECT id, name, role, opened, closed, tags, language, made_at, left_at, visitor, merged_into FROM persons
         WHERE tenant_id = $1 AND (name_hash = $2 OR (name_hash IS NULL AND name = $3)) AND merged_into IS NULL
           AND forgotten_at IS NULL
         ORDER BY made_at, id LIMIT 20",
        params![hash, name],
        StoredPerson::read,
    )?;
    open_all(tx, rows)
}

/// Somebody as they stand in their row.
struct StoredPerson {
    /// Without a name and tags.
    person: Person,
    name: String,
    tags: JsonText,
}

impl StoredPerson {
    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self { person: read_unsealed(row)?, name: row.get("name")?, tags: row.get("tags")? })
    }
}

fn open_all(tx: &Tx<'_>, stored: Vec<StoredPerson>) -> Result<Vec<Person>> {
    let mut values: Vec<(SealedCell, &str)> = Vec::with_capacity(stored.len() * 2);
    for StoredPerson { person, name, tags } in &stored {
        values.extend([(NAME.cell(person.id), name.as_str()), (TAGS.cell(person.id), tags.as_str())]);
    }
    let mut opened = tx.open_all(&values)?.into_iter();
    let mut open_next = || opened.next().map(unless_forgotten).transpose().map(Option::flatten);
    let mut persons = Vec::with_capacity(stored.len());
    for StoredPerson { person, .. } in stored {
        let (name, tags) = (open_next()?.unwrap_or_default(), open_next()?);
        persons.push(Person { name, tags: tags.map_or(Ok(Vec::new()), |tags| read_tags(&tags))?, ..person });
    }
    Ok(persons)
}

fn read_tags(json: &str) -> Result<Vec<String>> {
    serde_json::from_str(json)
        .map_err(|error| Error::Decode(format!("column `tags`: {:?} error", error.classify())))
}
