//! The books as comma-separated files. What is written here, [`import`](super::import) reads back as the same books.

use std::io::Write;

use munshi_store::{Tx, params};
use munshi_types::Money;

use super::account::LedgerAccount;
use super::contacts;
use super::dedup;
use super::details;
use super::entry::{self, LedgerEntry};
use super::ids::{ContactId, ItemId};
use super::items;
use super::quantity::Quantity;
use super::stored_enums::{LedgerEntryKind, PaymentMeans};
use super::transaction::Posting;
use crate::error::{Error, Result};

pub const CONTACTS: [&str; 11] =
    ["id", "name", "customer", "supplier", "staff", "phone", "email", "limit", "merged_into", "also", "made"];
pub const ITEMS: [&str; 7] = ["id", "name", "unit", "price", "low_at", "also", "made"];
pub const ENTRIES: [&str; 24] = [
    "number",
    "id",
    "key",
    "kind",
    "when",
    "made",
    "amount",
    "paid",
    "means",
    "contact",
    "contact_id",
    "category",
    "item",
    "item_id",
    "quantity",
    "words",
    "said_by",
    "source",
    "reference",
    "fingerprint",
    "reverses",
    "corrects",
    "reason",
    "seen",
];

/// Writes all contacts, merged ones too.
pub fn contacts(tx: &mut Tx<'_>, out: impl Write) -> Result<()> {
    let mut file = csv::Writer::from_writer(out);
    write_row(&mut file, CONTACTS)?;
    let ids: Vec<ContactId> =
        tx.all("SELECT id FROM ledger_contacts WHERE tenant_id = $1 ORDER BY made_at, id", &[], |row| {
            row.get(0)
        })?;
    for id in ids {
        let contact = contacts::find_row(tx, id)?.ok_or_else(|| Error::missing("contact", &id))?;
        let also = names(tx, "contact", munshi_types::Id::as_uuid(id), &contact.name)?;
        let yes = |is: bool| if is { "yes" } else { "" }.to_owned();
        write_row(
            &mut file,
            [
                id.to_string(),
                escape_formula(&contact.name),
                yes(contact.roles.customer),
                yes(contact.roles.supplier),
                yes(contact.roles.staff),
                contact.phone.unwrap_or_default(),
                escape_formula(&details::get_own(tx, id)?.email.unwrap_or_default()),
                render_optional(contact.limit),
                render_optional(contact.merged_into),
                escape_formula(&also),
                contact.made_at.to_string(),
            ],
        )?;
    }
    flush(file)
}

pub fn items(tx: &mut Tx<'_>, out: impl Write) -> Result<()> {
    let mut file = csv::Writer::from_writer(out);
    write_row(&mut file, ITEMS)?;
    let ids: Vec<ItemId> =
        tx.all("SELECT id FROM ledger_items WHERE tenant_id = $1 ORDER BY made_at, id", &[], |row| {
            row.get(0)
        })?;
    for id in ids {
        let item = items::get(tx, id)?;
        let also = names(tx, "item", munshi_types::Id::as_uuid(id), &item.name)?;
        write_row(
            &mut file,
            [
                id.to_string(),
                escape_formula(&item.name),
                escape_formula(&item.unit),
                render_optional(item.price),
                render_optional(item.low_at),
                escape_formula(&also),
                item.made_at.to_string(),
            ],
        )?;
    }
    flush(file)
}

/// Writes every entry in the order it was booked. One with more than one item goes on in rows of the kind `line`.
pub fn entries(tx: &mut Tx<'_>, out: impl Write) -> Result<()> {
    let mut file = csv::Writer::from_writer(out);
    write_row(&mut file, ENTRIES)?;
    let mut number = 0;
    while let Some(entry) = entry::find_by_number(tx, number + 1)? {
        number = entry.number;
        let postings = entry::postings(tx, entry.id)?;
        let mut lines = Vec::new();
        for movement in entry::movements(tx, entry.id)? {
            let name = items::get(tx, movement.item)?.name;
            lines.push((
                name,
                movement.item,
                Quantity::from_thousandths(movement.quantity.as_thousandths().abs()),
            ));
        }
        write_row(&mut file, row(tx, &entry, &postings, lines.first())?)?;
        for line in lines.iter().skip(1) {
            write_row(&mut file, build_line_row(&entry, line))?;
        }
    }
    flush(file)
}

type Line = (String, ItemId, Quantity);

