//! A bill of a sale, and the tax of an item.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ToolFailure, ToolOutput, WriteToolHandler};
use munshi_types::attachment::{Attachment, FIELD};
use serde_json::json;

use super::call::{LedgerServices, LedgerToolCall};
use super::result::LedgerToolResult;
use super::{contact_match, sentence_fields, stock};
use crate::bill::{self, BillRequest, find_latest_sale};
use crate::books::details::{self, ContactDetails};
use crate::books::taxes::{self, ItemTax};
use crate::books::{DocumentId, LedgerDay, LedgerEntry, documents, entry, shares};
use crate::pages::bill_path;
use crate::tax::{self, TaxRate};

pub(crate) struct MakeBillTool(pub(crate) LedgerServices);

impl WriteToolHandler for MakeBillTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let entry = sale(tx, &call)?;
        let sentence = call.text("text").unwrap_or_default();
        let gstin = sentence_fields::gstin(sentence).or_else(|| sentence_fields::find_gstin_like(sentence));
        if let (Some(contact), Some(gstin)) = (entry.contact, gstin) {
            let said = ContactDetails { gstin: Some(gstin), ..ContactDetails::default() };
            details::update(tx, contact, &said, call.now)?;
        }
        let rate = call.text("gst").map(str::parse).transpose()?.or_else(|| sentence_fields::rate(sentence));
        let wish = BillRequest { what: call.text("description"), rate };
        let (document, bill) = bill::make(tx, call.booking_context().ids, call.now, &entry, wish)?;
        let key = shares::add(tx, call.random(), document.id, call.now)?;
        let number = bill.number(document.number);
        let title = format!("{} {number}", bill.title());
        let link = [Attachment::Link { url: bill_path(call.tenant, document.id, &key), title }];
        let link = serde_json::to_value(link)
            .map_err(|error| ToolFailure::permanent("not_shown", error.to_string()))?;
        Ok(LedgerToolResult::default()
            .with("bill", json!({ "id": document.id, "name": number }))
            .with("number", number)
            .money("amount", bill.total)
            .money("tax_amount", bill.taxed.tax()?)
            .with(FIELD, link)
            .phrase("bill")
            .build())
    }

    fn read_back(
        &self,
        _: &Permit,
        done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let id = done.value.pointer("/bill/id").and_then(|id| id.as_str()?.parse::<DocumentId>().ok());
        let found = id.map(|id| documents::find(tx, id)).transpose()?.flatten();
        Ok(found.is_none().then(|| "the bill was not kept".to_owned()))
    }
}

/// The sale that is meant: by its number, the latest of a person, or the latest of all.
fn sale(tx: &mut Tx<'_>, call: &LedgerToolCall<'_>) -> Result<LedgerEntry, ToolFailure> {
    let none = || ToolFailure::permanent("ledger_no_bill", "there is no such sale that stands");
    if let Some(number) = call.text("entry") {
        let number: i64 = number.trim_start_matches('#').parse().map_err(|_| none())?;
        return entry::find_by_number(tx, number)?.ok_or_else(none);
    }
    let named = call
        .text("buyer")
        .map(|said| contact_match::resolve_contact_argument(tx, "buyer", (said, call.user_text())))
        .transpose()?;
    let contact = match (named, call.text("text")) {
        (None, Some(sentence)) => contact_match::list_mentioned(tx, sentence)?.into_iter().next(),
        (named, _) => named,
    };
    let amount = call.given_amount();
    let missing = || match (amount, &contact) {
        (None, None) => none(),
        _ => ToolFailure::permanent(
            "ledger_no_such_sale",
            "no sale like that stands: it has to be written first",
        ),
    };
    find_latest_sale(tx, contact.as_ref().map(|contact| contact.id), amount)?.ok_or_else(missing)
}

pub(crate) struct SetItemTaxTool(pub(crate) LedgerServices);

impl WriteToolHandler for SetItemTaxTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let name = call.text("item").unwrap_or_default();
        let item = stock::resolve_item(tx, name)?.ok_or_else(|| ToolFailure::not_found(name))?;
        let tax = parse_item_tax(&call)?;
        taxes::set(tx, item.id, &tax, call.now)?;
        Ok(LedgerToolResult::default()
            .with("thing", json!({ "id": item.id, "name": item.name }))
            .with("item", item.name.as_str())
            .with("rate", tax.rate.to_string())
            .with("since", tax.from.to_string())
            .phrase("item-tax")
            .build())
    }

    fn read_back(
        &self,
        permit: &Permit,
        done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let tax = parse_item_tax(&self.0.load_call(permit, tx)?)?;
        let id = done.value.pointer("/thing/id").and_then(|id| id.as_str()?.parse().ok());
        let kept = id.map(|id| taxes::find_on(tx, id, tax.from)).transpose()?.flatten();
        Ok((kept != Some(tax)).then(|| "the tax that was kept is another".to_owned()))
    }
}

/// Rate, code and first day as they were said. Without a day it holds as long as there are the present rates.
fn parse_item_tax(call: &LedgerToolCall<'_>) -> Result<ItemTax, ToolFailure> {
    let sentence = call.text("text").unwrap_or_default();
    let hsn =
        call.text("hsn").map(str::to_owned).or_else(|| sentence_fields::hsn(sentence)).unwrap_or_default();
    let today = call.today();
    let said: Option<TaxRate> =
        call.text("gst").map(str::parse).transpose()?.or_else(|| sentence_fields::rate(sentence));
    let known = || tax::find_rate(&hsn, today.to_date()).filter(|_| !hsn.is_empty());
    let no_rate = || ToolFailure::permanent("ledger_no_rate", "say the rate, such as 5%");
    let rate = said.or_else(known).ok_or_else(no_rate)?;
    let since = LedgerDay::from_date(TaxRate::rates_valid_since(today.to_date()));
    let from = call.other_day()?.unwrap_or(since);
    // A day that nobody said is today as well: what went since is no rate to keep.
    if from == since {
        rate.validate_on(today.to_date(), &hsn)?;
    }
    Ok(ItemTax { hsn, rate, from })
}
