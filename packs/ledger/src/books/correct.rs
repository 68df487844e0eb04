//! Correcting an entry: it is cancelled, and the right one is booked in its place.

use munshi_store::Tx;

use super::book::{self, BookingContext, NewLedgerEntry};
use super::cancel::{self, EntryCancelRequest};
use super::dedup;
use super::entry::{self, LedgerEntry};
use super::head;
use super::ids::LedgerEntryId;
use crate::error::{Error, Result};

/// The entry that was wrong, now cancelled, and the one in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryCorrection {
    pub wrong: LedgerEntry,
    pub right: LedgerEntry,
    pub is_repeat: bool,
}

/// Puts a right entry in the place of a wrong one, which is known again by whatever the wrong one was seen by. Under a key that was used before it gives what was done then.
pub fn correct(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    wrong: LedgerEntryId,
    right: &NewLedgerEntry,
    reason: &str,
) -> Result<EntryCorrection> {
    let mut head = head::lock(tx)?;
    if let Some(entry) = entry::find_by_key(tx, right.key)? {
        if entry.corrects != Some(wrong) {
            return Err(Error::KeyTaken { number: entry.number });
        }
        book::ensure_same(tx, &entry, right)?;
        return Ok(EntryCorrection { wrong: entry::get(tx, wrong)?, right: entry, is_repeat: true });
    }
    let cancelling =
        EntryCancelRequest { key: right.key.derive_second(), entry: wrong, reason, by: right.said.by };
    // Both or neither, also where the caller goes on after an error.
    let right = tx.attempt(|tx| {
        cancel::reverse(tx, &mut head, writing, &cancelling, writing.ids.next())?;
        let right = book::insert_entry(tx, &mut head, writing, right, Some(wrong))?;
        dedup::copy_sightings(tx, wrong, right.id, writing.now)?;
        head.save(tx)?;
        Ok::<_, Error>(right)
    })?;
    Ok(EntryCorrection { wrong: entry::get(tx, wrong)?, right, is_repeat: false })
}
