//! The rows of texts: their numbers, what they are known by elsewhere, and the tokens they are found by.

use std::collections::{HashMap, HashSet};

use munshi_store::{Error, JsonText, Result, Row, Tx, params};
use munshi_types::Timestamp;
use uuid::Uuid;

use crate::BLOCK;

/// A text as the index has it.
#[derive(Clone, Debug)]
pub(crate) struct StoredDocument {
    pub(crate) number: i64,
    pub(crate) id: Uuid,
    pub(crate) at: Timestamp,
    pub(crate) tokens: Vec<i64>,
}

impl StoredDocument {
    pub(crate) const fn block(&self) -> i64 {
        self.number / BLOCK
    }
}

/// The place of a number in its block.
pub(crate) fn find_place(number: i64) -> u16 {
    u16::try_from(number % BLOCK).unwrap_or_default()
}

/// Of some texts those that the index does not have, in the same order.
pub fn list_unknown(tx: &mut Tx<'_>, ids: &[Uuid]) -> Result<Vec<Uuid>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let known: HashSet<Uuid> = tx
        .all(
            (
                "SELECT document_id FROM search_documents
                 WHERE tenant_id = $1 AND document_id IN (SELECT unhex(value) FROM json_each($2))",
                "SELECT document_id FROM search_documents
                 WHERE tenant_id = $1
                   AND document_id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
            ),
            params![encode_ids(ids)?],
            |row| row.get(0),
        )?
        .into_iter()
        .collect();
    Ok(ids.iter().copied().filter(|id| !known.contains(id)).collect())
}

/// Those of these ids that it has.
pub(crate) fn list(tx: &mut Tx<'_>, ids: &[Uuid]) -> Result<Vec<StoredDocument>> {
    tx.all(
        (
            "SELECT number, document_id, at, tokens FROM search_documents
             WHERE tenant_id = $1 AND document_id IN (SELECT unhex(value) FROM json_each($2))",
            "SELECT number, document_id, at, tokens FROM search_documents
             WHERE tenant_id = $1
               AND document_id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![encode_ids(ids)?],
        read,
    )
}

/// How many tokens each of these has that it has.
pub(crate) fn count_tokens(tx: &mut Tx<'_>, ids: &[Uuid]) -> Result<HashMap<Uuid, i64>> {
    let counted: Vec<(Uuid, i64)> = tx.all(
        (
            "SELECT document_id, LENGTH(tokens) / 8 FROM search_documents
             WHERE tenant_id = $1 AND document_id IN (SELECT unhex(value) FROM json_each($2))",
            "SELECT document_id, LENGTH(tokens)::bigint / 8 FROM search_documents
             WHERE tenant_id = $1
               AND document_id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![encode_ids(ids)?],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(counted.into_iter().collect())
}

/// Those from the first number to the last.
pub(crate) fn list_by_numbers(tx: &mut Tx<'_>, first: i64, last: i64) -> Result<Vec<StoredDocument>> {
    tx.all(
        "SELECT number, document_id, at, tokens FROM search_documents
         WHERE tenant_id = $1 AND number >= $2 AND number <= $3",
        params![first, last],
        read,
    )
}

pub(crate) fn insert(tx: &mut Tx<'_>, document: &StoredDocument) -> Result<()> {
    let tokens: Vec<u8> = document.tokens.iter().flat_map(|token| token.to_be_bytes()).collect();
    tx.send(
        "INSERT INTO search_documents (tenant_id, number, document_id, at, tokens) VALUES ($1, $2, $3, $4, $5)",
        params![document.number, document.id, document.at, tokens],
    )
}

pub(crate) fn delete(tx: &mut Tx<'_>, number: i64) -> Result<()> {
    tx.send("DELETE FROM search_documents WHERE tenant_id = $1 AND number = $2", params![number])
}

/// The same by what they are known by elsewhere, whatever else stands in their rows.
pub(crate) fn delete_all(tx: &mut Tx<'_>, ids: &[Uuid]) -> Result<()> {
    tx.send(
        (
            "DELETE FROM search_documents
             WHERE tenant_id = $1 AND document_id IN (SELECT unhex(value) FROM json_each($2))",
            "DELETE FROM search_documents
             WHERE tenant_id = $1
               AND document_id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![encode_ids(ids)?],
    )
}

fn encode_ids(ids: &[Uuid]) -> Result<JsonText> {
    JsonText::of(&ids.iter().map(|id| id.simple().to_string()).collect::<Vec<_>>())
}

fn read(row: &Row<'_>) -> Result<StoredDocument> {
    let stored: Vec<u8> = row.get("tokens")?;
    let (tokens, rest) = stored.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(Error::Decode("the tokens of a text in the search index are damaged".to_owned()));
    }
    let tokens = tokens.iter().map(|bytes| i64::from_be_bytes(*bytes)).collect();
    Ok(StoredDocument { number: row.get("number")?, id: row.get("document_id")?, at: row.get("at")?, tokens })
}
