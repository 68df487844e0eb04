//! A day, entry by entry, with the cash as it ran.

use munshi_lang::format;
use munshi_pack::{Html, PackPageContent, PackPageHandler, PackPageRequest};
use munshi_store::{Result, Tx};
use munshi_types::Money;

use super::as_store;
use crate::books::day_book::{self, DayBook, DayBookLine};
use crate::books::{LedgerDay, contacts};

pub(crate) struct DayBookPage;

impl PackPageHandler for DayBookPage {
    fn path(&self) -> &'static str {
        "day-book"
    }

    fn scope(&self) -> &'static str {
        "ledger.report.read"
    }

    /// The day that the path ends with, or today.
    fn show(&self, tx: &mut Tx<'_>, visit: &PackPageRequest) -> Result<Option<PackPageContent>> {
        let day = match visit.rest.as_str() {
            "" => LedgerDay::of(visit.now, &visit.zone),
            given => match given.parse() {
                Ok(day) => day,
                Err(_) => return Ok(None),
            },
        };
        let book = day_book::load_day(tx, day).map_err(as_store)?;
        let title = format!("Day book, {day}");
        Ok(Some(PackPageContent::html(title, table(tx, &book)?)))
    }
}

fn table(tx: &mut Tx<'_>, book: &DayBook) -> Result<Html> {
    let head = Html::new()
        .markup("<table class=\"figures\"><thead><tr><th>No.</th><th>What</th><th>Who</th><th>Words</th>")
        .markup("<th class=\"number\">Amount</th><th class=\"number\">Cash after</th></tr></thead><tbody>")
        .markup("<tr><td></td><td>cash in the morning</td><td></td><td></td><td></td><td class=\"number\">")
        .text(format::rupees(book.opening))
        .markup("</td></tr>");
    let mut rows = head;
    for line in &book.lines {
        rows = row(rows, tx, line)?;
    }
    Ok(rows
        .markup("</tbody><tfoot><tr><td></td><td>cash in the evening</td><td></td><td></td><td></td>")
        .markup("<td class=\"number\">")
        .text(format::rupees(book.closing))
        .markup("</td></tr></tfoot></table>"))
}

fn row(html: Html, tx: &mut Tx<'_>, line: &DayBookLine) -> Result<Html> {
    let entry = &line.entry;
    let contact = entry.contact.map(|id| contacts::get(tx, id)).transpose().map_err(as_store)?;
    let amount = if entry.amount == Money::ZERO { String::new() } else { format::rupees(entry.amount) };
    Ok(html
        .markup("<tr><td>")
        .text(entry.number)
        .markup("</td><td>")
        .text(entry.kind.as_str().replace('_', " "))
        .markup("</td><td>")
        .text(contact.map(|contact| contact.name).unwrap_or_default())
        .markup("</td><td class=\"said\">")
        .text(&entry.words)
        .markup("</td><td class=\"number\">")
        .text(amount)
        .markup("</td><td class=\"number\">")
        .text(format::rupees(line.cash))
        .markup("</td></tr>"))
}
