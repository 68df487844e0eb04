//! What happened, row by row.

use std::collections::HashMap;

use munshi_store::Tx;
use munshi_types::{Money, PersonId};

use super::BooksImportReport;
use super::csv_table::{CsvRow, CsvTable};
use crate::books::book::{self, BookingContext, EntryProvenance, MOST_MARK, NewLedgerEntry};
use crate::books::cancel::{self, EntryCancelRequest};
use crate::books::contacts::{self, NewContact};
use crate::books::dedup::{self, PaymentSighting};
use crate::books::ids::{ContactId, EntryKey, ItemId, LedgerEntryId};
use crate::books::names::NameMatch;
use crate::books::stored_enums::{LedgerEntryKind, LedgerEntrySource, PaymentMeans};
use crate::books::transaction::{CreditAsset, ItemQuantity, OpeningBalance, PaymentTerms, ShopTransaction};
use crate::books::{entry, export, head, items};
use crate::error::{Error, Result};

const FILE: &str = "entries";

/// An entry whose lines may go on in the rows that follow.
struct Open {
    line: u64,
    row: Row,
}

/// An entry as its row says, with the items of the rows after it.
struct Row {
    number: Option<String>,
    id: Option<LedgerEntryId>,
    key: EntryKey,
    /// What a row of these very letters was taken under before rows were known by what they say.
    letters: Option<EntryKey>,
    what: What,
    corrects: Option<LedgerEntryId>,
    made: Option<munshi_types::Timestamp>,
    seen: Vec<PaymentSighting>,
}

enum What {
    Booked { said: EntryProvenance, sketch: Sketch },
    Reversal { of: LedgerEntryId, reason: String, by: Option<PersonId> },
}

/// The parts an act is put together from once all its lines are there.
struct Sketch {
    kind: LedgerEntryKind,
    amount: Option<Money>,
    paid: Option<Money>,
    means: Option<PaymentMeans>,
    contact: Option<ContactId>,
    category: String,
    lines: Vec<ItemQuantity>,
    /// Whether the contact was added for this row.
    is_new: bool,
}

pub(super) fn import(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    text: &str,
    report: &mut BooksImportReport,
) -> Result<()> {
    if text.trim().is_empty() {
        return Ok(());
    }
    let mut table = CsvTable::open(FILE, text, &export::ENTRIES, &["kind", "when"])?;
    let mut seen: HashMap<EntryKey, u64> = HashMap::new();
    let mut open: Option<Open> = None;
    while let Some(cells) = table.next(FILE)? {
        if cells.text("kind") == Some("line") {
            let of = open.as_mut();
            report.try_row(tx, (FILE, cells.line), |tx| add_line(tx, of, &cells))?;
            continue;
        }
        finish_row(tx, writing, open.take(), report)?;
        let row = report.try_row(tx, (FILE, cells.line), |tx| read(tx, writing, &cells, &mut seen))?;
        let is_new =
            row.as_ref().is_some_and(|row| matches!(&row.what, What::Booked { sketch, .. } if sketch.is_new));
        report.contacts += usize::from(is_new);
        open = row.map(|row| Open { line: cells.line, row });
    }
    finish_row(tx, writing, open, report)
}

fn finish_row(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    open: Option<Open>,
    report: &mut BooksImportReport,
) -> Result<()> {
    let Some(Open { line, row }) = open else { return Ok(()) };
    let amount = match &row.what {
        What::Booked { sketch, .. } => sketch.amount,
        What::Reversal { .. } => None,
    };
    match report.try_row(tx, (FILE, line), |tx| book_row(tx, writing, row))? {
        Some(true) => {
            report.entries += 1;
            if let Some(amount) = amount.filter(|amount| *amount > report.confirm_above) {
                report.note_large(line, amount);
            }
        }
        Some(false) => report.known += 1,
        None => {}
    }
    Ok(())
}

fn read(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    cells: &CsvRow<'_>,
    seen: &mut HashMap<EntryKey, u64>,
) -> Result<Row> {
    cells.ensure_no_extra_cells()?;
    let (key, letters) = key(writing, cells, seen)?;
    let what = match cells.parse("reverses", "id")? {
        Some(of) => What::Reversal {
            of,
            reason: cells.required("reason")?.to_owned(),
            by: cells.parse("said_by", "person's id")?,
        },
        None => What::Booked { said: parse_provenance(writing, cells)?, sketch: sketch(tx, writing, cells)? },
    };
    Ok(Row {
        number: cells.text("number").map(str::to_owned),
        id: cells.parse("id", "id")?,
        key,
        letters,
        what,
        corrects: cells.parse("corrects", "id")?,
        made: cells.time("made", writing.zone)?,
        seen: cells.raw_text("seen").lines().map(sighting).collect::<Result<_>>()?,
    })
}

