//! One entry and what is kept of it, worked out again: cheap enough to be done after each.

use munshi_store::{Tx, params};
use munshi_types::Money;

use super::Finding;
use crate::books::contacts;
use crate::books::entry::{self, Entry};
use crate::books::items;
use crate::books::quantity::Quantity;
use crate::error::Result;

/// The first figure around an entry that does not follow: its amount, its day, its contact, its stock.
pub fn around(tx: &mut Tx<'_>, entry: &Entry) -> Result<Option<Finding>> {
    if let Some(finding) = amount(tx, entry)? {
        return Ok(Some(finding));
    }
    if let Some(finding) = day(tx, entry)? {
        return Ok(Some(finding));
    }
    if let Some(finding) = contact(tx, entry)? {
        return Ok(Some(finding));
    }
    stock(tx, entry)
}

fn amount(tx: &mut Tx<'_>, entry: &Entry) -> Result<Option<Finding>> {
    let postings = entry::postings(tx, entry.id)?;
    let sum = Money::sum(postings.iter().map(|posting| posting.amount))?;
    Ok((sum != entry.amount).then(|| Finding::new("amount of entry", &entry.number, &entry.amount, &sum)))
}

/// The turnover of the entry's day and kind.
fn day(tx: &mut Tx<'_>, entry: &Entry) -> Result<Option<Finding>> {
    let kept: Money = tx.one(
        "SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) FROM ledger_days WHERE tenant_id = $1 AND day = $2 AND kind = $3",
        params![entry.day, entry.kind],
        |row| row.get(0),
    )?;
    let found: Money = tx.one(
        "SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) FROM ledger_postings
         WHERE tenant_id = $1 AND day = $2 AND kind = $3",
        params![entry.day, entry.kind],
        |row| row.get(0),
    )?;
    let which = format!("{} {}", entry.day, entry.kind);
    Ok((kept != found).then(|| Finding::new("turnover of", &which, &kept, &found)))
}

fn contact(tx: &mut Tx<'_>, entry: &Entry) -> Result<Option<Finding>> {
    let Some(contact) = entry.contact.map(|id| contacts::get(tx, id)).transpose()? else { return Ok(None) };
    let mut found = Money::ZERO;
    for id in contacts::group(tx, contact.id)? {
        let owes: Money = tx.one(
            "SELECT CAST(coalesce(sum(CASE WHEN debit = 'contacts' THEN amount ELSE -amount END), 0) AS BIGINT)
             FROM ledger_postings WHERE tenant_id = $1 AND contact_id = $2",
            params![id],
            |row| row.get(0),
        )?;
        found = found.plus(owes)?;
    }
    let is_wrong = found != contact.balance;
    Ok(is_wrong.then(|| Finding::new("balance of contact", &contact.id, &contact.balance, &found)))
}

fn stock(tx: &mut Tx<'_>, entry: &Entry) -> Result<Option<Finding>> {
    for movement in entry::movements(tx, entry.id)? {
        let kept = items::get(tx, movement.item)?.stock;
        let found: Quantity = tx.one(
            "SELECT CAST(coalesce(sum(quantity), 0) AS BIGINT) FROM ledger_movements
             WHERE tenant_id = $1 AND item_id = $2",
            params![movement.item],
            |row| row.get(0),
        )?;
        if kept != found {
            return Ok(Some(Finding::new("stock of item", &movement.item, &kept, &found)));
        }
    }
    Ok(None)
}
