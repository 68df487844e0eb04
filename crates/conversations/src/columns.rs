//! What rows of turns hold that the store has no type for.

use std::str::FromStr;

use munshi_store::{ColumnIndex, Error, JsonText, Result, Row, SealedCell};
use munshi_types::tier::LanguageCode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::state::HaltReason;

/// A word that is one of a few.
pub(crate) fn read_enum<T: FromStr<Err = String>>(row: &Row<'_>, at: impl ColumnIndex) -> Result<T> {
    row.get::<String>(at)?.parse().map_err(Error::Decode)
}

pub(crate) fn read_optional_enum<T: FromStr<Err = String>>(
    row: &Row<'_>,
    at: impl ColumnIndex,
) -> Result<Option<T>> {
    row.get::<Option<String>>(at)?.map(|text| text.parse().map_err(Error::Decode)).transpose()
}

pub(crate) fn read_language(row: &Row<'_>, at: impl ColumnIndex) -> Result<Option<LanguageCode>> {
    row.get::<Option<String>>(at)?.map(|text| text.parse().map_err(Error::Decode)).transpose()
}

pub(crate) fn read_json<T: DeserializeOwned>(row: &Row<'_>, at: impl ColumnIndex) -> Result<T> {
    row.get::<JsonText>(at)?.read()
}

pub(crate) fn read_optional_json<T: DeserializeOwned>(
    row: &Row<'_>,
    at: impl ColumnIndex,
) -> Result<Option<T>> {
    row.get::<Option<JsonText>>(at)?.map(|json| json.read()).transpose()
}

/// A column of JSON that is sealed.
pub(crate) fn read_sealed_json<T: DeserializeOwned>(
    row: &Row<'_>,
    at: impl ColumnIndex,
    cell: SealedCell,
) -> Result<T> {
    row.get_sealed::<JsonText>(at, cell)?.read()
}

pub(crate) fn read_optional_sealed_json<T: DeserializeOwned>(
    row: &Row<'_>,
    at: impl ColumnIndex,
    cell: SealedCell,
) -> Result<Option<T>> {
    row.get_sealed::<Option<JsonText>>(at, cell)?.map(|json| json.read()).transpose()
}

pub(crate) fn encode_json<T: Serialize>(value: Option<&T>) -> Result<Option<JsonText>> {
    value.map(JsonText::of).transpose()
}

/// Why a run was halted: kept as the JSON of it, so that it reads back whole.
pub(crate) fn read_halt(row: &Row<'_>, cell: SealedCell) -> Result<Option<HaltReason>> {
    let text: Option<String> = row.get_sealed("reason", cell)?;
    let unreadable = |error: serde_json::Error| Error::Decode(format!("invalid halt reason: {error}"));
    text.map(|text| serde_json::from_str(&text).map_err(unreadable)).transpose()
}

/// Counts that never were negative.
pub(crate) fn read_count(row: &Row<'_>, at: impl ColumnIndex) -> Result<u32> {
    let number: i64 = row.get(at)?;
    u32::try_from(number).map_err(|_| Error::Decode(format!("{number} is not a valid count")))
}
