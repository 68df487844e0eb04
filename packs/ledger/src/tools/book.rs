//! The tools that write an entry: sale, purchase, expense, credit either way, payments either way.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ToolFailure, ToolOutput, WriteToolHandler};
use munshi_types::Money;

use super::call::{LedgerServices, LedgerToolCall};
use super::contact_match::{self, ContactMatch, EntryParty};
use super::owner_authority;
use super::result::LedgerToolResult;
use super::stock::{self, EntryStockMoves};
use crate::books::{
    self, CreditAsset, DayRange, ItemQuantity, LedgerEntry, LedgerEntryKind, PaymentMeans, PaymentTerms,
    Quantity, ShopTransaction, daily_turnover, entry,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BookingKind {
    Sale,
    Purchase,
    Expense,
    CreditGiven,
    CreditTaken,
    Received,
    Paid,
}

impl BookingKind {
    /// What a tool of this name writes.
    pub(crate) fn from_tool(name: &str) -> Option<Self> {
        Some(match name {
            "log_sale" => Self::Sale,
            "log_purchase" => Self::Purchase,
            "log_expense" => Self::Expense,
            "credit_given" => Self::CreditGiven,
            "credit_taken" => Self::CreditTaken,
            "payment_received" => Self::Received,
            "payment_made" => Self::Paid,
            _ => return None,
        })
    }

    /// What an entry of this kind was written by.
    pub(crate) const fn from_kind(kind: LedgerEntryKind) -> Option<Self> {
        Some(match kind {
            LedgerEntryKind::Sale => Self::Sale,
            LedgerEntryKind::Purchase => Self::Purchase,
            LedgerEntryKind::Expense => Self::Expense,
            LedgerEntryKind::CreditGiven => Self::CreditGiven,
            LedgerEntryKind::CreditTaken => Self::CreditTaken,
            LedgerEntryKind::PaymentReceived => Self::Received,
            LedgerEntryKind::PaymentMade => Self::Paid,
            LedgerEntryKind::Transfer
            | LedgerEntryKind::Opening
            | LedgerEntryKind::StockIn
            | LedgerEntryKind::StockOut => return None,
        })
    }

    pub(crate) const fn kind(self) -> LedgerEntryKind {
        match self {
            Self::Sale => LedgerEntryKind::Sale,
            Self::Purchase => LedgerEntryKind::Purchase,
            Self::Expense => LedgerEntryKind::Expense,
            Self::CreditGiven => LedgerEntryKind::CreditGiven,
            Self::CreditTaken => LedgerEntryKind::CreditTaken,
            Self::Received => LedgerEntryKind::PaymentReceived,
            Self::Paid => LedgerEntryKind::PaymentMade,
        }
    }
}

pub(crate) struct BookEntryTool {
    pub(crate) what: BookingKind,
    pub(crate) desk: LedgerServices,
}

impl WriteToolHandler for BookEntryTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.desk.load_call(permit, tx)?;
        let held = books::lock_for(tx, call.key)?;
        let said = call.text("person");
        let whom = said.map(|said| contact_match::match_contact(tx, said, call.user_text())).transpose()?;
        if !held.is_booked() {
            call.ensure_unchanged(tx, self.what, whom.as_ref().and_then(ContactMatch::contact))?;
        }
        let party = said
            .zip(whom)
            .map(|(said, whom)| contact_match::resolve_matched_party(tx, &call, said, whom))
            .transpose()?;
        let EntryStockMoves { lines, left } = self.resolve_stock_moves(tx, &call)?;
        let act = self.build_transaction(&call, party.as_ref(), lines)?;
        let booked = held.book(tx, &call.booking_context(), &call.new_entry(act)?)?;
        if !booked.is_repeat {
            owner_authority::ensure_authorized(tx, &call, &booked.entry)?;
        }
        let told = self.build_result(tx, &call, &booked.entry, party.as_ref())?;
        let told = match left {
            Some(item) => told.with("kept", item.name).with("kept_unit", item.unit).phrase("stock-left"),
            None => told,
        };
        Ok(match self.cash_paid(&call)? {
            Some(paid) => told.cash_warning(tx, paid)?.build_undoable(&booked.entry),
            None => told.build_undoable(&booked.entry),
        })
    }

    fn read_back(
        &self,
        permit: &Permit,
        done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let call = self.desk.load_call(permit, tx)?;
        verify_booked(tx, &call, done)
    }
}

/// Whether the entry stands under this act's key with the amount that was asked for and is about to be told.
pub(crate) fn verify_booked(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    done: &ToolOutput,
) -> Result<Option<String>, ToolFailure> {
    let Some(entry) = entry::find_by_key(tx, call.key)? else {
        return Ok(Some("the entry is not in the books".to_owned()));
    };
    let wanted = call.amount()?;
    let told = done.value.get("amount").and_then(serde_json::Value::as_i64);
    let agrees = entry.amount == wanted && told == Some(wanted.as_paise()) && entry.is_active();
    Ok((!agrees).then(|| format!("entry {} is of {} and not of {wanted}", entry.number, entry.amount)))
}

