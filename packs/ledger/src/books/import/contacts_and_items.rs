//! Contacts and items of a file.

use munshi_store::{Tx, params};
use munshi_types::Id;

use super::BooksImportReport;
use super::csv_table::{CsvRow, CsvTable};
use crate::books::book::BookingContext;
use crate::books::contacts::{self, ContactRoles, NewContact, add, merge_keeping_details};
use crate::books::details::{self, ContactDetails};
use crate::books::ids::{ContactId, ItemId};
use crate::books::items::{self, NewStockItem};
use crate::books::names::{self, NameSubject};
use crate::books::{export, quantity::Quantity};
use crate::error::{Error, Result};

const CONTACTS: &str = "contacts";
const ITEMS: &str = "items";

/// What must wait until all entries are booked: they are booked on the contacts as they were then.
pub(super) struct DeferredContact {
    line: u64,
    id: ContactId,
    /// Only where the row is of an export: else what the entries say of them holds too.
    roles: Option<ContactRoles>,
    merged_into: Option<ContactId>,
}

pub(super) fn import_contacts(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    text: &str,
    report: &mut BooksImportReport,
) -> Result<Vec<DeferredContact>> {
    let mut waiting = Vec::new();
    if text.trim().is_empty() {
        return Ok(waiting);
    }
    let mut table = CsvTable::open(CONTACTS, text, &export::CONTACTS, &["name"])?;
    while let Some(cells) = table.next(CONTACTS)? {
        let taken = report.try_row(tx, (CONTACTS, cells.line), |tx| {
            cells.ensure_no_extra_cells()?;
            import_contact(tx, writing, &cells)
        })?;
        match taken {
            Some(Some(one)) => {
                report.contacts += 1;
                waiting.push(one);
            }
            Some(None) => report.known += 1,
            None => {}
        }
    }
    Ok(waiting)
}

fn import_contact(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    cells: &CsvRow<'_>,
) -> Result<Option<DeferredContact>> {
    let roles = ContactRoles {
        customer: cells.is_yes("customer")?,
        supplier: cells.is_yes("supplier")?,
        staff: cells.is_yes("staff")?,
    };
    let name = cells.required("name")?.to_owned();
    let given: Option<ContactId> = cells.parse("id", "id")?;
    let is_known = match given {
        Some(id) => contacts::find_row(tx, id)?.is_some(),
        None => contacts::find(tx, &name)?.into_one().is_some(),
    };
    if is_known {
        return Ok(None);
    }
    let new = NewContact {
        name,
        roles,
        phone: cells.text("phone").map(str::to_owned),
        limit: cells.money("limit")?,
    };
    let id = given.unwrap_or_else(|| writing.ids.next());
    add::add_with_id(tx, cells.time("made", writing.zone)?.unwrap_or(writing.now), &new, id)?;
    add_other_names(tx, NameSubject::Contact, id.as_uuid(), cells)?;
    if let Some(email) = cells.name("email") {
        let said = ContactDetails { email: Some(email.to_owned()), ..ContactDetails::default() };
        details::update(tx, id, &said, writing.now)?;
    }
    Ok(Some(DeferredContact {
        line: cells.line,
        id,
        roles: given.map(|_| roles),
        merged_into: cells.parse("merged_into", "id")?,
    }))
}

/// The other names something has, one a line.
fn add_other_names(tx: &mut Tx<'_>, subject: NameSubject, id: uuid::Uuid, cells: &CsvRow<'_>) -> Result<()> {
    let mut others = cells.raw_text("also").lines().filter(|name| !name.trim().is_empty());
    others.try_for_each(|name| names::add(tx, subject, id, &names::clean(name)?))
}

/// Roles as the file has them, and merges, once the entries stand.
pub(super) fn apply_roles_and_merges(
    tx: &mut Tx<'_>,
    waiting: &[DeferredContact],
    report: &mut BooksImportReport,
) -> Result<()> {
    for one in waiting {
        report.try_row(tx, (CONTACTS, one.line), |tx| {
            if let Some(roles) = one.roles {
                tx.execute(
                    "UPDATE ledger_contacts SET is_customer = $3, is_supplier = $4, is_staff = $5
                     WHERE tenant_id = $1 AND id = $2",
                    params![one.id, roles.customer, roles.supplier, roles.staff],
                )?;
            }
            one.merged_into.map_or(Ok(()), |into| merge_keeping_details(tx, one.id, into))
        })?;
    }
    Ok(())
}

pub(super) fn import_items(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    text: &str,
    report: &mut BooksImportReport,
) -> Result<()> {
    if text.trim().is_empty() {
        return Ok(());
    }
    let mut table = CsvTable::open(ITEMS, text, &export::ITEMS, &["name", "unit"])?;
    while let Some(cells) = table.next(ITEMS)? {
        match report.try_row(tx, (ITEMS, cells.line), |tx| {
            cells.ensure_no_extra_cells()?;
            import_item(tx, writing, &cells)
        })? {
            Some(true) => report.items += 1,
            Some(false) => report.known += 1,
            None => {}
        }
    }
    Ok(())
}

fn import_item(tx: &mut Tx<'_>, writing: &BookingContext<'_>, cells: &CsvRow<'_>) -> Result<bool> {
    let name = cells.required("name")?.to_owned();
    let given: Option<ItemId> = cells.parse("id", "id")?;
    let is_known = match given {
        Some(id) => match items::get(tx, id) {
            Ok(_) => true,
            Err(Error::Missing { .. }) => false,
            Err(error) => return Err(error),
        },
        None => items::find(tx, &name)?.into_one().is_some(),
    };
    if is_known {
        return Ok(false);
    }
    let low_at: Option<Quantity> = cells.text("low_at").map(str::parse).transpose()?;
    let new =
        NewStockItem { name, unit: cells.required("unit")?.to_owned(), price: cells.money("price")?, low_at };
    let id = given.unwrap_or_else(|| writing.ids.next());
    items::add_with_id(tx, cells.time("made", writing.zone)?.unwrap_or(writing.now), &new, id)?;
    add_other_names(tx, NameSubject::Item, id.as_uuid(), cells)?;
    Ok(true)
}
