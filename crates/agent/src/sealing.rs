//! Whose key sealed text gets, and values that may be absent.
//!
//! Everything of a conversation is sealed by the key of its person, as they are known where it is written: where two
//! persons become one, what was sealed before stays under the key that it names.

use munshi_identity::persons::seal_by_person;
use munshi_store::{JsonText, Result, SealedBy, SealedCell, SealedText, Tx, params};
use munshi_types::{PersonId, SessionId};
use serde::Serialize;

/// The key of a person, or the tenant's own where there is none.
pub(crate) fn seal_by(tx: &mut Tx<'_>, person: Option<PersonId>) -> Result<SealedBy> {
    match person {
        Some(person) => seal_by_person(tx, person),
        None => Ok(SealedBy::Tenant),
    }
}

/// The key of a session's person, where the session is all that is known.
pub(crate) fn seal_by_session(tx: &mut Tx<'_>, session: SessionId) -> Result<SealedBy> {
    let person = tx.optional(
        "SELECT person_id FROM sessions WHERE tenant_id = $1 AND id = $2",
        params![session],
        |row| row.get(0),
    )?;
    seal_by(tx, person)
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
