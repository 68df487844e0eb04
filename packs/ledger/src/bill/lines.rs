//! What was sold, and the tax in it.

use munshi_store::Tx;
use munshi_types::Money;

use super::content::BillLine;
use crate::books::{GstScheme, LedgerDay, LedgerEntry, Quantity, StockItem, entry, items, taxes};
use crate::error::{Error, Result};
use crate::tax::{self, GstSupplyType, TaxBreakdown, TaxRate};

/// What is said of a sale where the books name no goods.
pub(super) struct UnnamedGoods<'a> {
    pub what: Option<&'a str>,
    pub rate: Option<TaxRate>,
}

/// Something sold before its tax is known.
struct Sold {
    what: String,
    quantity: String,
    amount: Money,
    item: Option<StockItem>,
}

pub(super) fn lines(
    tx: &mut Tx<'_>,
    entry: &LedgerEntry,
    scheme: GstScheme,
    way: GstSupplyType,
    said: &UnnamedGoods<'_>,
) -> Result<Vec<BillLine>> {
    let mut lines = Vec::new();
    for sold in list_sold(tx, entry, said)? {
        let (hsn, rate) = match scheme {
            GstScheme::Regular => resolve_tax(tx, &sold, entry.day, said.rate)?,
            // Whoever is not registered, or pays by composition, may take no tax.
            GstScheme::Unregistered | GstScheme::Composition => (hsn(tx, &sold, entry.day)?, TaxRate::ZERO),
        };
        let taxed = TaxBreakdown::compute(sold.amount, rate, way)?;
        lines.push(BillLine {
            what: sold.what,
            hsn,
            quantity: sold.quantity,
            amount: sold.amount,
            rate,
            taxed,
        });
    }
    Ok(lines)
}

fn hsn(tx: &mut Tx<'_>, sold: &Sold, day: LedgerDay) -> Result<String> {
    let tax = sold.item.as_ref().map(|item| taxes::find_on(tx, item.id, day)).transpose()?.flatten();
    Ok(tax.map(|tax| tax.hsn).unwrap_or_default())
}

/// The rate of the day of supply: what was said now, what the owner said of the item, what is known of its code.
fn resolve_tax(
    tx: &mut Tx<'_>,
    sold: &Sold,
    day: LedgerDay,
    said: Option<TaxRate>,
) -> Result<(String, TaxRate)> {
    let known = sold.item.as_ref().map(|item| taxes::find_on(tx, item.id, day)).transpose()?.flatten();
    let hsn = known.as_ref().map(|tax| tax.hsn.clone()).unwrap_or_default();
    let of_code = || tax::find_rate(&hsn, day.to_date()).filter(|_| !hsn.is_empty());
    let rate = said.or(known.map(|tax| tax.rate)).or_else(of_code);
    let rate = rate.ok_or_else(|| Error::NoRate { what: sold.what.clone() })?;
    let rate = rate.validate_on(day.to_date(), &hsn)?;
    Ok((hsn, rate))
}

fn list_sold(tx: &mut Tx<'_>, entry: &LedgerEntry, said: &UnnamedGoods<'_>) -> Result<Vec<Sold>> {
    let mut goods: Vec<(StockItem, Quantity)> = Vec::new();
    for movement in entry::movements(tx, entry.id)? {
        let size = Quantity::from_thousandths(movement.quantity.as_thousandths().abs());
        goods.push((items::get(tx, movement.item)?, size));
    }
    if goods.is_empty() {
        let what = said.what.unwrap_or("Goods").to_owned();
        return Ok(vec![Sold { what, quantity: String::new(), amount: entry.amount, item: None }]);
    }
    let amounts = split_total(entry.amount, &goods)?;
    let sold = goods.into_iter().zip(amounts).map(|((item, quantity), amount)| Sold {
        what: item.name.clone(),
        quantity: format!("{quantity} {}", item.unit),
        amount,
        item: Some(item),
    });
    Ok(sold.collect())
}

/// What each of several goods was of the whole, by their prices; the last takes what rounding leaves.
fn split_total(total: Money, goods: &[(StockItem, Quantity)]) -> Result<Vec<Money>> {
    let [_, _, ..] = goods else { return Ok(vec![total]) };
    let worth = |(item, quantity): &(StockItem, Quantity)| {
        let price = item.price.filter(|price| *price > Money::ZERO).ok_or_else(|| {
            Error::invalid(format!("say the price of {}, so that the bill can name each part", item.name))
        })?;
        Ok(i128::from(price.as_paise()) * i128::from(quantity.as_thousandths()))
    };
    let worths: Vec<i128> = goods.iter().map(worth).collect::<Result<_>>()?;
    let whole: i128 = worths.iter().sum();
    let mut left = total;
    let mut shares = Vec::new();
    for worth in worths.iter().take(worths.len() - 1) {
        let share = i128::from(total.as_paise()) * worth / whole.max(1);
        let share = i64::try_from(share).map(Money::from_paise).unwrap_or(left).min(left);
        left = left.minus(share)?;
        shares.push(share);
    }
    shares.push(left);
    Ok(shares)
}
