//! Two contacts that are one.

use munshi_store::{Tx, params};
use munshi_types::Money;

use super::forget::check_not_forgotten;
use super::{Contact, entry_effects, get};
use crate::books::ids::ContactId;
use crate::books::stored_enums::HabitSide;
use crate::books::{habits, head};
use crate::error::{Error, Result};

/// Merges one contact into another: balance, habits and names go over, and everything that spoke of the one means the
/// other from now on. Entries stay as they were booked. Merging again changes nothing.
pub fn merge(tx: &mut Tx<'_>, from: ContactId, into: ContactId) -> Result<Contact> {
    if from == into {
        return Err(Error::invalid("a contact can't be merged into itself: name two"));
    }
    head::lock(tx)?;
    let (one, other) = (get(tx, from)?, get(tx, into)?);
    check_not_forgotten(tx, one.id)?;
    check_not_forgotten(tx, other.id)?;
    if one.id != other.id {
        copy_missing_details(tx, &one, &other)?;
        merge_keeping_details(tx, one.id, other.id)?;
    }
    get(tx, other.id)
}

/// Merges without changing what is known of the other: an import has that from its file.
pub(in crate::books) fn merge_keeping_details(
    tx: &mut Tx<'_>,
    from: ContactId,
    into: ContactId,
) -> Result<()> {
    let mut head = head::lock(tx)?;
    let (one, other) = (get(tx, from)?, get(tx, into)?);
    if one.id == other.id {
        return Ok(());
    }
    entry_effects::set_balance(tx, &mut head, &one, Money::ZERO)?;
    entry_effects::set_balance(tx, &mut head, &other, other.balance.plus(one.balance)?)?;
    let sides = [HabitSide::Trade, HabitSide::Payment];
    let seen = sides.map(|side| habits::get(tx, one.id, side).map(|habit| habit.seen));
    redirect(tx, one.id, other.id)?;
    for (side, seen) in sides.into_iter().zip(seen) {
        habits::refresh(tx, other.id, side, seen?)?;
        habits::clear(tx, one.id, side)?;
    }
    head.save(tx)
}

/// Those that led to the one lead to the other too, so that nobody needs to follow twice.
fn redirect(tx: &mut Tx<'_>, from: ContactId, into: ContactId) -> Result<()> {
    tx.execute(
        "UPDATE ledger_contacts SET merged_into = $3 WHERE tenant_id = $1 AND (id = $2 OR merged_into = $2)",
        params![from, into],
    )?;
    Ok(())
}

/// What only the one knew. Of two limits the lower holds.
fn copy_missing_details(tx: &mut Tx<'_>, one: &Contact, other: &Contact) -> Result<()> {
    let limit = match (one.limit, other.limit) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => other.or(one),
    };
    tx.execute(
        "UPDATE ledger_contacts SET is_customer = $3, is_supplier = $4, is_staff = $5, phone = $6, credit_limit = $7
         WHERE tenant_id = $1 AND id = $2",
        params![
            other.id,
            one.roles.customer || other.roles.customer,
            one.roles.supplier || other.roles.supplier,
            one.roles.staff || other.roles.staff,
            other.phone.as_ref().or(one.phone.as_ref()),
            limit
        ],
    )?;
    Ok(())
}