fn row(
    tx: &mut Tx<'_>,
    entry: &LedgerEntry,
    postings: &[Posting],
    line: Option<&Line>,
) -> Result<Vec<String>> {
    let name =
        entry.contact.map(|id| contacts::find_row(tx, id)).transpose()?.flatten().map(|contact| contact.name);
    let expense = postings.iter().find(|posting| posting.debit.is_expense());
    let category = expense.map(|posting| account_name(tx, &posting.debit)).transpose()?;
    let (item, item_id, quantity) = match line {
        Some((name, id, quantity)) => (escape_formula(name), id.to_string(), quantity.to_string()),
        None => Default::default(),
    };
    Ok(vec![
        entry.number.to_string(),
        entry.id.to_string(),
        entry.key.as_uuid().to_string(),
        entry.kind.to_string(),
        entry.happened_at.to_string(),
        entry.made_at.to_string(),
        amount(entry, postings)?.to_string(),
        render_optional(paid(entry, postings)?),
        render_optional(means(entry.kind, postings)),
        escape_formula(&name.unwrap_or_default()),
        render_optional(entry.contact),
        escape_formula(&category.unwrap_or_default()),
        item,
        item_id,
        quantity,
        escape_formula(&entry.words),
        render_optional(entry.said_by),
        entry.source.to_string(),
        escape_formula(entry.reference.as_deref().unwrap_or_default()),
        escape_formula(entry.fingerprint.as_deref().unwrap_or_default()),
        render_optional(entry.reverses),
        render_optional(entry.corrects),
        escape_formula(entry.reason.as_deref().unwrap_or_default()),
        render_sightings(tx, entry)?,
    ])
}

/// By what the payment was seen again, each on a line: when, from where, and what it is known by.
fn render_sightings(tx: &mut Tx<'_>, entry: &LedgerEntry) -> Result<String> {
    let all = dedup::sightings(tx, entry.id)?;
    let lines = all.iter().map(|seen| format!("{} {} {}", seen.at, seen.source, seen.fingerprint));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn build_line_row(entry: &LedgerEntry, (name, id, quantity): &Line) -> Vec<String> {
    let mut row = vec![String::new(); ENTRIES.len()];
    let mut set = |column: &str, text: String| {
        if let Some(at) = ENTRIES.iter().position(|name| *name == column) {
            row[at] = text;
        }
    };
    set("number", entry.number.to_string());
    set("kind", "line".to_owned());
    set("item", escape_formula(name));
    set("item_id", id.to_string());
    set("quantity", quantity.to_string());
    row
}

/// An opening balance that is owed by the shop is below zero.
fn amount(entry: &LedgerEntry, postings: &[Posting]) -> Result<Money> {
    let owed =
        postings.first().is_some_and(|posting| posting.debit.code() == LedgerAccount::opening().code());
    Ok(if entry.kind == LedgerEntryKind::Opening && owed { entry.amount.negated()? } else { entry.amount })
}

/// What was paid at once, where the rest was on credit.
fn paid(entry: &LedgerEntry, postings: &[Posting]) -> Result<Option<Money>> {
    let money = |posting: &&Posting| posting.debit.is_money() || posting.credit.is_money();
    if entry.kind == LedgerEntryKind::Transfer || postings.len() < 2 {
        return Ok(None);
    }
    Ok(postings.iter().find(money).map(|posting| posting.amount))
}

/// Which of cash and bank it was; of a transfer, where it came from.
fn means(kind: LedgerEntryKind, postings: &[Posting]) -> Option<PaymentMeans> {
    let of = |account: &LedgerAccount| {
        PaymentMeans::ALL.iter().copied().find(|means| means.as_str() == account.code())
    };
    postings.iter().find_map(|posting| match kind {
        LedgerEntryKind::Transfer => of(&posting.credit),
        _ => of(&posting.debit).or_else(|| of(&posting.credit)),
    })
}

fn account_name(tx: &mut Tx<'_>, account: &LedgerAccount) -> Result<String> {
    Ok(tx.one(
        "SELECT name FROM ledger_accounts WHERE tenant_id = $1 AND code = $2",
        params![account.code()],
        |row| row.get(0),
    )?)
}

/// The other names something has had, one a line.
fn names(tx: &mut Tx<'_>, kind: &str, id: uuid::Uuid, but: &str) -> Result<String> {
    let names: Vec<String> = tx.all(
        "SELECT DISTINCT name FROM ledger_names WHERE tenant_id = $1 AND kind = $2 AND subject_id = $3 AND name <> $4
         ORDER BY name",
        params![kind, id, but],
        |row| row.get(0),
    )?;
    Ok(names.join("\n"))
}

fn render_optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A spreadsheet takes text that begins with one of these for a formula, and somebody else wrote it.
pub(super) const FORMULA: [char; 6] = ['=', '+', '-', '@', '\'', '\t'];

fn escape_formula(text: &str) -> String {
    if text.starts_with(FORMULA) { format!("'{text}") } else { text.to_owned() }
}

fn write_row<W: Write>(
    file: &mut csv::Writer<W>,
    row: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> Result<()> {
    file.write_record(row).map_err(|error| Error::File(format!("can't write the file: {error}")))
}

fn flush<W: Write>(mut file: csv::Writer<W>) -> Result<()> {
    file.flush().map_err(|error| Error::File(format!("can't write the file: {error}")))
}
