//! The tools of the pack. Each has a file in `packs/ledger/tools` that says what it takes and what people say when they
//! want it, its name in [`FILES`] and its line in [`build_handler`]. The recipe is in `lib.rs`.
//!
//! # Layout
//! - `spec`: reads those files; `call`: one call of a tool; `result`: what it answers
//! - `contact_match`, `stock`: whom and what a name means; `contact`: what is known of people
//! - `book`: entries; `book_sms`: those that a bank's message tells of; `cancel`, `correct`: taking back; `reports`, `day_book`:
//!   answers
//! - `merge`: two names of one person; `assign_payment`: whose a payment was; `shop`: the shop itself; `sentence_fields`: what of it one sentence holds
//! - `owner_authority`: what only the owner's word allows
//! - `upi`, `remind`, `send_reminder`, `bill`: what customers get

mod assign_payment;
mod bill;
mod book;
mod book_sms;
mod call;
mod cancel;
mod contact;
mod contact_match;
mod correct;
mod day_book;
mod merge;
mod owner_authority;
mod remind;
mod reports;
mod result;
mod send_reminder;
mod sentence_fields;
mod shop;
mod spec;
mod stock;
mod template_reminder;
mod upi;

use std::sync::Arc;

use munshi_pack::{InvalidPack, PackInstaller};
use munshi_tools::{ReadToolHandler, ToolHandler, WriteToolHandler};
use munshi_types::ToolName;

pub(crate) use assign_payment::{UnsortedPaymentQuery, resolve_unsorted as unsorted};
use book::BookEntryTool;
pub(crate) use book::BookingKind;
pub(crate) use call::{
    LedgerServices, amount, entry_number, parse_concern_number, parse_past_day as other_day, text,
};
pub(crate) use cancel::{CANCEL_ASK, CANCEL_SCOPE, EntrySelector, find_selected_entry};
pub(crate) use contact_match::{ContactMatch, match_contact};
pub(crate) use correct::{CORRECT_ASK, CORRECT_SCOPE};
pub(crate) use merge::resolve_pair;
pub(crate) use owner_authority::{
    credit_scope as word_scope, exceeds_balance, has_owner_authority as has_word,
};
pub(crate) use remind::find_reminder_words;
use stock::{MoveStockTool, StockDirection};

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
    "send_reminder",
    "remind_by_template",
    "make_bill",
    "item_tax",
    "sort_payment",
];

/// Whether some of these are tools of this pack.
pub(crate) fn contains_pack_tool(tools: &[ToolName]) -> bool {
    let is_ours = |tool: &&ToolName| tool.pack().is_none_or(|pack| pack == "ledger");
    tools.iter().filter(is_ours).any(|tool| FILES.iter().any(|(name, _)| tool.bare() == *name))
}

pub(crate) fn install(room: &mut PackInstaller<'_>, desk: &LedgerServices) -> Result<(), InvalidPack> {
    for (name, text) in FILES {
        let bad = |what| InvalidPack::Other { pack: "ledger".to_owned(), what };
        let spec = spec::read(name, text).map_err(bad)?;
        let body = build_handler(name, desk).ok_or_else(|| bad(format!("no implementation for {name}")))?;
        room.add_tool(spec, body)?;
    }
    let undo = cancel::undo_spec().map_err(|what| InvalidPack::Other { pack: "ledger".to_owned(), what })?;
    room.add_tool(undo, write_handler(cancel::UndoEntryTool(desk.clone())))
}

fn build_handler(name: &str, desk: &LedgerServices) -> Option<ToolHandler> {
    let desk = || desk.clone();
    if let Some(what) = BookingKind::from_tool(name) {
        return Some(write_handler(BookEntryTool { what, desk: desk() }));
    }
    Some(match name {
        "balance_of" => read_handler(reports::BalanceTool(desk())),
        "who_owes_me" => read_handler(reports::WhoOwesMeTool),
        "day_summary" => read_handler(reports::SummaryTool(desk())),
        "cancel_last" => write_handler(cancel::CancelLastTool(desk())),
        "correct_last" => write_handler(correct::CorrectLastTool(desk())),
        "stock_in" => write_handler(MoveStockTool { desk: desk(), way: StockDirection::In }),
        "stock_out" => write_handler(MoveStockTool { desk: desk(), way: StockDirection::Out }),
        "item_stock" => read_handler(stock::ItemStockTool(desk())),
        "low_stock" => read_handler(stock::LowStockTool),
        "book_sms" => write_handler(book_sms::BookSmsTool(desk())),
        "add_contact" => write_handler(contact::AddContactTool(desk())),
        "set_limit" => write_handler(contact::SetCreditLimitTool(desk())),
        "merge_contacts" => write_handler(merge::MergeContactsTool),
        "shop_details" => write_handler(shop::ShopDetailsTool(desk())),
        "day_book" => read_handler(day_book::DayBookTool(desk())),
        "payment_link" => read_handler(upi::PaymentLinkTool(desk())),
        "draft_reminder" => write_handler(remind::DraftReminderTool(desk())),
        "reminder_sent" => write_handler(remind::ReminderSentTool(desk())),
        "send_reminder" => write_handler(send_reminder::SendReminderTool(desk())),
        "remind_by_template" => write_handler(template_reminder::TemplateReminderTool(desk())),
        "make_bill" => write_handler(bill::MakeBillTool(desk())),
        "item_tax" => write_handler(bill::SetItemTaxTool(desk())),
        "sort_payment" => write_handler(assign_payment::SortPaymentTool(desk())),
        _ => return None,
    })
}

fn write_handler(tool: impl WriteToolHandler + 'static) -> ToolHandler {
    ToolHandler::Write(Arc::new(tool))
}

fn read_handler(tool: impl ReadToolHandler + 'static) -> ToolHandler {
    ToolHandler::Read(Arc::new(tool))
}
