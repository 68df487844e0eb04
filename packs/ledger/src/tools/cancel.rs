//! Taking back an entry: the last one, or one that is named by its number. A payment that was put under a name is nobody's again: the money came all the same.

use munshi_safety::acts::Permit;
use munshi_store::{Tx, params};
use munshi_tools::{ToolFailure, ToolOutput, UndoCall, WriteToolHandler};
use munshi_types::{Effect, Money, PersonId, Reach, Timestamp, ToolSpec};
use serde_json::json;

use super::assign_payment;
use super::call::{LedgerServices, LedgerToolCall};
use super::owner_authority;
use super::result::LedgerToolResult;
use crate::books::{self, EntryCancelRequest, LedgerEntry, LedgerEntryId, entry};
use crate::error::Result as Booking;

/// Why, where the person said no more than that it should go.
const REASON: &str = "taken back by the one who said it";
const OTHERS_REASON: &str = "taken back by the owner";

/// How it is asked whether an entry should be taken back.
pub(crate) const CANCEL_ASK: &str = "ledger-cancel-ask";
pub(crate) const CANCEL_SCOPE: &str = "ledger.entry.cancel";

pub(crate) struct CancelLastTool(pub(crate) LedgerServices);

impl WriteToolHandler for CancelLastTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let before = entry::find_by_key(tx, call.key)?.and_then(|made| made.reverses.or(made.corrects));
        let entry = match before.map(|id| entry::find(tx, id)).transpose()?.flatten() {
            Some(before) => before,
            None => resolve_entry(tx, &call, (CANCEL_ASK, CANCEL_SCOPE))?,
        };
        match assign_payment::unassign(tx, &call, &entry)? {
            Some(told) => Ok(told.build()),
            None => cancel_entry(tx, &call, &entry),
        }
    }

    fn read_back(
        &self,
        permit: &Permit,
        _: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let made = entry::find_by_key(tx, call.key)?;
        let taken_back = made.and_then(|made| made.reverses.or(made.corrects));
        let taken_back = taken_back.map(|id| entry::find(tx, id)).transpose()?.flatten();
        let stands = taken_back.is_none_or(|entry| entry.is_active());
        Ok(stands.then(|| "the entry was not cancelled".to_owned()))
    }
}

/// The name of the tool that takes back what another has booked. No agent is offered it: a person asks for it by the act.
const UNDO: &str = "undo_entry";

/// How an entry is taken back.
pub(crate) fn undo_call(number: i64) -> Option<UndoCall> {
    Some(UndoCall::new(UNDO.parse().ok()?, json!({ "number": number })))
}

pub(crate) fn undo_spec() -> Result<ToolSpec, String> {
    let name = UNDO.parse().map_err(|_| format!("{UNDO} is no name for a tool"))?;
    Ok(ToolSpec {
        parameters: json!({
            "type": "object",
            "properties": { "number": { "type": "integer", "minimum": 1 } },
            "required": ["number"],
            "additionalProperties": false,
        }),
        effect: Effect::Inside,
        reach: Reach::Business,
        ..ToolSpec::read_only(name, "Takes back one entry by its number.".to_owned(), CANCEL_SCOPE.to_owned())
    })
}

/// Takes back the entry of exactly this number, and no other where that is gone.
pub(crate) struct UndoEntryTool(pub(crate) LedgerServices);

impl WriteToolHandler for UndoEntryTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let before = entry::find_by_key(tx, call.key)?.and_then(|made| made.reverses.or(made.corrects));
        if let Some(entry) = before.map(|id| entry::find(tx, id)).transpose()?.flatten() {
            return cancel_entry(tx, &call, &entry);
        }
        let may_all = match &call.who {
            Some(who) => owner_authority::has_owner_authority(tx, who, CANCEL_SCOPE)?,
            None => false,
        };
        let number = permit.arguments()["number"].as_i64().unwrap_or_default();
        let is_theirs = |entry: &LedgerEntry| {
            entry.is_active() && (may_all || (call.by.is_some() && entry.said_by == call.by))
        };
        let entry = entry::find_by_number(tx, number)?.filter(is_theirs).ok_or_else(no_such_entry)?;
        cancel_entry(tx, &call, &entry)
    }
}

