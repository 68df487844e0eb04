//! Taking back the last entry. A payment that was put under a name is nobody's again: the money came all the same.

use munshi_safety::acts::Permit;
use munshi_store::{Tx, params};
use munshi_tools::{Done, Failure, Write};
use munshi_types::{PersonId, Timestamp};

use super::call::{Call, Desk};
use super::sort;
use super::told::Told;
use crate::books::{self, Cancelling, Entry, LedgerEntryId, entry};
use crate::error::Result as Booking;

/// Why, where the person said no more than that it should go.
const REASON: &str = "taken back by the one who said it";

/// How it is asked whether an entry should be taken back.
pub(crate) const CANCEL_ASK: &str = "ledger-cancel-ask";

pub(crate) struct CancelLast(pub(crate) Desk);

impl Write for CancelLast {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let before = entry::by_key(tx, call.key)?.and_then(|made| made.reverses.or(made.corrects));
        let entry = match before.map(|id| entry::find(tx, id)).transpose()?.flatten() {
            Some(before) => before,
            None => last(tx, &call, CANCEL_ASK)?,
        };
        match sort::back(tx, &call, &entry)? {
            Some(told) => Ok(told.done()),
            None => cancelled(tx, &call, entry.id),
        }
    }

    fn read_back(&self, permit: &Permit, _: &Done, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let call = self.0.call(permit, tx)?;
        let made = entry::by_key(tx, call.key)?;
        let taken_back = made.and_then(|made| made.reverses.or(made.corrects));
        let taken_back = taken_back.map(|id| entry::find(tx, id)).transpose()?.flatten();
        let stands = taken_back.is_none_or(|entry| entry.stands());
        Ok(stands.then(|| "the entry was not cancelled".to_owned()))
    }
}

fn cancelled(tx: &mut Tx<'_>, call: &Call<'_>, entry: LedgerEntryId) -> Result<Done, Failure> {
    let cancelling = Cancelling { key: call.key, entry, reason: REASON, by: call.by };
    books::cancel(tx, &call.writing(), &cancelling)?;
    let entry = entry::find(tx, entry)?.ok_or_else(nothing)?;
    let told = Told::default().entry(&entry).with("number", entry.number).say("cancelled");
    Ok(match entry.contact {
        Some(contact) => told.standing(tx, contact)?,
        None => told,
    }
    .done())
}

/// The entry that a question named, or the last one that this person made and that stands. What they wrote while a
/// question of theirs waited is not what they spoke of.
pub(crate) fn last(tx: &mut Tx<'_>, call: &Call<'_>, asked: &str) -> Result<Entry, Failure> {
    if let Some(number) = call.agreed_to(asked) {
        return entry::by_number(tx, number)?.ok_or_else(nothing);
    }
    // Where nobody was asked nothing can have come in between, whatever a clock says.
    let until = call.has_waited(tx)?.then_some(call.asked_at);
    let found = call.by.map(|by| last_of(tx, by, until)).transpose()?.flatten();
    found.ok_or_else(nothing)
}

/// The last entry of somebody that stands, made until a moment where one is given.
pub(crate) fn last_of(tx: &mut Tx<'_>, by: PersonId, until: Option<Timestamp>) -> Booking<Option<Entry>> {
    let until = until.unwrap_or(Timestamp::from_micros(i64::MAX));
    let id = tx.optional(
        "SELECT e.id FROM ledger_entries e
         WHERE e.tenant_id = $1 AND e.said_by = $2 AND e.made_at <= $3 AND e.reverses IS NULL
           AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.tenant_id = $1 AND r.reverses = e.id)
         ORDER BY e.number DESC LIMIT 1",
        params![by, until],
        |row| row.get::<LedgerEntryId>(0),
    )?;
    Ok(id.map(|id| entry::find(tx, id)).transpose()?.flatten())
}

fn nothing() -> Failure {
    Failure::surely("ledger_nothing_to_cancel", "this person has made no entry that stands")
}
