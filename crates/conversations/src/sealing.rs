//! Whose key sealed text gets, and values that may be absent.
//!
//! Everything of a conversation is sealed by the key of its person, as they are known where it is written: where two
//! persons become one, what was sealed before stays under the key that it names.

pub use munshi_identity::persons::seal_by_owner;
use munshi_store::{JsonText, Result, SealedBy, SealedCell, SealedText, Tx};
use serde::Serialize;

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
