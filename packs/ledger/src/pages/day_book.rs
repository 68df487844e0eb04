//! A day, entry by entry, with the cash as it ran.

use askama::Template;
use munshi_lang::format::rupees;
use munshi_pack::{PackPageContent, PackPageHandler, PackPageRequest};
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
        PackPageContent::html(title, &DayBookTemplate::load(tx, &book)?).map(Some)
    }
}

#[derive(Template)]
#[template(path = "day_book.html")]
struct DayBookTemplate {
    opening: Money,
    closing: Money,
    rows: Vec<DayBookRow>,
}

struct DayBookRow {
    number: i64,
    kind: String,
    /// Empty where nobody is named.
    who: String,
    words: String,
    /// Empty where no money moved.
    amount: String,
    cash: Money,
}

impl DayBookTemplate {
    fn load(tx: &mut Tx<'_>, book: &DayBook) -> Result<Self> {
        let rows = book.lines.iter().map(|line| DayBookRow::load(tx, line)).collect::<Result<_>>()?;
        Ok(Self { opening: book.opening, closing: book.closing, rows })
    }
}

impl DayBookRow {
    fn load(tx: &mut Tx<'_>, line: &DayBookLine) -> Result<Self> {
        let entry = &line.entry;
        let contact = entry.contact.map(|id| contacts::get(tx, id)).transpose().map_err(as_store)?;
        Ok(Self {
            number: entry.number,
            kind: entry.kind.as_str().replace('_', " "),
            who: contact.map(|contact| contact.name).unwrap_or_default(),
            words: entry.words.clone(),
            amount: if entry.amount == Money::ZERO { String::new() } else { rupees(entry.amount) },
            cash: line.cash,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_book_prints_to_the_byte() {
        let row = DayBookRow {
            number: 7,
            kind: "credit given".to_owned(),
            who: "Ramesh".to_owned(),
            words: "\"500\" diya".to_owned(),
            amount: rupees(Money::from_paise(50_000)),
            cash: Money::ZERO,
        };
        let page = DayBookTemplate { opening: Money::from_paise(100), closing: Money::ZERO, rows: vec![row] };
        let wanted = concat!(
            "<table class=\"figures\"><thead><tr><th>No.</th><th>What</th><th>Who</th><th>Words</th>",
            "<th class=\"number\">Amount</th><th class=\"number\">Cash after</th></tr></thead><tbody>",
            "<tr><td></td><td>cash in the morning</td><td></td><td></td><td></td><td class=\"number\">₹1</td></tr>",
            "<tr><td>7</td><td>credit given</td><td>Ramesh</td><td class=\"said\">&quot;500&quot; diya</td>",
            "<td class=\"number\">₹500</td><td class=\"number\">₹0</td></tr>",
            "</tbody><tfoot><tr><td></td><td>cash in the evening</td><td></td><td></td><td></td>",
            "<td class=\"number\">₹0</td></tr></tfoot></table>",
        );
        assert_eq!(page.render().unwrap(), wanted);
    }
}