fn cancel_entry(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    entry: &LedgerEntry,
) -> Result<ToolOutput, ToolFailure> {
    let reason = if entry.said_by == call.by { REASON } else { OTHERS_REASON };
    let cancelling = EntryCancelRequest { key: call.key, entry: entry.id, reason, by: call.by };
    books::cancel(tx, &call.booking_context(), &cancelling)?;
    let entry = entry::find(tx, entry.id)?.ok_or_else(nothing_to_cancel)?;
    let told = LedgerToolResult::default().entry(&entry).with("number", entry.number).phrase("cancelled");
    Ok(match entry.contact {
        Some(contact) => told.balance_of(tx, contact)?,
        None => told,
    }
    .build())
}

/// The entry that a question named, or the one that this person speaks of. What they wrote while a question of theirs
/// waited is not what they spoke of.
pub(crate) fn resolve_entry(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    (asked, scope): (&str, &str),
) -> Result<LedgerEntry, ToolFailure> {
    if let Some(number) = call.agreed_entry(asked) {
        return entry::find_by_number(tx, number)?.ok_or_else(nothing_to_cancel);
    }
    // Where nobody was asked nothing can have come in between, whatever a clock says.
    let until = call.has_approval(tx)?.then_some(call.asked_at);
    let may_all = match &call.who {
        Some(who) => owner_authority::has_owner_authority(tx, who, scope)?,
        None => false,
    };
    let number = call.entry_number();
    let none = if number.is_some() { no_such_entry } else { nothing_to_cancel };
    find_selected_entry(tx, &EntrySelector { by: call.by, may_all, number, until })?.ok_or_else(none)
}

/// Which entry somebody speaks of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntrySelector {
    pub(crate) by: Option<PersonId>,
    /// Whether others' entries may be meant: the owner's word reaches all of them.
    pub(crate) may_all: bool,
    /// As it was said: an entry's number, or what it was of.
    pub(crate) number: Option<i64>,
    pub(crate) until: Option<Timestamp>,
}

/// The entry of this number, or the latest of this amount in rupees; where no number was said, the last one of this
/// person, and of anybody where they have none. It stands.
pub(crate) fn find_selected_entry(tx: &mut Tx<'_>, meant: &EntrySelector) -> Booking<Option<LedgerEntry>> {
    let own = EntrySelector { may_all: false, ..*meant };
    let Some(number) = meant.number else {
        return match find_last(tx, &own, Money::ZERO)? {
            None if meant.may_all => find_last(tx, meant, Money::ZERO),
            own => Ok(own),
        };
    };
    let is_theirs = |entry: &LedgerEntry| {
        entry.is_active() && (meant.may_all || (meant.by.is_some() && entry.said_by == meant.by))
    };
    if let Some(entry) = entry::find_by_number(tx, number)?.filter(is_theirs) {
        return Ok(Some(entry));
    }
    match number.checked_mul(100).filter(|paise| *paise > 0) {
        Some(paise) => find_last(tx, meant, Money::from_paise(paise)),
        None => Ok(None),
    }
}

/// The last entry that stands, of this amount where it is not zero, made until a moment where one is given.
fn find_last(tx: &mut Tx<'_>, meant: &EntrySelector, amount: Money) -> Booking<Option<LedgerEntry>> {
    let until = meant.until.unwrap_or(Timestamp::from_micros(i64::MAX));
    let id = tx.optional(
        "SELECT e.id FROM ledger_entries e
         WHERE e.tenant_id = $1 AND ($3 = 1 OR e.said_by = $2) AND ($4 = 0 OR e.amount = $4) AND e.made_at <= $5
           AND e.reverses IS NULL
           AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.tenant_id = $1 AND r.reverses = e.id)
         ORDER BY e.number DESC LIMIT 1",
        params![meant.by, i64::from(meant.may_all), amount, until],
        |row| row.get::<LedgerEntryId>(0),
    )?;
    Ok(id.map(|id| entry::find(tx, id)).transpose()?.flatten())
}

fn nothing_to_cancel() -> ToolFailure {
    ToolFailure::permanent("ledger_nothing_to_cancel", "this person has made no entry that stands")
}

fn no_such_entry() -> ToolFailure {
    ToolFailure::permanent(
        "ledger_no_such_entry",
        "no entry of this number stands that this person may change",
    )
}
