//! The tax on items, by the day from which it holds.

use munshi_store::{Tx, params};
use munshi_types::Timestamp;

use super::day::LedgerDay;
use super::ids::ItemId;
use super::items;
use crate::error::{Error, Result};
use crate::tax::TaxRate;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemTax {
    /// The code of the goods at the tax office; empty while unknown.
    pub hsn: String,
    pub rate: TaxRate,
    pub from: LedgerDay,
}

/// Says the tax of an item from a day on; said again for the same day, the later word counts.
pub fn set(tx: &mut Tx<'_>, item: ItemId, tax: &ItemTax, now: Timestamp) -> Result<()> {
    let item = items::get(tx, item)?;
    tax.rate.validate_on(tax.from.to_date(), &tax.hsn)?;
    validate_hsn(&tax.hsn)?;
    tx.execute(
        "INSERT INTO ledger_item_taxes (tenant_id, item_id, from_day, hsn, rate, changed_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (tenant_id, item_id, from_day) DO UPDATE SET hsn = excluded.hsn, rate = excluded.rate,
           changed_at = excluded.changed_at",
        params![item.id, tax.from, tax.hsn, tax.rate.as_hundredths(), now],
    )?;
    Ok(())
}

/// An HSN code has 4, 6 or 8 digits.
pub fn validate_hsn(hsn: &str) -> Result<()> {
    let fits = matches!(hsn.len(), 0 | 4 | 6 | 8) && hsn.bytes().all(|byte| byte.is_ascii_digit());
    if fits {
        Ok(())
    } else {
        Err(Error::invalid(format!("`{hsn}` is no HSN code: it has 4, 6 or 8 digits")))
    }
}

/// What held for an item on a day; before the first day that was said, nothing is known.
pub fn find_on(tx: &mut Tx<'_>, item: ItemId, day: LedgerDay) -> Result<Option<ItemTax>> {
    Ok(tx.optional(
        "SELECT hsn, rate, from_day FROM ledger_item_taxes WHERE tenant_id = $1 AND item_id = $2 AND from_day <= $3
         ORDER BY from_day DESC LIMIT 1",
        params![item, day],
        |row| {
            Ok(ItemTax { hsn: row.get(0)?, rate: TaxRate::from_hundredths(row.get(1)?), from: row.get(2)? })
        },
    )?)
}