/// A payment that was seen again: when, from where, and what it is known by.
fn sighting(line: &str) -> Result<PaymentSighting> {
    let bad =
        || Error::invalid(format!("`{line}` in `seen` is not a time, source and mark: keep it as exported"));
    let (at, rest) = line.split_once(' ').ok_or_else(bad)?;
    let (source, fingerprint) = rest.split_once(' ').ok_or_else(bad)?;
    if fingerprint.is_empty() || fingerprint.chars().count() > MOST_MARK {
        return Err(bad());
    }
    let at = at.parse().map_err(|_| bad())?;
    Ok(PaymentSighting { fingerprint: fingerprint.to_owned(), source: source.parse()?, at })
}

/// The row's own key; else one made of what it says, and one of its letters.
fn key(
    writing: &BookingContext<'_>,
    cells: &CsvRow<'_>,
    seen: &mut HashMap<EntryKey, u64>,
) -> Result<(EntryKey, Option<EntryKey>)> {
    if let Some(key) = cells.parse("key", "key")? {
        return Ok((EntryKey::new(key), None));
    }
    let letters = number_duplicate(EntryKey::from_parts(&cells.raw_cells()), seen);
    let meaning = cells.canonical_cells(writing.zone)?;
    let meaning: Vec<&[u8]> = meaning.iter().map(String::as_bytes).collect();
    Ok((number_duplicate(EntryKey::from_parts(&meaning), seen), Some(letters)))
}

/// A key of its own for each of several rows that are the same.
fn number_duplicate(plain: EntryKey, seen: &mut HashMap<EntryKey, u64>) -> EntryKey {
    let before = seen.entry(plain).or_default();
    *before += 1;
    EntryKey::from_parts(&[plain.as_uuid().as_bytes(), &before.to_be_bytes()])
}

fn parse_provenance(writing: &BookingContext<'_>, cells: &CsvRow<'_>) -> Result<EntryProvenance> {
    let happened_at = cells.time("when", writing.zone)?.ok_or_else(|| Error::invalid("`when` is empty"))?;
    let kept = |column: &str| Some(cells.raw_text(column)).filter(|text| !text.is_empty()).map(str::to_owned);
    Ok(EntryProvenance {
        by: cells.parse("said_by", "person's id")?,
        source: cells.text("source").map(str::parse).transpose()?.unwrap_or(LedgerEntrySource::Import),
        words: cells.raw_text("words").to_owned(),
        happened_at,
        reference: kept("reference"),
        fingerprint: kept("fingerprint"),
    })
}

fn sketch(tx: &mut Tx<'_>, writing: &BookingContext<'_>, cells: &CsvRow<'_>) -> Result<Sketch> {
    let kind: LedgerEntryKind = cells.required("kind")?.to_lowercase().parse()?;
    let (contact, is_new) = resolve_contact(tx, writing, cells)?;
    let mut sketch = Sketch {
        kind,
        amount: cells.money("amount")?,
        paid: cells.money("paid")?,
        means: cells.text("means").map(|means| means.to_lowercase().parse()).transpose()?,
        contact,
        category: cells.raw_text("category").to_owned(),
        lines: Vec::new(),
        is_new,
    };
    if cells.text("item").is_some() || cells.text("item_id").is_some() {
        sketch.lines.push(line(tx, cells)?);
    }
    Ok(sketch)
}

/// By its id, else by its name; somebody nobody knows is added, which is said too.
fn resolve_contact(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    cells: &CsvRow<'_>,
) -> Result<(Option<ContactId>, bool)> {
    if let Some(id) = cells.parse::<ContactId>("contact_id", "id")? {
        return contacts::find_row(tx, id)?
            .map(|contact| (Some(contact.id), false))
            .ok_or_else(|| Error::missing("contact", &id));
    }
    let Some(name) = cells.name("contact") else { return Ok((None, false)) };
    match contacts::find(tx, name)? {
        NameMatch::One(contact) => Ok((Some(contact.id), false)),
        NameMatch::Nobody => {
            let new = NewContact { name: name.to_owned(), ..NewContact::default() };
            contacts::add(tx, writing.ids, writing.now, &new).map(|contact| (Some(contact.id), true))
        }
        NameMatch::Choices(choices) => {
            let names: Vec<String> = choices.into_iter().map(|contact| contact.name).collect();
            Err(Error::invalid(format!(
                "`{name}` is ambiguous ({}): write the full name or the id",
                names.join(" or ")
            )))
        }
    }
}

fn line(tx: &mut Tx<'_>, cells: &CsvRow<'_>) -> Result<ItemQuantity> {
    let item = match cells.parse::<ItemId>("item_id", "id")? {
        Some(id) => items::get(tx, id)?,
        None => {
            let name = cells.required("item")?;
            let unknown = || {
                Error::invalid(format!(
                    "no single item is called `{name}`: add it to the items, or write its id"
                ))
            };
            items::find(tx, name)?.into_one().ok_or_else(unknown)?
        }
    };
    let quantity = cells.parse("quantity", "quantity")?;
    let quantity = quantity.ok_or_else(|| Error::invalid("`quantity` is empty"))?;
    Ok(ItemQuantity { item: item.id, quantity })
}

