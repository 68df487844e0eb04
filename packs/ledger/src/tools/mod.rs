//! The tools of the pack. Each has a file in `packs/ledger/tools` that says what it takes and what people say when they
//! want it, and its line in [`install`].
//!
//! # Layout
//! - `spec`: reads those files; `call`: one call of a tool; `told`: what it answers
//! - `person`, `stock`: whom and what a name means; `contact`: what is known of people
//! - `book`: entries; `message`: those that a bank's message tells of; `cancel`, `correct`: taking back; `look`, `day`:
//!   answers
//! - `merge`: two names of one person; `sort`: whose a payment was; `shop`: the shop itself; `marks`: what of it one sentence holds
//! - `word`: what only the owner's word allows
//! - `upi`, `remind`, `bill`: what customers get

mod bill;
mod book;
mod call;
mod cancel;
mod contact;
mod correct;
mod day;
mod look;
mod marks;
mod merge;
mod message;
mod person;
mod remind;
mod shop;
mod sort;
mod spec;
mod stock;
mod told;
mod upi;
mod word;

use std::sync::Arc;

use munshi_pack::{InvalidPack, PackInstaller};
use munshi_tools::{ReadToolHandler, ToolHandler, WriteToolHandler};
use munshi_types::ToolName;

use book::BookEntryTool;
pub(crate) use book::BookingKind;
pub(crate) use call::{LedgerServices, amount, day as other_day, entry_number, number, text};
pub(crate) use cancel::{CANCEL_ASK, CANCEL_SCOPE, EntrySelector, meant};
pub(crate) use correct::{CORRECT_ASK, CORRECT_SCOPE};
pub(crate) use merge::pair;
pub(crate) use person::{ContactMatch, whom};
pub(crate) use sort::{UnsortedPaymentQuery, meant as unsorted};
use stock::{MoveStockTool, StockDirection};
pub(crate) use word::{has as has_word, is_beyond, scope as word_scope};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../tools/", $name, ".txt")))),*]
    };
}

const FILES: &[(&str, &str)] = files![
    "log_sale",
    "log_purchase",
    "log_expense",
    "credit_given",
    "credit_taken",
    "payment_received",
    "payment_made",
    "balance_of",
    "who_owes_me",
    "day_summary",
    "cancel_last",
    "correct_last",
    "stock_in",
    "stock_out",
    "item_stock",
    "low_stock",
    "book_sms",
    "add_contact",
    "set_limit",
    "merge_contacts",
    "shop_details",
    "day_book",
    "payment_link",
    "draft_reminder",
    "reminder_sent",
    "make_bill",
    "item_tax",
    "sort_payment",
];

/// Whether some of these are tools of this pack.
pub(crate) fn has_any(tools: &[ToolName]) -> bool {
    tools.iter().any(|tool| FILES.iter().any(|(name, _)| tool.as_str() == *name))
}

pub(crate) fn install(room: &mut PackInstaller<'_>, desk: &LedgerServices) -> Result<(), InvalidPack> {
    for (name, text) in FILES {
        let bad = |what| InvalidPack::Other { pack: "ledger".to_owned(), what };
        let spec = spec::read(name, text).map_err(bad)?;
        let body = body(name, desk).ok_or_else(|| bad(format!("nothing does {name}")))?;
        room.tool(spec, body)?;
    }
    Ok(())
}

fn body(name: &str, desk: &LedgerServices) -> Option<ToolHandler> {
    let desk = || desk.clone();
    if let Some(what) = BookingKind::of_tool(name) {
        return Some(writes(BookEntryTool { what, desk: desk() }));
    }
    Some(match name {
        "balance_of" => looks(look::BalanceTool(desk())),
        "who_owes_me" => looks(look::WhoOwesMeTool),
        "day_summary" => looks(look::SummaryTool(desk())),
        "cancel_last" => writes(cancel::CancelLastTool(desk())),
        "correct_last" => writes(correct::CorrectLastTool(desk())),
        "stock_in" => writes(MoveStockTool { desk: desk(), way: StockDirection::In }),
        "stock_out" => writes(MoveStockTool { desk: desk(), way: StockDirection::Out }),
        "item_stock" => looks(stock::ItemStockTool(desk())),
        "low_stock" => looks(stock::LowStockTool),
        "book_sms" => writes(message::BookSmsTool(desk())),
        "add_contact" => writes(contact::AddContactTool(desk())),
        "set_limit" => writes(contact::SetCreditLimitTool(desk())),
        "merge_contacts" => writes(merge::MergeContactsTool),
        "shop_details" => writes(shop::ShopDetailsTool(desk())),
        "day_book" => looks(day::DayBookTool(desk())),
        "payment_link" => looks(upi::PaymentLinkTool(desk())),
        "draft_reminder" => writes(remind::DraftReminderTool(desk())),
        "reminder_sent" => writes(remind::ReminderSentTool(desk())),
        "make_bill" => writes(bill::MakeBillTool(desk())),
        "item_tax" => writes(bill::SetItemTaxTool(desk())),
        "sort_payment" => writes(sort::SortPaymentTool(desk())),
        _ => return None,
    })
}

fn writes(tool: impl WriteToolHandler + 'static) -> ToolHandler {
    ToolHandler::Write(Arc::new(tool))
}

fn looks(tool: impl ReadToolHandler + 'static) -> ToolHandler {
    ToolHandler::Look(Arc::new(tool))
}
