//! One day read out of the book, entry by entry.

use munshi_lang::format::rupees;
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ReadToolHandler, ToolFailure, ToolOutput};
use munshi_types::Money;

use super::call::{LedgerServices, LedgerToolCall};
use super::reports::parse_period;
use super::result::LedgerToolResult;
use crate::books::day_book::{self, DayBookLine};
use crate::books::{LedgerEntryKind, contacts, entry, items};

/// Entries that are named in an answer, the latest of the day; the cash is of all.
const NAMED: usize = 20;

pub(crate) struct DayBookTool(pub(crate) LedgerServices);

impl ReadToolHandler for DayBookTool {
    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        // Of a longer stretch its last day is read out; today where it goes on.
        let day = parse_period(&call)?.to.min(call.today());
        let book = day_book::load_day(tx, day)?;
        let told = LedgerToolResult::default().with("day", day.to_string());
        if book.lines.is_empty() {
            return Ok(told.phrase("day-empty").build());
        }
        let first = book.lines.len().saturating_sub(NAMED);
        let mut list: Vec<String> = (first > 0).then(|| "…".to_owned()).into_iter().collect();
        for line in book.lines.iter().skip(first) {
            list.push(render_line(tx, &call, line)?);
        }
        Ok(told
            // A phrase is one line; the breaks around the list come with it.
            .with("lines", format!("\n{}\n", list.join("\n")))
            .with("count", book.lines.len())
            .money("opening_balance", book.opening)
            .money("closing_balance", book.closing)
            .phrase("day-book")
            .build())
    }
}

/// `17. sale, rice 2 kg ₹120 → ₹4,320`: number, kind, whom or what, amount, and the cash after it where it moved.
fn render_line(
    tx: &mut Tx<'_>,
    call: &LedgerToolCall<'_>,
    line: &DayBookLine,
) -> Result<String, ToolFailure> {
    let entry = &line.entry;
    let mut parts = vec![format!("{}. {}", entry.number, call.phrase(call.locale(), kind(entry.kind), &[])?)];
    if let Some(id) = entry.contact {
        parts.push(contacts::get(tx, id)?.name);
    }
    for movement in entry::movements(tx, entry.id)? {
        let item = items::get(tx, movement.item)?;
        let size = movement.quantity.as_thousandths().abs();
        let quantity = crate::books::Quantity::from_thousandths(size);
        parts.push(format!("{} {quantity} {}", item.name, item.unit));
    }
    if entry.amount != Money::ZERO {
        parts.push(rupees(entry.amount));
    }
    let moved =
        if line.change == Money::ZERO { String::new() } else { format!(" → {}", rupees(line.cash)) };
    Ok(format!("{}{moved}", parts.join(", ")))
}

const fn kind(kind: LedgerEntryKind) -> &'static str {
    match kind {
        LedgerEntryKind::Sale => "kind-sale",
        LedgerEntryKind::Purchase => "kind-purchase",
        LedgerEntryKind::Expense => "kind-expense",
        LedgerEntryKind::CreditGiven => "kind-credit",
        LedgerEntryKind::CreditTaken => "kind-taken",
        LedgerEntryKind::PaymentReceived => "kind-received",
        LedgerEntryKind::PaymentMade => "kind-paid",
        LedgerEntryKind::Transfer => "kind-transfer",
        LedgerEntryKind::Opening => "kind-opening",
        LedgerEntryKind::StockIn | LedgerEntryKind::StockOut => "kind-stock",
    }
}
