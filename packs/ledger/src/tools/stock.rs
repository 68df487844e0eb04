//! Items: what moves with an entry, what came in and went out, how much there is.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ChoiceOption, ReadToolHandler, ToolFailure, ToolOutput, WriteToolHandler};
use serde_json::{Value, json};

use super::call::{LedgerServices, LedgerToolCall};
use super::result::LedgerToolResult;
use crate::books::{
    self, ItemQuantity, NameMatch, NewStockItem, Quantity, ShopTransaction, StockItem, entry, items,
};

/// What is counted where nobody said a unit.
const PIECE: &str = "piece";
const DOZEN: &str = "dozen";
/// What is weighed or measured, or holds several.
const MEASURED: [&str; 15] = [
    "kg", "g", "quintal", "tonne", "tola", "l", "ml", "m", "ft", "in", "box", "carton", "bag", "bundle",
    "pair",
];
/// Items that are named in an answer.
const NAMED: u32 = 20;

/// What moves in stock with an entry, and what is left alone.
#[derive(Default)]
pub(crate) struct EntryStockMoves {
    pub(crate) lines: Vec<ItemQuantity>,
    /// The item, where what was said of it can't be told in the unit it is kept in.
    pub(crate) left: Option<StockItem>,
}

/// Nothing moves, unless the item is kept and a quantity of it was said.
pub(crate) fn resolve_stock_moves(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
) -> Result<EntryStockMoves, ToolFailure> {
    let (Some(name), Some(number)) = (call.text("item"), call.number("quantity")) else {
        return Ok(EntryStockMoves::default());
    };
    let Ok(quantity) = number.parse::<Quantity>() else { return Ok(EntryStockMoves::default()) };
    let NameMatch::One(item) = items::find(tx, name)? else { return Ok(EntryStockMoves::default()) };
    Ok(match convert_to_item_unit(quantity, call, &item).filter(|quantity| *quantity > Quantity::ZERO) {
        Some(quantity) => {
            EntryStockMoves { lines: vec![ItemQuantity { item: item.id, quantity }], left: None }
        }
        None => EntryStockMoves { lines: Vec::new(), left: Some(item) },
    })
}

/// How much was said, in the unit of the item. Who says no unit counts: what is weighed or holds several can't be meant.
fn convert_to_item_unit(quantity: Quantity, call: &LedgerToolCall<'_>, item: &StockItem) -> Option<Quantity> {
    let unit = match call.text("unit") {
        Some(unit) => unit,
        None if item.unit == DOZEN => PIECE,
        None if MEASURED.contains(&item.unit.as_str()) => return None,
        None => &item.unit,
    };
    quantity.in_unit(unit, &item.unit)
}

pub(crate) struct MoveStockTool {
    pub(crate) desk: LedgerServices,
    pub(crate) way: StockDirection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StockDirection {
    In,
    Out,
}

impl WriteToolHandler for MoveStockTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.desk.load_call(permit, tx)?;
        let quantity: Quantity = call.number("quantity").unwrap_or_default().parse()?;
        let item = self.find_or_add_item(tx, &call)?;
        let moved = convert_to_item_unit(quantity, &call, &item).ok_or_else(|| {
            let what = format!("{} is counted in {}: say how much in that", item.name, item.unit);
            ToolFailure::permanent("ledger_bad_unit", what)
        })?;
        let lines = vec![ItemQuantity { item: item.id, quantity: moved }];
        let act = match self.way {
            StockDirection::In => ShopTransaction::StockIn { lines, party: None },
            StockDirection::Out => ShopTransaction::StockOut { lines, party: None },
        };
        let booked = books::book(tx, &call.booking_context(), &call.new_entry(act)?)?;
        let told = build_item_result(&items::get(tx, item.id)?)
            .with("entry", json!({ "id": booked.entry.id, "number": booked.entry.number }))
            .with("quantity", moved.to_string());
        Ok(told
            .phrase(if self.way == StockDirection::In { "stock-in" } else { "stock-out" })
            .phrase("stock")
            .build())
    }

    fn read_back(
        &self,
        permit: &Permit,
        done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let call = self.desk.load_call(permit, tx)?;
        let Some(entry) = entry::find_by_key(tx, call.key)? else {
            return Ok(Some("the entry is not in the books".to_owned()));
        };
        let moved = entry::movements(tx, entry.id)?;
        let told = done.value.get("quantity").and_then(Value::as_str);
        let agrees = moved.iter().any(|one| {
            told == Some(&Quantity::from_thousandths(one.quantity.as_thousandths().abs()).to_string())
        });
        Ok((!agrees).then(|| format!("entry {} moved something else", entry.number)))
    }
}

impl MoveStockTool {
    /// The item that is meant. What comes in for the first time is kept from now on.
    fn find_or_add_item(&self, tx: &mut Tx<'_>, call: &LedgerToolCall<'_>) -> Result<StockItem, ToolFailure> {
        let name = call.text("item").unwrap_or_default();
        match (resolve_item(tx, name)?, self.way) {
            (Some(item), _) => Ok(item),
            (None, StockDirection::Out) => Err(ToolFailure::not_found(name)),
            (None, StockDirection::In) => {
                // What comes by the dozen goes by the piece: a twelfth can't be written.
                let unit = call.text("unit").filter(|unit| *unit != DOZEN).unwrap_or(PIECE).to_owned();
                let new = NewStockItem { name: name.to_owned(), unit, ..NewStockItem::default() };
                Ok(items::add(tx, call.booking_context().ids, call.now, &new)?)
            }
        }
    }
}

/// The item of a name or of an id that was picked; several are asked about.
pub(super) fn resolve_item(tx: &mut Tx<'_>, said: &str) -> Result<Option<StockItem>, ToolFailure> {
    if let Ok(id) = said.parse() {
        return Ok(Some(items::get(tx, id)?));
    }
    match items::find(tx, said)? {
        NameMatch::One(item) => Ok(Some(item)),
        NameMatch::Nobody => Ok(None),
        NameMatch::Choices(mut several) if several.len() == 1 => Ok(several.pop()),
        NameMatch::Choices(several) => {
            let choices = several
                .iter()
                .map(|item| ChoiceOption::new(item.id.to_string(), item.name.as_str()))
                .collect();
            Err(ToolFailure::ambiguous("item", choices))
        }
    }
}

fn build_item_result(item: &StockItem) -> LedgerToolResult {
    LedgerToolResult::default()
        .with("thing", json!({ "id": item.id, "name": item.name }))
        .with("item", item.name.as_str())
        .with("unit", item.unit.as_str())
        .with("stock", item.stock.to_string())
}

pub(crate) struct ItemStockTool(pub(crate) LedgerServices);

impl ReadToolHandler for ItemStockTool {
    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let name = call.text("item").unwrap_or_default();
        let item = resolve_item(tx, name)?.ok_or_else(|| ToolFailure::not_found(name))?;
        Ok(build_item_result(&item).phrase("stock").build())
    }
}

pub(crate) struct LowStockTool;

impl ReadToolHandler for LowStockTool {
    fn read(&self, _permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let low = items::list_low(tx, NAMED)?;
        let list: Vec<String> =
            low.iter().map(|item| format!("{} {} {}", item.name, item.stock, item.unit)).collect();
        let told = LedgerToolResult::default().with("list", list);
        Ok(told.phrase(if low.is_empty() { "no-low" } else { "low" }).build())
    }
}
