//! Booking an act.

use munshi_store::Tx;
use munshi_types::{IdGenerator, PersonId, Timestamp, Zone};

use super::contacts::{self, entry_effects};
use super::day::LedgerDay;
use super::dedup;
use super::entry::{self, LedgerEntry};
use super::head::{self, BooksHead};
use super::ids::{EntryKey, LedgerEntryId};
use super::items;
use super::stored_enums::LedgerEntrySource;
use super::transaction::{EntryDraft, ShopTransaction};
use super::write::{self, NewEntryRow};
use crate::error::{Error, Result};

/// The longest text that is kept of what was said.
const MOST_WORDS: usize = 2_000;
/// The longest reference or fingerprint.
pub(super) const MOST_MARK: usize = 200;
const DAY_MICROS: i64 = 86_400_000_000;

/// When and where something is written: the same for all entries of one transaction.
#[derive(Clone, Copy, Debug)]
pub struct BookingContext<'a> {
    pub ids: &'a IdGenerator,
    pub now: Timestamp,
    /// The tenant's: it decides which day a moment lies on.
    pub zone: &'a Zone,
}

/// How an act came to be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryProvenance {
    pub by: Option<PersonId>,
    pub source: LedgerEntrySource,
    pub words: String,
    pub happened_at: Timestamp,
    /// The bank's or the bill's own number.
    pub reference: Option<String>,
    /// By which the same payment is known again.
    pub fingerprint: Option<String>,
}

impl EntryProvenance {
    pub fn new(source: LedgerEntrySource, words: impl Into<String>, happened_at: Timestamp) -> Self {
        Self { by: None, source, words: words.into(), happened_at, reference: None, fingerprint: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLedgerEntry {
    pub key: EntryKey,
    pub act: ShopTransaction,
    pub said: EntryProvenance,
}

/// An entry, and whether it was there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookedEntry {
    pub entry: LedgerEntry,
    pub is_repeat: bool,
}

/// The books, which nobody else writes to until the transaction ends, and what stands under a key.
pub struct BooksLock {
    head: BooksHead,
    entry: Option<LedgerEntry>,
}

/// Holds the books for an act, so that what is looked at from now on is still so when it is booked.
pub fn lock_for(tx: &mut Tx<'_>, key: EntryKey) -> Result<BooksLock> {
    let head = head::lock(tx)?;
    Ok(BooksLock { head, entry: entry::find_by_key(tx, key)? })
}

impl BooksLock {
    /// Whether the key was used before.
    pub fn is_booked(&self) -> bool {
        self.entry.is_some()
    }

    /// Books the act that the books are held for. Where its key was used before it gives the entry of then.
    pub fn book(
        mut self,
        tx: &mut Tx<'_>,
        writing: &BookingContext<'_>,
        new: &NewLedgerEntry,
    ) -> Result<BookedEntry> {
        if let Some(entry) = self.entry {
            ensure_same(tx, &entry, new)?;
            return Ok(BookedEntry { entry, is_repeat: true });
        }
        let entry = insert_entry(tx, &mut self.head, writing, new, None)?;
        self.head.save(tx)?;
        Ok(BookedEntry { entry, is_repeat: false })
    }
}

/// Books an act. Under a key that was used before it gives the entry of then.
pub fn book(tx: &mut Tx<'_>, writing: &BookingContext<'_>, new: &NewLedgerEntry) -> Result<BookedEntry> {
    lock_for(tx, new.key)?.book(tx, writing, new)
}

/// Writes an act that is known to be new.
pub(super) fn insert_entry(
    tx: &mut Tx<'_>,
    head: &mut BooksHead,
    writing: &BookingContext<'_>,
    new: &NewLedgerEntry,
    corrects: Option<LedgerEntryId>,
) -> Result<LedgerEntry> {
    let id = writing.ids.next();
    insert_entry_with_id(tx, head, writing, new, corrects, id)
}

/// Writes an act under an id that is known, as an import has it.
pub(super) fn insert_entry_with_id(
    tx: &mut Tx<'_>,
    head: &mut BooksHead,
    writing: &BookingContext<'_>,
    new: &NewLedgerEntry,
    corrects: Option<LedgerEntryId>,
    id: LedgerEntryId,
) -> Result<LedgerEntry> {
    check(&new.said, writing.now)?;
    let party = new.act.party().map(|party| contacts::get(tx, party)).transpose()?;
    let plan = new.act.plan(party.as_ref().map(|party| party.id))?;
    for movement in &plan.movements {
        items::get(tx, movement.item)?;
    }
    if let Some(party) = &party {
        entry_effects::add_role(tx, party, plan.kind)?;
    }
    let row = row(writing, new, &plan, corrects, id);
    write::write(tx, head, &row, party.as_ref(), &plan.postings, &plan.movements)
}

fn row<'a>(
    writing: &BookingContext<'_>,
    new: &'a NewLedgerEntry,
    plan: &EntryDraft,
    corrects: Option<LedgerEntryId>,
    id: LedgerEntryId,
) -> NewEntryRow<'a> {
    NewEntryRow {
        id,
        key: new.key,
        kind: plan.kind,
        side: plan.party.and_then(|_| plan.kind.side()),
        happened_at: new.said.happened_at,
        day: LedgerDay::of(new.said.happened_at, writing.zone),
        made_at: writing.now,
        said_by: new.said.by,
        source: new.said.source,
        words: &new.said.words,
        words_key: dedup::words_key(&new.said.words),
        contact: plan.party,
        amount: plan.amount,
        flow: plan.flow,
        reference: new.said.reference.as_deref(),
        fingerprint: new.said.fingerprint.as_deref(),
        reverses: None,
        corrects,
        reason: None,
    }
}

fn check(said: &EntryProvenance, now: Timestamp) -> Result<()> {
    if said.words.chars().count() > MOST_WORDS {
        return Err(Error::invalid(format!("what was said is kept up to {MOST_WORDS} letters: shorten it")));
    }
    let marks = [said.reference.as_deref(), said.fingerprint.as_deref()];
    if marks.into_iter().flatten().any(|mark| mark.is_empty() || mark.chars().count() > MOST_MARK) {
        return Err(Error::invalid(format!("a reference or fingerprint has 1 to {MOST_MARK} letters")));
    }
    let latest = now.as_micros().saturating_add(DAY_MICROS);
    if said.happened_at < Timestamp::EPOCH || said.happened_at.as_micros() > latest {
        return Err(Error::invalid(format!(
            "{} can't be when it happened: say another day",
            said.happened_at
        )));
    }
    Ok(())
}

/// Whether an entry is what would be booked; anything else under its key is a mistake of the caller.
pub(super) fn ensure_same(tx: &mut Tx<'_>, entry: &LedgerEntry, new: &NewLedgerEntry) -> Result<()> {
    let root = |tx: &mut Tx<'_>, id| contacts::get(tx, id).map(|contact| contact.id);
    let party = new.act.party().map(|party| root(tx, party)).transpose()?;
    let booked = entry.contact.map(|contact| root(tx, contact)).transpose()?;
    let plan = new.act.plan(party)?;
    let alike =
        (entry.kind, entry.amount, booked) == (plan.kind, plan.amount, party) && entry.reverses.is_none();
    if alike { Ok(()) } else { Err(Error::KeyTaken { number: entry.number }) }
}
