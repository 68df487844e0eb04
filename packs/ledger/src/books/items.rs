//! Things that are bought and sold, and how many of them there are.

use munshi_store::{Cursor, Page, PageRequest, Row, Tx, params};
use munshi_types::{Id, IdGenerator, Money, Timestamp};
use serde::Serialize;

use super::head;
use super::ids::ItemId;
use super::names::{self, NameMatch, NameSubject};
use super::quantity::Quantity;
use super::transaction::LARGEST;
use crate::error::{Error, Result};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StockItem {
    pub id: ItemId,
    pub name: String,
    /// What its quantities are counted in: kg, piece, bag.
    pub unit: String,
    /// Of one unit.
    pub price: Option<Money>,
    /// The owner wants to be told when no more than this is left.
    pub low_at: Option<Quantity>,
    /// Below zero when more was sold than was ever said to have come.
    pub stock: Quantity,
    pub made_at: Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewStockItem {
    pub name: String,
    pub unit: String,
    pub price: Option<Money>,
    pub low_at: Option<Quantity>,
}

pub fn add(tx: &mut Tx<'_>, ids: &IdGenerator, now: Timestamp, new: &NewStockItem) -> Result<StockItem> {
    let id = ids.next();
    add_with_id(tx, now, new, id)?;
    get(tx, id)
}

/// Adds an item under an id that is known.
pub(super) fn add_with_id(tx: &mut Tx<'_>, now: Timestamp, new: &NewStockItem, id: ItemId) -> Result<()> {
    let (name, unit) = validate(new)?;
    head::lock(tx)?;
    tx.execute(
        "INSERT INTO ledger_items (tenant_id, id, name, unit, price, low_at, stock, made_at)
         VALUES ($1, $2, $3, $4, $5, $6, 0, $7)",
        params![id, name, unit, new.price, new.low_at, now],
    )?;
    names::add(tx, NameSubject::Item, id.as_uuid(), &name)
}

/// Replaces what is known of an item. Its unit stays once something was moved: its stock is counted in it.
pub fn update(tx: &mut Tx<'_>, id: ItemId, known: &NewStockItem) -> Result<StockItem> {
    let (name, unit) = validate(known)?;
    head::lock(tx)?;
    let item = get(tx, id)?;
    if unit != item.unit && has_moved(tx, id)? {
        let what = format!(
            "{} is counted in {} since it was first booked: add another item instead",
            item.name, item.unit
        );
        return Err(Error::Invalid(what));
    }
    tx.execute(
        "UPDATE ledger_items SET name = $3, unit = $4, price = $5, low_at = $6 WHERE tenant_id = $1 AND id = $2",
        params![id, name, unit, known.price, known.low_at],
    )?;
    names::add(tx, NameSubject::Item, id.as_uuid(), &name)?;
    get(tx, id)
}

pub fn get(tx: &mut Tx<'_>, id: ItemId) -> Result<StockItem> {
    let item = tx.optional(
        "SELECT id, name, unit, price, low_at, stock, made_at FROM ledger_items WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )?;
    item.ok_or_else(|| Error::missing("item", &id))
}

/// Which item a name means.
pub fn find(tx: &mut Tx<'_>, name: &str) -> Result<NameMatch<StockItem>> {
    names::find(
        tx,
        NameSubject::Item,
        name,
        |tx, id| get(tx, ItemId::from_uuid(id)),
        |item| item.id.as_uuid(),
    )
}

/// All of them, the newest first.
pub fn list(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<StockItem>> {
    let rows = tx.all(
        "SELECT id, name, unit, price, low_at, stock, made_at FROM ledger_items
         WHERE tenant_id = $1 AND (made_at, id) < ($2, $3) ORDER BY made_at DESC, id DESC LIMIT $4",
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |item| Cursor { time: item.made_at, id: item.id.as_uuid() }))
}

/// Those of which no more is left than the owner said.
pub fn list_low(tx: &mut Tx<'_>, limit: u32) -> Result<Vec<StockItem>> {
    Ok(tx.all(
        "SELECT id, name, unit, price, low_at, stock, made_at FROM ledger_items
         WHERE tenant_id = $1 AND low_at IS NOT NULL AND stock <= low_at ORDER BY name, id LIMIT $2",
        params![limit.min(PageRequest::LARGEST)],
        read,
    )?)
}

/// Keeps the stock. The books are locked by the caller.
pub(super) fn add_stock(tx: &mut Tx<'_>, item: ItemId, quantity: Quantity) -> Result<()> {
    tx.send(
        "UPDATE ledger_items SET stock = stock + $3 WHERE tenant_id = $1 AND id = $2",
        params![item, quantity],
    )?;
    Ok(())
}

fn has_moved(tx: &mut Tx<'_>, item: ItemId) -> Result<bool> {
    let first = tx.optional(
        "SELECT 1 FROM ledger_movements WHERE tenant_id = $1 AND item_id = $2 LIMIT 1",
        params![item],
        |_| Ok(()),
    )?;
    Ok(first.is_some())
}

fn validate(item: &NewStockItem) -> Result<(String, String)> {
    if item.price.is_some_and(|price| price.is_negative() || price > LARGEST) {
        return Err(Error::invalid("a price is an amount from zero on"));
    }
    if item.low_at.is_some_and(|low| low < Quantity::ZERO || low > Quantity::LARGEST) {
        return Err(Error::invalid("low stock is a quantity from zero on"));
    }
    Ok((names::clean(&item.name)?, names::clean(&item.unit)?))
}

fn read(row: &Row<'_>) -> munshi_store::Result<StockItem> {
    Ok(StockItem {
        id: row.get("id")?,
        name: row.get("name")?,
        unit: row.get("unit")?,
        price: row.get("price")?,
        low_at: row.get("low_at")?,
        stock: row.get("stock")?,
        made_at: row.get("made_at")?,
    })
}
