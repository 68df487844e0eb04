//! Taking back the last entry.

use munshi_safety::acts::Permit;
use munshi_store::{Tx, params};
use munshi_tools::{Done, Failure, Write};
use munshi_types::PersonId;

use super::call::{Call, Desk};
use super::told::Told;
use crate::books::{self, Cancelling, Entry, LedgerEntryId, entry};
use crate::error::Result as Booking;

/// Why, where the person said no more than that it should go.
const REASON: &str = "taken back by the one who said it";

pub(crate) struct CancelLast(pub(crate) Desk);

impl Write for CancelLast {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let entry = match entry::by_key(tx, call.key)?.and_then(|reversal| reversal.reverses) {
            Some(before) => before,
            None => last(tx, &call)?.id,
        };
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

    fn read_back(&self, permit: &Permit, _: &Done, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let call = self.0.call(permit, tx)?;
        let reversal = entry::by_key(tx, call.key)?;
        let cancelled =
            reversal.and_then(|entry| entry.reverses).map(|id| entry::find(tx, id)).transpose()?;
        let stands = cancelled.flatten().is_none_or(|entry| entry.stands());
        Ok(stands.then(|| "the entry was not cancelled".to_owned()))
    }
}

/// The last entry that this person made and that stands.
pub(crate) fn last(tx: &mut Tx<'_>, call: &Call<'_>) -> Result<Entry, Failure> {
    let id = call.by.map(|by| latest(tx, by)).transpose()?.flatten();
    let entry = id.map(|id| entry::find(tx, id)).transpose()?.flatten();
    entry.ok_or_else(nothing)
}

fn latest(tx: &mut Tx<'_>, by: PersonId) -> Booking<Option<LedgerEntryId>> {
    Ok(tx.optional(
        "SELECT e.id FROM ledger_entries e
         WHERE e.tenant_id = $1 AND e.said_by = $2 AND e.reverses IS NULL
           AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.tenant_id = $1 AND r.reverses = e.id)
         ORDER BY e.number DESC LIMIT 1",
        params![by],
        |row| row.get(0),
    )?)
}

fn nothing() -> Failure {
    Failure::surely("ledger_nothing_to_cancel", "this person has made no entry that stands")
}
