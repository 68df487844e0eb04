//! The same thing said or seen twice. What is found is asked about, never decided here.

use std::time::Duration;

use munshi_lang::fold;
use munshi_store::{Tx, params};
use munshi_types::{Money, Timestamp};
use serde::Serialize;

use super::entry::{self, LedgerEntry};
use super::ids::{LedgerEntryId, digest};
use super::stored_enums::LedgerEntrySource;
use super::transaction::{EntryDraft, ShopTransaction};
use crate::error::Result;

/// How long after something the same again is doubted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateWindows {
    /// The same words from the same source.
    pub words: Duration,
    /// The same amount and person.
    pub amount: Duration,
}

impl Default for DuplicateWindows {
    fn default() -> Self {
        Self { words: Duration::from_secs(6 * 3600), amount: Duration::from_secs(15 * 60) }
    }
}

/// Why something may be in the books already, the surest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum DuplicateMatch {
    /// It is the very same payment.
    Fingerprint(LedgerEntry),
    Words(LedgerEntry),
    Amount(LedgerEntry),
}

impl DuplicateMatch {
    pub fn entry(&self) -> &LedgerEntry {
        match self {
            Self::Fingerprint(entry) | Self::Words(entry) | Self::Amount(entry) => entry,
        }
    }
}

/// What is about to be booked.
#[derive(Clone, Copy, Debug)]
pub struct DuplicateCandidate<'a> {
    pub act: &'a ShopTransaction,
    pub words: &'a str,
    pub fingerprint: Option<&'a str>,
    pub happened_at: Timestamp,
    pub now: Timestamp,
}

/// An entry that stands and is like what is about to be booked.
pub fn find_duplicate(
    tx: &mut Tx<'_>,
    seen: &DuplicateCandidate<'_>,
    windows: DuplicateWindows,
) -> Result<Option<DuplicateMatch>> {
    if let Some(fingerprint) = seen.fingerprint
        && let Some(entry) = find_by_fingerprint(tx, fingerprint)?
    {
        return Ok(Some(DuplicateMatch::Fingerprint(entry)));
    }
    if let Some(key) = words_key(seen.words)
        && let Some(entry) = find_by_words(tx, &key, seen.now.minus(windows.words))?
    {
        return Ok(Some(DuplicateMatch::Words(entry)));
    }
    let plan = seen.act.plan(seen.act.party())?;
    if plan.amount == Money::ZERO {
        return Ok(None);
    }
    let (from, to) = (seen.happened_at.minus(windows.amount), seen.happened_at.plus(windows.amount));
    Ok(find_by_amount(tx, &plan, (from, to))?.map(DuplicateMatch::Amount))
}

/// The latest entry of the same amount. Somebody unknown may be anybody.
fn find_by_amount(
    tx: &mut Tx<'_>,
    plan: &EntryDraft,
    (from, to): (Timestamp, Timestamp),
) -> Result<Option<LedgerEntry>> {
    Ok(tx.optional(
        "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
         FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
         LEFT JOIN ledger_contacts c ON c.tenant_id = $1 AND c.id = e.contact_id
         WHERE e.tenant_id = $1 AND e.amount = $2 AND e.happened_at BETWEEN $3 AND $4
           AND (e.kind = $5 OR (e.flow = $6 AND e.flow <> 0)) AND r.id IS NULL
           AND coalesce(coalesce(c.merged_into, e.contact_id)
             = coalesce((SELECT m.merged_into FROM ledger_contacts m WHERE m.tenant_id = $1 AND m.id = $7), $7), TRUE)
         ORDER BY e.happened_at DESC, e.number DESC LIMIT 1",
        params![plan.amount, from, to, plan.kind, plan.flow, plan.party],
        entry::read,
    )?)
}

/// The entry of the very same payment, if it stands.
pub fn find_known_payment(tx: &mut Tx<'_>, fingerprint: &str) -> Result<Option<LedgerEntry>> {
    find_by_fingerprint(tx, fingerprint)
}

/// Entries that stand by which the same amount went the same way around a time, the nearest first.
pub fn list_payments_near(
    tx: &mut Tx<'_>,
    act: &ShopTransaction,
    at: Timestamp,
    around: Duration,
) -> Result<Vec<LedgerEntry>> {
    let plan = act.plan(act.party())?;
    let mut near = tx.all(
        "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
         FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
         WHERE e.tenant_id = $1 AND e.amount = $2 AND e.happened_at BETWEEN $3 AND $4 AND e.flow = $5
           AND r.id IS NULL
         ORDER BY e.happened_at DESC, e.number DESC LIMIT 200",
        params![plan.amount, at.minus(around), at.plus(around), plan.flow],
        entry::read,
    )?;
    near.sort_by_key(|entry| entry.happened_at.as_micros().abs_diff(at.as_micros()));
    Ok(near)
}

