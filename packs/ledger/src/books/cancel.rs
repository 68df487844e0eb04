//! Cancelling an entry: another one that reverses it, with a reason.

use munshi_store::Tx;
use munshi_types::PersonId;

use super::book::{BookedEntry, BookingContext};
use super::contacts;
use super::entry::{self, LedgerEntry};
use super::head::{self, BooksHead};
use super::ids::{EntryKey, LedgerEntryId};
use super::stored_enums::LedgerEntrySource;
use super::transaction::{Posting, StockMovement};
use super::write::{self, NewEntryRow};
use crate::error::{Error, Result};

/// The longest reason that is kept.
const MOST_REASON: usize = 500;

/// Who cancels, why and under which key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryCancelRequest<'a> {
    pub key: EntryKey,
    pub entry: LedgerEntryId,
    pub reason: &'a str,
    pub by: Option<PersonId>,
}

/// Cancels an entry that stands. The reversal is on the day of the entry, so that this day's figures become what truly
/// happened. Under a key that was used before it gives the reversal of then.
pub fn cancel(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    cancelling: &EntryCancelRequest<'_>,
) -> Result<BookedEntry> {
    let mut head = head::lock(tx)?;
    if let Some(entry) = entry::find_by_key(tx, cancelling.key)? {
        if entry.reverses != Some(cancelling.entry) {
            return Err(Error::KeyTaken { number: entry.number });
        }
        return Ok(BookedEntry { entry, is_repeat: true });
    }
    let entry = reverse(tx, &mut head, writing, cancelling, writing.ids.next())?;
    head.save(tx)?;
    Ok(BookedEntry { entry, is_repeat: false })
}

/// Writes the reversal of an entry, which must stand.
pub(super) fn reverse(
    tx: &mut Tx<'_>,
    head: &mut BooksHead,
    writing: &BookingContext<'_>,
    cancelling: &EntryCancelRequest<'_>,
    id: LedgerEntryId,
) -> Result<LedgerEntry> {
    let reason = cancelling.reason.trim();
    if reason.is_empty() || reason.chars().count() > MOST_REASON {
        return Err(Error::invalid(format!("say in at most {MOST_REASON} letters why it is cancelled")));
    }
    let original = entry::get(tx, cancelling.entry)?;
    ensure_cancellable(&original)?;
    let postings = negate_postings(entry::postings(tx, original.id)?)?;
    let back = |movement: StockMovement| StockMovement { quantity: movement.quantity.negated(), ..movement };
    let movements: Vec<StockMovement> = entry::movements(tx, original.id)?.into_iter().map(back).collect();
    let row = NewEntryRow {
        id,
        key: cancelling.key,
        kind: original.kind,
        side: original.contact.and_then(|_| original.kind.side()),
        happened_at: original.happened_at,
        day: original.day,
        made_at: writing.now,
        said_by: cancelling.by,
        source: LedgerEntrySource::Owner,
        words: "",
        words_key: None,
        contact: original.contact,
        amount: original.amount.negated()?,
        flow: 0,
        reference: None,
        fingerprint: None,
        reverses: Some(original.id),
        corrects: None,
        reason: Some(reason),
    };
    let party = original.contact.map(|contact| contacts::get(tx, contact)).transpose()?;
    write::write(tx, head, &row, party.as_ref(), &postings, &movements)
}

fn ensure_cancellable(entry: &LedgerEntry) -> Result<()> {
    if let Some(cancelled) = &entry.cancelled {
        return Err(Error::AlreadyCancelled { number: entry.number, reason: cancelled.reason.clone() });
    }
    if entry.reverses.is_some() {
        let what = format!(
            "entry {} cancels another and can't be cancelled itself: book the other again",
            entry.number
        );
        return Err(Error::Invalid(what));
    }
    Ok(())
}

fn negate_postings(postings: Vec<Posting>) -> Result<Vec<Posting>> {
    postings.into_iter().map(|posting| Ok(Posting { amount: posting.amount.negated()?, ..posting })).collect()
}
