//! Invoices, bills and receipts: numbered without a gap within their series, and never changed.

use munshi_store::{JsonText, Row, Tx, params};
use munshi_types::{IdGenerator, Timestamp};
use serde::{Deserialize, Serialize};

use super::contacts;
use super::head;
use super::ids::{ContactId, DocumentId, LedgerEntryId};
use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    Invoice,
    BillOfSupply,
    Receipt,
    /// A paper that somebody else wrote.
    Scan,
}

impl DocumentKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Invoice => "invoice",
            Self::BillOfSupply => "bill_of_supply",
            Self::Receipt => "receipt",
            Self::Scan => "scan",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLedgerDocument {
    pub kind: DocumentKind,
    /// Such as `INV/26-27`; numbers begin at one in each.
    pub series: String,
    pub entry: Option<LedgerEntryId>,
    pub contact: Option<ContactId>,
    /// All that is printed, so that it prints the same for ever.
    pub body: JsonText,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerDocument {
    pub id: DocumentId,
    pub kind: String,
    pub series: String,
    pub number: i64,
    pub entry: Option<LedgerEntryId>,
    pub contact: Option<ContactId>,
    pub body: JsonText,
    pub made_at: Timestamp,
}

impl LedgerDocument {
    /// Whether it is what a customer gets for a sale.
    pub fn is_bill(&self) -> bool {
        [DocumentKind::Invoice, DocumentKind::BillOfSupply].iter().any(|kind| kind.as_str() == self.kind)
    }
}

/// Files a document under the next number of its series.
pub fn add(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    now: Timestamp,
    new: &NewLedgerDocument,
) -> Result<LedgerDocument> {
    // Tax law allows sixteen characters for series and number together.
    if new.series.trim().is_empty() || new.series.chars().count() > 12 {
        return Err(Error::invalid("a series has 1 to 12 letters, such as INV/26-27"));
    }
    head::lock(tx)?;
    let contact =
        new.contact.map(|contact| contacts::get(tx, contact)).transpose()?.map(|contact| contact.id);
    let last: i64 = tx.one(
        "SELECT coalesce(max(number), 0) FROM ledger_documents WHERE tenant_id = $1 AND series = $2",
        params![new.series],
        |row| row.get(0),
    )?;
    let id: DocumentId = ids.next();
    tx.execute(
        "INSERT INTO ledger_documents (tenant_id, id, kind, series, number, entry_id, contact_id, body, made_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        params![id, new.kind.as_str(), new.series, last + 1, new.entry, contact, new.body, now],
    )?;
    find(tx, id)?.ok_or_else(|| Error::missing("document", &id))
}

pub fn find(tx: &mut Tx<'_>, id: DocumentId) -> Result<Option<LedgerDocument>> {
    Ok(tx.optional(
        "SELECT id, kind, series, number, entry_id, contact_id, body, made_at FROM ledger_documents
         WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )?)
}

/// The documents of an entry, in the order they were made.
pub fn list_for_entry(tx: &mut Tx<'_>, entry: LedgerEntryId) -> Result<Vec<LedgerDocument>> {
    Ok(tx.all(
        "SELECT id, kind, series, number, entry_id, contact_id, body, made_at FROM ledger_documents
         WHERE tenant_id = $1 AND entry_id = $2 ORDER BY made_at, id",
        params![entry],
        read,
    )?)
}

fn read(row: &Row<'_>) -> munshi_store::Result<LedgerDocument> {
    Ok(LedgerDocument {
        id: row.get("id")?,
        kind: row.get("kind")?,
        series: row.get("series")?,
        number: row.get("number")?,
        entry: row.get("entry_id")?,
        contact: row.get("contact_id")?,
        body: row.get("body")?,
        made_at: row.get("made_at")?,
    })
}