/// Entries that stand now in the place of one by which this amount went this way around a time: whoever corrects the
/// amount of a payment speaks of the same payment.
pub fn list_corrected_near(
    tx: &mut Tx<'_>,
    act: &ShopTransaction,
    at: Timestamp,
    around: Duration,
) -> Result<Vec<LedgerEntry>> {
    let plan = act.plan(None)?;
    let wrong = tx.all(
        "SELECT e.id FROM ledger_entries e
         WHERE e.tenant_id = $1 AND e.amount = $2 AND e.happened_at BETWEEN $3 AND $4 AND e.flow = $5
           AND EXISTS (SELECT 1 FROM ledger_entries c WHERE c.tenant_id = $1 AND c.corrects = e.id)
         ORDER BY e.happened_at DESC, e.number DESC LIMIT 50",
        params![plan.amount, at.minus(around), at.plus(around), plan.flow],
        |row| row.get::<LedgerEntryId>(0),
    )?;
    let mut found: Vec<LedgerEntry> = Vec::new();
    for id in wrong {
        let right = load_latest_correction(tx, id)?;
        if right.is_active() && found.iter().all(|known| known.id != right.id) {
            found.push(right);
        }
    }
    Ok(found)
}

/// The last one that was put in the place of an entry.
fn load_latest_correction(tx: &mut Tx<'_>, entry: LedgerEntryId) -> Result<LedgerEntry> {
    let mut last = entry;
    while let Some(next) = tx.optional(
        "SELECT id FROM ledger_entries WHERE tenant_id = $1 AND corrects = $2",
        params![last],
        |row| row.get::<LedgerEntryId>(0),
    )? {
        last = next;
    }
    entry::get(tx, last)
}

/// One time that a payment was seen beside the one it was booked from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentSighting {
    pub fingerprint: String,
    pub source: LedgerEntrySource,
    pub at: Timestamp,
}

/// By what an entry was seen beside its own fingerprint.
pub fn sightings(tx: &mut Tx<'_>, entry: LedgerEntryId) -> Result<Vec<PaymentSighting>> {
    Ok(tx.all(
        "SELECT fingerprint, source, seen_at FROM ledger_sightings WHERE tenant_id = $1 AND entry_id = $2
         ORDER BY fingerprint, source",
        params![entry],
        |row| Ok(PaymentSighting { fingerprint: row.get(0)?, source: row.get(1)?, at: row.get(2)? }),
    )?)
}

/// Writes down that a payment was seen again, so that its other fingerprint is known from now on.
pub fn record_sighting(
    tx: &mut Tx<'_>,
    entry: LedgerEntryId,
    fingerprint: &str,
    source: LedgerEntrySource,
    now: Timestamp,
) -> Result<()> {
    tx.execute(
        "INSERT INTO ledger_sightings (tenant_id, fingerprint, seen_at, source, entry_id) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant_id, fingerprint, entry_id, source) DO NOTHING",
        params![fingerprint, now, source, entry],
    )?;
    Ok(())
}

/// What an entry was seen by, the one in its place was seen by too.
pub(super) fn copy_sightings(
    tx: &mut Tx<'_>,
    from: LedgerEntryId,
    to: LedgerEntryId,
    now: Timestamp,
) -> Result<()> {
    for seen in sightings(tx, from)? {
        record_sighting(tx, to, &seen.fingerprint, seen.source, now)?;
    }
    Ok(())
}

fn find_by_fingerprint(tx: &mut Tx<'_>, fingerprint: &str) -> Result<Option<LedgerEntry>> {
    let ids = tx.all(
        "SELECT id FROM ledger_entries WHERE tenant_id = $1 AND fingerprint = $2
         UNION SELECT entry_id FROM ledger_sightings WHERE tenant_id = $1 AND fingerprint = $2",
        params![fingerprint],
        |row| row.get::<LedgerEntryId>(0),
    )?;
    for id in ids {
        let entry = entry::get(tx, id)?;
        if entry.is_active() {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

fn find_by_words(tx: &mut Tx<'_>, key: &[u8], since: Timestamp) -> Result<Option<LedgerEntry>> {
    Ok(tx.optional(
        "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
         FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
         WHERE e.tenant_id = $1 AND e.words_key = $2 AND e.made_at >= $3 AND r.id IS NULL
         ORDER BY e.made_at DESC, e.number DESC LIMIT 1",
        params![key, since],
        entry::read,
    )?)
}

/// What two writings of the same words share: letters and digits, whatever stands between them.
pub(crate) fn words_key(words: &str) -> Option<Vec<u8>> {
    let plain = fold::normalize_spelling(words);
    let parts: Vec<&[u8]> = plain
        .split(|letter: char| letter.is_whitespace() || letter.is_ascii_punctuation() && letter != '.')
        .filter(|word| !word.is_empty())
        .map(str::as_bytes)
        .collect();
    (!parts.is_empty()).then(|| digest(&parts).to_vec())
}
