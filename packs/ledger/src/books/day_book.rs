//! The day book: entries page by page, the latest first; and one day from morning to evening, with the cash as it ran.

use std::collections::BTreeMap;

use munshi_store::{Cursor, Page, PageRequest, Tx, params};
use munshi_types::{Id, Money, Timestamp};
use uuid::Uuid;

use super::balances;
use super::contacts;
use super::day::LedgerDay;
use super::entry::{self, LedgerEntry};
use super::ids::{ContactId, LedgerEntryId};
use crate::error::Result;

/// More entries of one day than this are not listed; the cash at its end is right all the same.
const MOST: u32 = 5_000;

/// From a moment on, up to another that is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerPeriod {
    pub from: Timestamp,
    pub until: Timestamp,
}

impl LedgerPeriod {
    pub const EVER: Self = Self { from: Timestamp::EPOCH, until: Timestamp::MAX };
}

/// What happened in a span, cancelled entries and what cancels them too.
pub fn page(tx: &mut Tx<'_>, span: LedgerPeriod, request: &PageRequest) -> Result<Page<LedgerEntry>> {
    let end = Cursor { time: span.until, id: Uuid::nil() };
    let after = if (end.time, end.id) < (request.after.time, request.after.id) { end } else { request.after };
    let rows = tx.all(
        "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
         FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
         WHERE e.tenant_id = $1 AND e.happened_at >= $2 AND (e.happened_at, e.id) < ($3, $4)
         ORDER BY e.happened_at DESC, e.id DESC LIMIT $5",
        params![span.from, after.time, after.id, request.fetch_limit()],
        entry::read,
    )?;
    Ok(Page::from_rows(rows, request, cursor))
}

/// The entries of a contact and of those merged into it.
pub fn list_by_contact(
    tx: &mut Tx<'_>,
    contact: ContactId,
    request: &PageRequest,
) -> Result<Page<LedgerEntry>> {
    let root = contacts::get(tx, contact)?.id;
    let mut rows = Vec::new();
    for one in contacts::list_group(tx, root)? {
        rows.extend(list_rows_by_contact(tx, one, request)?);
    }
    rows.sort_unstable_by_key(|entry: &LedgerEntry| std::cmp::Reverse((entry.happened_at, entry.id)));
    Ok(Page::from_rows(rows, request, cursor))
}

fn list_rows_by_contact(
    tx: &mut Tx<'_>,
    contact: ContactId,
    request: &PageRequest,
) -> Result<Vec<LedgerEntry>> {
    Ok(tx.all(
        "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
         FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
         WHERE e.tenant_id = $1 AND e.contact_id = $2 AND (e.happened_at, e.id) < ($3, $4)
         ORDER BY e.happened_at DESC, e.id DESC LIMIT $5",
        params![contact, request.after.time, request.after.id, request.fetch_limit()],
        entry::read,
    )?)
}

/// One day, from morning to evening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayBook {
    pub day: LedgerDay,
    /// The cash before the day's first entry.
    pub opening: Money,
    /// Those that stand.
    pub lines: Vec<DayBookLine>,
    pub closing: Money,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayBookLine {
    pub entry: LedgerEntry,
    /// What it did to the cash.
    pub change: Money,
    /// The cash after it.
    pub cash: Money,
}

/// The entries of a day that stand, in the order they happened. A cancelled one and what cancels it lie on the same day,
/// so leaving out both changes no figure.
pub fn load_day(tx: &mut Tx<'_>, day: LedgerDay) -> Result<DayBook> {
    let since = cash_since(tx, day)?;
    let opening = balances::load_totals(tx)?.cash.minus(since)?;
    let changes = cash_changes(tx, day)?;
    let (mut cash, mut lines) = (opening, Vec::new());
    for entry in list_entries_on(tx, day)?.into_iter().filter(LedgerEntry::is_active) {
        let change = changes.get(&entry.id).copied().unwrap_or_default();
        cash = cash.plus(change)?;
        lines.push(DayBookLine { entry, change, cash });
    }
    let closing = Money::sum(changes.into_values())?.plus(opening)?;
    Ok(DayBook { day, opening, lines, closing })
}

/// With its signs SQLite sorts the day's few rows, where it would go through all days in the order that is asked for.
fn list_entries_on(tx: &mut Tx<'_>, day: LedgerDay) -> Result<Vec<LedgerEntry>> {
    Ok(tx.all(
        (
            "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                    e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                    r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
             FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
             WHERE e.tenant_id = $1 AND e.day = $2 ORDER BY +e.happened_at, +e.number LIMIT $3",
            "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                    e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                    r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
             FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
             WHERE e.tenant_id = $1 AND e.day = $2 ORDER BY e.happened_at, e.number LIMIT $3",
        ),
        params![day, MOST],
        entry::read,
    )?)
}

/// What the cash has changed by from a day on, of the kept turnover.
fn cash_since(tx: &mut Tx<'_>, day: LedgerDay) -> Result<Money> {
    Ok(tx.one(
        "SELECT CAST(coalesce(sum(CASE WHEN debit = 'cash' THEN amount ELSE -amount END), 0) AS BIGINT)
         FROM ledger_days WHERE tenant_id = $1 AND day >= $2 AND (debit = 'cash' OR credit = 'cash')",
        params![day],
        |row| row.get(0),
    )?)
}

fn cash_changes(tx: &mut Tx<'_>, day: LedgerDay) -> Result<BTreeMap<LedgerEntryId, Money>> {
    let rows: Vec<(LedgerEntryId, Money)> = tx.all(
        "SELECT entry_id, CASE WHEN debit = 'cash' THEN amount ELSE -amount END
         FROM ledger_postings WHERE tenant_id = $1 AND day = $2 AND (debit = 'cash' OR credit = 'cash')",
        params![day],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let mut changes: BTreeMap<LedgerEntryId, Money> = BTreeMap::new();
    for (entry, change) in rows {
        let sum = changes.entry(entry).or_default();
        *sum = sum.plus(change)?;
    }
    Ok(changes)
}

fn cursor(entry: &LedgerEntry) -> Cursor {
    Cursor { time: entry.happened_at, id: entry.id.as_uuid() }
}