impl BookEntryTool {
    /// What moves in stock: an expense is for no item that is kept, and a payment for none at all.
    fn resolve_stock_moves(
        &self,
        tx: &mut Tx<'_>,
        call: &LedgerToolCall<'_>,
    ) -> Result<EntryStockMoves, ToolFailure> {
        match self.what {
            BookingKind::Sale
            | BookingKind::Purchase
            | BookingKind::CreditGiven
            | BookingKind::CreditTaken => stock::resolve_stock_moves(tx, call),
            BookingKind::Expense | BookingKind::Received | BookingKind::Paid => {
                Ok(EntryStockMoves::default())
            }
        }
    }

    fn build_transaction(
        &self,
        call: &LedgerToolCall<'_>,
        party: Option<&EntryParty>,
        lines: Vec<ItemQuantity>,
    ) -> Result<ShopTransaction, ToolFailure> {
        let (amount, means) = (call.amount()?, call.means());
        let party = party.map(|party| party.contact.id);
        let needed = || party.ok_or_else(|| ToolFailure::permanent("no_person", "say for whom it was"));
        Ok(match self.what {
            BookingKind::Sale => {
                ShopTransaction::Sale { amount, settled: PaymentTerms::Now(means), party, lines }
            }
            BookingKind::Purchase => {
                ShopTransaction::Purchase { amount, settled: PaymentTerms::Now(means), party, lines }
            }
            BookingKind::Expense => {
                let category = call.text("item").unwrap_or_default().to_owned();
                ShopTransaction::Expense { amount, category, settled: PaymentTerms::Now(means), party }
            }
            BookingKind::CreditGiven => ShopTransaction::CreditGiven {
                party: needed()?,
                amount,
                lent: read_credit_asset(call),
                lines,
            },
            BookingKind::CreditTaken => ShopTransaction::CreditTaken {
                party: needed()?,
                amount,
                lent: read_credit_asset(call),
                lines,
            },
            BookingKind::Received => ShopTransaction::PaymentReceived { party, amount, means },
            BookingKind::Paid => ShopTransaction::PaymentMade { party, amount, means },
        })
    }

    /// The cash that leaves the drawer, where any does.
    fn cash_paid(&self, call: &LedgerToolCall<'_>) -> Result<Option<Money>, ToolFailure> {
        let is_paid = match self.what {
            BookingKind::Purchase | BookingKind::Expense | BookingKind::Paid => {
                call.means() == PaymentMeans::Cash
            }
            BookingKind::CreditGiven => read_credit_asset(call) == CreditAsset::Money(PaymentMeans::Cash),
            BookingKind::Sale | BookingKind::CreditTaken | BookingKind::Received => false,
        };
        is_paid.then(|| call.amount()).transpose()
    }

    fn build_result(
        &self,
        tx: &mut Tx<'_>,
        call: &LedgerToolCall<'_>,
        entry: &LedgerEntry,
        party: Option<&EntryParty>,
    ) -> Result<LedgerToolResult, ToolFailure> {
        let item = call.text("item").map(|item| render_item_quantity(call, item));
        let told = LedgerToolResult::default().entry(entry);
        let told = match &item {
            Some(item) => told.with("item", item.as_str()),
            None => told,
        };
        let told = told.phrase(match (self.what, &item) {
            (BookingKind::Sale, None) => "sale",
            (BookingKind::Sale, Some(_)) => "sale-item",
            (BookingKind::Purchase, _) => "purchase",
            (BookingKind::Expense, _) => "expense",
            (BookingKind::CreditGiven, None) => "credit",
            (BookingKind::CreditGiven, Some(_)) => "credit-item",
            (BookingKind::CreditTaken, None) => "taken",
            (BookingKind::CreditTaken, Some(_)) => "taken-item",
            (BookingKind::Received, _) => "received",
            (BookingKind::Paid, _) => "paid",
        });
        let is_money = matches!(self.what, BookingKind::CreditGiven | BookingKind::CreditTaken)
            && read_credit_asset(call) != CreditAsset::Goods;
        let told = if is_money { told.phrase("as-money") } else { told };
        let told = match party {
            Some(party) => told.party(tx, party)?,
            None => told,
        };
        if let Some(day) = call.other_day()? {
            return Ok(told.with("date", day.to_string()).phrase("dated"));
        }
        if self.what == BookingKind::Sale {
            let sales = daily_turnover::totals(tx, DayRange::day(call.today()))?.sales;
            return Ok(told.money("day_total", sales).phrase("sales-today"));
        }
        Ok(told)
    }
}

/// Whether money itself was lent: where things are named, it was those.
fn read_credit_asset(call: &LedgerToolCall<'_>) -> CreditAsset {
    match (call.text("lent"), call.text("item")) {
        (Some("money"), None) => CreditAsset::Money(call.means()),
        _ => CreditAsset::Goods,
    }
}

/// An item with how much of it was said, so that whoever hears it can tell whether it was heard right.
fn render_item_quantity(call: &LedgerToolCall<'_>, item: &str) -> String {
    let quantity = call.number("quantity").and_then(|number| number.parse::<Quantity>().ok());
    let Some(quantity) = quantity else { return item.to_owned() };
    let words = [Some(quantity.to_string()), call.text("unit").map(str::to_owned), Some(item.to_owned())];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
