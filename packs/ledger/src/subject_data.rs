//! What the books know of a contact, told to them.

use munshi_pack::RecordData;
use munshi_store::{Result, Tx, params};
use munshi_types::Id;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::books::documents::LedgerDocument;
use crate::books::{
    ContactId, LedgerEntryId, ReminderId, contacts, details, documents, entry, habits, reminders,
};
use crate::subjects::into_store;

pub(crate) const DATA: &[RecordData] = &[
    RecordData { name: "contacts", list_next: list_self, show: show_contact },
    RecordData { name: "entries", list_next: list_entries, show: show_entry },
    RecordData { name: "reminders", list_next: list_reminders, show: show_reminder },
];

fn list_self(_: &mut Tx<'_>, record: Uuid, after: Uuid, _: u32) -> Result<Vec<Uuid>> {
    Ok(if after < record { vec![record] } else { Vec::new() })
}

fn show_contact(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let id = ContactId::from_uuid(id);
    let Some(contact) = contacts::find_row(tx, id).map_err(into_store)? else { return Ok(None) };
    let details = details::get(tx, id).map_err(into_store)?;
    let names = contacts::list_names(tx, id).map_err(into_store)?;
    let [(_, trade), (_, payment)] = habits::get_both(tx, id).map_err(into_store)?;
    Ok(Some(json!({
        "contact": contact,
        "names": names,
        "details": details,
        "usual": { "trade": trade, "payment": payment },
    })))
}

fn list_entries(tx: &mut Tx<'_>, record: Uuid, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT id FROM ledger_entries WHERE tenant_id = $1 AND contact_id = $2 AND id > $3 ORDER BY id LIMIT $4",
        params![record, after, limit],
        |row| row.get(0),
    )
}

/// An entry with the bills that were made of it.
fn show_entry(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let id = LedgerEntryId::from_uuid(id);
    let Some(entry) = entry::find(tx, id).map_err(into_store)? else { return Ok(None) };
    let bills = documents::list_for_entry(tx, id).map_err(into_store)?;
    let bills = bills.iter().map(show_bill).collect::<Result<Vec<Value>>>()?;
    Ok(Some(json!({ "entry": entry, "bills": bills })))
}

fn show_bill(bill: &LedgerDocument) -> Result<Value> {
    let printed: Value = bill.body.read()?;
    Ok(json!({
        "kind": bill.kind,
        "series": bill.series,
        "number": bill.number,
        "printed": printed,
        "made_at": bill.made_at,
    }))
}

fn list_reminders(tx: &mut Tx<'_>, record: Uuid, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT id FROM ledger_reminders WHERE tenant_id = $1 AND contact_id = $2 AND id > $3 ORDER BY id LIMIT $4",
        params![record, after, limit],
        |row| row.get(0),
    )
}

fn show_reminder(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let found = reminders::find(tx, ReminderId::from_uuid(id)).map_err(into_store)?;
    found.map(|reminder| serde_json::to_value(reminder).map_err(|error| into_decode(&error))).transpose()
}

fn into_decode(error: &serde_json::Error) -> munshi_store::Error {
    munshi_store::Error::Decode(error.to_string())
}
