//! What only the owner's word allows. Credit is given and taken on it, however that comes about: who pays more than was
//! open has made a debt as well. Entries of others are changed on it too.

use munshi_identity::{Principal, persons};
use munshi_safety::{approvals, policy};
use munshi_store::Tx;
use munshi_tools::ToolFailure;
use munshi_types::Money;

use super::book::BookingKind;
use super::call::LedgerToolCall;
use crate::books::{LedgerEntry, contacts};
use crate::error::{Error, Result as Booking};

/// Whether a payment goes beyond what is open, so that somebody owes what nobody owed before it.
pub(crate) fn exceeds_balance(what: BookingKind, balance: Money, amount: Money) -> Booking<bool> {
    Ok(match what {
        BookingKind::Received => balance.minus(amount)?.is_negative(),
        BookingKind::Paid => balance.plus(amount)? > Money::ZERO,
        _ => false,
    })
}

/// By which scope a debt is opened to somebody who is not the owner.
pub(crate) const fn credit_scope(what: BookingKind) -> &'static str {
    match what {
        BookingKind::Paid | BookingKind::CreditGiven => "ledger.credit.add",
        _ => "ledger.debt.add",
    }
}

/// Whether somebody may do what the owner's word allows for this scope.
pub(crate) fn has_owner_authority(tx: &mut Tx<'_>, who: &Principal, scope: &str) -> Booking<bool> {
    let (_, policy) = policy::load_current(tx).map_err(|error| to_decode_error(&error))?;
    Ok(munshi_identity::has_owner_authority(who, &policy.roles, scope))
}

fn to_decode_error(error: &impl ToString) -> Error {
    munshi_store::Error::Decode(error.to_string()).into()
}

/// Whether whoever asked, or whoever said yes to it, may.
fn is_call_authorized(tx: &mut Tx<'_>, call: &LedgerToolCall<'_>, scope: &str) -> Booking<bool> {
    if let Some(who) = &call.who
        && has_owner_authority(tx, who, scope)?
    {
        return Ok(true);
    }
    let asked = approvals::find_by_act(tx, call.act).map_err(|error| to_decode_error(&error))?;
    let Some(by) = asked.and_then(|asked| asked.answered_by) else { return Ok(false) };
    let person = persons::find_living(tx, by).map_err(|error| to_decode_error(&error))?;
    match person.map(|person| person.principal(tx)) {
        Some(who) => has_owner_authority(tx, &who, scope),
        None => Ok(false),
    }
}

/// Fails where a payment that was just written has made a debt without the owner's word: all of it is undone then.
pub(super) fn ensure_authorized(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    entry: &LedgerEntry,
) -> Result<(), ToolFailure> {
    let what = BookingKind::from_kind(entry.kind)
        .filter(|what| matches!(what, BookingKind::Received | BookingKind::Paid));
    let (Some(what), Some(contact)) = (what, entry.contact) else { return Ok(()) };
    let balance = contacts::get(tx, contact)?.balance;
    if !exceeds_balance(what, balance, Money::ZERO)? || is_call_authorized(tx, call, credit_scope(what))? {
        return Ok(());
    }
    let detail = "it goes beyond what is open, and credit is given and taken on the owner's word alone: \
                  nothing was written, have the owner say it";
    Err(ToolFailure::permanent("ledger_owners_word", detail))
}
