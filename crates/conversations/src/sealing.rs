//! Whose key sealed text gets, and values that may be absent.
//!
//! Everything of a conversation is sealed by the key of its person, as they are known where it is written: where two
//! persons become one, what was sealed before stays under the key that it names.

use munshi_identity::persons;
use munshi_store::{JsonText, Result, SealedBy, SealedCell, SealedText, Tx};
use munshi_types::PersonId;
use serde::Serialize;

/// The key of a person, or the tenant's own where there is none. Work on behalf of somebody who is gone meanwhile still has to
/// be ended, and nothing of theirs is written with it.
pub fn seal_by(tx: &mut Tx<'_>, person: Option<PersonId>) -> Result<SealedBy> {
    let Some(person) = person else { return Ok(SealedBy::Tenant) };
    if let Some(known) = persons::find_seal(tx, person)? {
        return Ok(known);
    }
    let is_gone = match persons::find(tx, person) {
        Err(error) if error.is_unreadable() => false,
        found => found?.is_none(),
    };
    if is_gone { Ok(SealedBy::Tenant) } else { persons::seal_by_person(tx, person) }
}

pub(crate) fn seal_optional(
    tx: &Tx<'_>,
    by: SealedBy,
    cell: SealedCell,
    text: Option<&str>,
) -> Result<Option<SealedText>> {
    text.map(|text| tx.seal(by, cell, text)).transpose()
}

pub(crate) fn seal_optional_json<T: Serialize>(
    tx: &Tx<'_>,
    by: SealedBy,
    cell: SealedCell,
    value: Option<&T>,
) -> Result<Option<JsonText>> {
    value.map(|value| tx.seal_json(by, cell, value)).transpose()
}
