//! Entries as they stand in the books.

use munshi_store::{Row, Tx, params};
use munshi_types::{Money, PersonId, Timestamp};
use serde::Serialize;

use super::account::LedgerAccount;
use super::day::LedgerDay;
use super::ids::{ContactId, EntryKey, LedgerEntryId};
use super::stored_enums::{LedgerEntryKind, LedgerEntrySource};
use super::transaction::{Posting, StockMovement};
use crate::error::{Error, Result};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LedgerEntry {
    pub id: LedgerEntryId,
    /// In the order of writing, from one on and without a gap.
    pub number: i64,
    pub key: EntryKey,
    pub kind: LedgerEntryKind,
    pub happened_at: Timestamp,
    pub day: LedgerDay,
    pub made_at: Timestamp,
    pub said_by: Option<PersonId>,
    pub source: LedgerEntrySource,
    pub words: String,
    /// As it was when booked; it may have been merged into another since.
    pub contact: Option<ContactId>,
    /// Below zero where the entry reverses another.
    pub amount: Money,
    pub reference: Option<String>,
    pub fingerprint: Option<String>,
    /// The entry that this one cancels, and why.
    pub reverses: Option<LedgerEntryId>,
    pub reason: Option<String>,
    /// The cancelled entry in whose place this one stands.
    pub corrects: Option<LedgerEntryId>,
    /// None while it stands.
    pub cancelled: Option<EntryCancellation>,
}

/// How an entry was cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryCancellation {
    pub by: LedgerEntryId,
    pub at: Timestamp,
    pub reason: String,
}

impl LedgerEntry {
    /// Whether it counts: it was not cancelled and does not cancel another.
    pub fn is_active(&self) -> bool {
        self.cancelled.is_none() && self.reverses.is_none()
    }
}

pub fn find(tx: &mut Tx<'_>, id: LedgerEntryId) -> Result<Option<LedgerEntry>> {
    Ok(tx.optional(
        "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
         FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
         WHERE e.tenant_id = $1 AND e.id = $2",
        params![id],
        read,
    )?)
}

pub(super) fn get(tx: &mut Tx<'_>, id: LedgerEntryId) -> Result<LedgerEntry> {
    find(tx, id)?.ok_or_else(|| Error::missing("entry", &id))
}

/// The entry that was booked under a key.
pub fn find_by_key(tx: &mut Tx<'_>, key: EntryKey) -> Result<Option<LedgerEntry>> {
    Ok(tx.optional(
        "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
         FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
         WHERE e.tenant_id = $1 AND e.key = $2",
        params![key],
        read,
    )?)
}

/// The entry with a number, as people speak of it.
pub fn find_by_number(tx: &mut Tx<'_>, number: i64) -> Result<Option<LedgerEntry>> {
    Ok(tx.optional(
        "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
         FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
         WHERE e.tenant_id = $1 AND e.number = $2",
        params![number],
        read,
    )?)
}

/// What an entry moved between accounts.
pub fn postings(tx: &mut Tx<'_>, entry: LedgerEntryId) -> Result<Vec<Posting>> {
    Ok(tx.all(
        "SELECT debit, credit, contact_id, amount FROM ledger_postings WHERE tenant_id = $1 AND entry_id = $2
         ORDER BY line",
        params![entry],
        |row| {
            let account = |at: usize| row.get(at).map(LedgerAccount::from_code);
            Ok(Posting { debit: account(0)?, credit: account(1)?, contact: row.get(2)?, amount: row.get(3)? })
        },
    )?)
}

/// What an entry moved in stock.
pub fn movements(tx: &mut Tx<'_>, entry: LedgerEntryId) -> Result<Vec<StockMovement>> {
    Ok(tx.all(
        "SELECT item_id, quantity FROM ledger_movements WHERE tenant_id = $1 AND entry_id = $2 ORDER BY line",
        params![entry],
        |row| Ok(StockMovement { item: row.get(0)?, quantity: row.get(1)? }),
    )?)
}

pub(super) fn read(row: &Row<'_>) -> munshi_store::Result<LedgerEntry> {
    let by: Option<LedgerEntryId> = row.get("by_id")?;
    let cancelled = match by {
        Some(by) => Some(EntryCancellation { by, at: row.get("by_at")?, reason: row.get("by_reason")? }),
        None => None,
    };
    Ok(LedgerEntry {
        id: row.get("id")?,
        number: row.get("number")?,
        key: row.get("key")?,
        kind: row.get("kind")?,
        happened_at: row.get("happened_at")?,
        day: row.get("day")?,
        made_at: row.get("made_at")?,
        said_by: row.get("said_by")?,
        source: row.get("source")?,
        words: row.get("words")?,
        contact: row.get("contact_id")?,
        amount: row.get("amount")?,
        reference: row.get("reference")?,
        fingerprint: row.get("fingerprint")?,
        reverses: row.get("reverses")?,
        reason: row.get("reason")?,
        corrects: row.get("corrects")?,
        cancelled,
    })
}
