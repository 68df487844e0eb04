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

use munshi_pack::{BadPack, Room};
use munshi_tools::{Body, Look, Write};
use munshi_types::ToolName;

use book::Book;
pub(crate) use book::What;
pub(crate) use call::{Desk, amount, day as other_day, entry_number, number, text};
pub(crate) use cancel::{CANCEL_ASK, CANCEL_SCOPE, Meant, meant};
pub(crate) use correct::{CORRECT_ASK, CORRECT_SCOPE};
pub(crate) use merge::pair;
pub(crate) use person::{Whom, whom};
pub(crate) use sort::{Unsorted, meant as unsorted};
use stock::{Move, Way};
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

pub(crate) fn install(room: &mut Room<'_>, desk: &Desk) -> Result<(), BadPack> {
    for (name, text) in FILES {
        let bad = |what| BadPack::Other { pack: "ledger".to_owned(), what };
        let spec = spec::read(name, text).map_err(bad)?;
        let body = body(name, desk).ok_or_else(|| bad(format!("nothing does {name}")))?;
        room.tool(spec, body)?;
    }
    Ok(())
}

fn body(name: &str, desk: &Desk) -> Option<Body> {
    let desk = || desk.clone();
    if let Some(what) = What::of_tool(name) {
        return Some(writes(Book { what, desk: desk() }));
    }
    Some(match name {
        "balance_of" => looks(look::BalanceOf(desk())),
        "who_owes_me" => looks(look::WhoOwesMe),
        "day_summary" => looks(look::Summary(desk())),
        "cancel_last" => writes(cancel::CancelLast(desk())),
        "correct_last" => writes(correct::CorrectLast(desk())),
        "stock_in" => writes(Move { desk: desk(), way: Way::In }),
        "stock_out" => writes(Move { desk: desk(), way: Way::Out }),
        "item_stock" => looks(stock::ItemStock(desk())),
        "low_stock" => looks(stock::LowStock),
        "book_sms" => writes(message::BookSms(desk())),
        "add_contact" => writes(contact::AddContact(desk())),
        "set_limit" => writes(contact::SetLimit(desk())),
        "merge_contacts" => writes(merge::MergeContacts),
        "shop_details" => writes(shop::ShopDetails(desk())),
        "day_book" => looks(day::DayBookTool(desk())),
        "payment_link" => looks(upi::PaymentLink(desk())),
        "draft_reminder" => writes(remind::DraftReminder(desk())),
        "reminder_sent" => writes(remind::ReminderSent(desk())),
        "make_bill" => writes(bill::MakeBill(desk())),
        "item_tax" => writes(bill::SetItemTax(desk())),
        "sort_payment" => writes(sort::SortPayment(desk())),
        _ => return None,
    })
}

fn writes(tool: impl Write + 'static) -> Body {
    Body::Write(Arc::new(tool))
}

fn looks(tool: impl Look + 'static) -> Body {
    Body::Look(Arc::new(tool))
}