fn add_line(tx: &mut Tx<'_>, open: Option<&mut Open>, cells: &CsvRow<'_>) -> Result<()> {
    cells.ensure_no_extra_cells()?;
    let lost = || Error::invalid("this line follows no valid entry: put it right after its entry");
    let open = open.filter(|open| open.row.number.as_deref() == cells.text("number")).ok_or_else(lost)?;
    match &mut open.row.what {
        What::Booked { sketch, .. } => sketch.lines.push(line(tx, cells)?),
        // What is cancelled goes back by itself.
        What::Reversal { .. } => {}
    }
    Ok(())
}

/// Books a row; false when it was there.
fn book_row(tx: &mut Tx<'_>, writing: &BookingContext<'_>, row: Row) -> Result<bool> {
    let writing = &BookingContext { now: row.made.unwrap_or(writing.now), ..*writing };
    let mut head = head::lock(tx)?;
    let known = match (entry::find_by_key(tx, row.key)?, row.letters) {
        (None, Some(letters)) => entry::find_by_key(tx, letters)?,
        (known, _) => known,
    };
    if let Some(known) = known {
        record_sightings(tx, known.id, &row.seen)?;
        return Ok(false);
    }
    let (id, seen) = (row.id.unwrap_or_else(|| writing.ids.next()), row.seen);
    match row.what {
        What::Reversal { of, reason, by } => {
            let cancelling = EntryCancelRequest { key: row.key, entry: of, reason: &reason, by };
            cancel::reverse(tx, &mut head, writing, &cancelling, id)?;
        }
        What::Booked { said, sketch } => {
            let new = NewLedgerEntry { key: row.key, act: sketch.into_transaction()?, said };
            book::insert_entry_with_id(tx, &mut head, writing, &new, row.corrects, id)?;
        }
    }
    head.save(tx)?;
    record_sightings(tx, id, &seen)?;
    Ok(true)
}

/// What the payment was seen by elsewhere, it is known by here.
fn record_sightings(tx: &mut Tx<'_>, entry: LedgerEntryId, seen: &[PaymentSighting]) -> Result<()> {
    seen.iter().try_for_each(|one| dedup::record_sighting(tx, entry, &one.fingerprint, one.source, one.at))
}

impl Sketch {
    fn into_transaction(self) -> Result<ShopTransaction> {
        let settled = self.payment_terms();
        let party = self.contact;
        let amount = || self.amount.ok_or_else(|| Error::invalid("`amount` is empty"));
        let means = || self.means.ok_or_else(|| Error::invalid("`means` is empty: write cash or bank"));
        let someone = || party.ok_or_else(|| Error::invalid("`contact` is empty: credit needs a contact"));
        let lent = self.means.map_or(CreditAsset::Goods, CreditAsset::Money);
        Ok(match self.kind {
            LedgerEntryKind::Sale => {
                ShopTransaction::Sale { amount: amount()?, settled, party, lines: self.lines }
            }
            LedgerEntryKind::Purchase => {
                ShopTransaction::Purchase { amount: amount()?, settled, party, lines: self.lines }
            }
            LedgerEntryKind::Expense => {
                ShopTransaction::Expense { amount: amount()?, category: self.category, settled, party }
            }
            LedgerEntryKind::CreditGiven => {
                ShopTransaction::CreditGiven { party: someone()?, amount: amount()?, lent, lines: self.lines }
            }
            LedgerEntryKind::CreditTaken => {
                ShopTransaction::CreditTaken { party: someone()?, amount: amount()?, lent, lines: self.lines }
            }
            LedgerEntryKind::PaymentReceived => {
                ShopTransaction::PaymentReceived { party, amount: amount()?, means: means()? }
            }
            LedgerEntryKind::PaymentMade => {
                ShopTransaction::PaymentMade { party, amount: amount()?, means: means()? }
            }
            LedgerEntryKind::Transfer => ShopTransaction::Transfer { amount: amount()?, from: means()? },
            LedgerEntryKind::StockIn => ShopTransaction::StockIn { lines: self.lines, party },
            LedgerEntryKind::StockOut => ShopTransaction::StockOut { lines: self.lines, party },
            LedgerEntryKind::Opening => ShopTransaction::Opening(match (party, self.means) {
                (Some(party), _) => OpeningBalance::Contact { party, balance: amount()? },
                (None, Some(means)) => OpeningBalance::Money { means, balance: amount()? },
                (None, None) => OpeningBalance::Stock { lines: self.lines },
            }),
        })
    }

    fn payment_terms(&self) -> PaymentTerms {
        match (self.means, self.paid) {
            (Some(means), Some(paid)) if Some(paid) != self.amount => PaymentTerms::Part { paid, means },
            (Some(means), _) => PaymentTerms::Now(means),
            (None, _) => PaymentTerms::Credit,
        }
    }
}
