//! `munshi ledger day-book [DAY]`: one day, entry by entry, with the cash as it ran.

use async_trait::async_trait;
use munshi_lang::format::rupees;
use munshi_pack::{PackArgument, PackArgumentKind, PackCommand, PackCommandCall, PackCommandError};
use munshi_store::Tx;
use serde_json::json;

use super::zone;
use crate::books::day_book::{self, DayBook};
use crate::books::{LedgerDay, contacts};
use crate::error::Result;

pub(super) struct ShowDayBookCommand;

#[async_trait]
impl PackCommand for ShowDayBookCommand {
    fn name(&self) -> &'static str {
        "day-book"
    }

    fn about(&self) -> &'static str {
        "List the entries of a day, with the running cash balance"
    }

    fn arguments(&self) -> &'static [PackArgument] {
        &[PackArgument {
            name: "day",
            about: "The day, such as 2026-11-15; default: today",
            kind: PackArgumentKind::Optional,
        }]
    }

    async fn run(&self, call: PackCommandCall<'_>) -> Result<(), PackCommandError> {
        let today = LedgerDay::of(call.now, &zone(call.db, call.tenant).await?);
        let bad = || PackCommandError::new("invalid day").hint("write it as 2026-11-15");
        let day = call.given.one("day").map(str::parse::<LedgerDay>).transpose().map_err(|_| bad())?;
        let day = day.unwrap_or(today);
        let read = move |tx: &mut Tx<'_>| -> Result<(DayBook, Vec<String>)> {
            let book = day_book::load_day(tx, day)?;
            let mut names = Vec::new();
            for line in &book.lines {
                let contact = line.entry.contact.map(|id| contacts::get(tx, id)).transpose()?;
                names.push(contact.map(|contact| contact.name).unwrap_or_default());
            }
            Ok((book, names))
        };
        let (book, names) = call.db.read(call.tenant, read).await?;
        let entries: Vec<_> = book
            .lines
            .iter()
            .zip(&names)
            .map(|(line, name)| json!({ "entry": line.entry, "contact": name, "cash": line.cash }))
            .collect();
        let value =
            json!({ "day": day, "opening": book.opening, "closing": book.closing, "entries": entries });
        call.out.print_result(&value, &render_day_book(&book, &names))
    }
}

fn render_day_book(book: &DayBook, names: &[String]) -> String {
    let mut lines = vec![format!("{}: opening cash {}", book.day, rupees(book.opening))];
    lines.extend(book.lines.iter().zip(names).map(|(line, name)| {
        let (entry, cash) = (&line.entry, rupees(line.cash));
        let kind = entry.kind.as_str().replace('_', " ");
        format!("{:>5}  {kind:<17} {:>12}  {cash:>12}  {name}", entry.number, rupees(entry.amount))
    }));
    lines.push(format!("closing cash {}", rupees(book.closing)));
    lines.join("\n")
}
