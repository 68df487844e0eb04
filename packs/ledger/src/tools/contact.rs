//! People in the books: adding one, and how much one may owe.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ToolFailure, ToolOutput, WriteToolHandler};
use serde_json::json;

use super::call::LedgerServices;
use super::contact_match::{self, ContactMatch, match_contact};
use super::result::LedgerToolResult;
use crate::books;
use crate::books::contacts::{self, Contact, NewContact};
use crate::books::details::{self, ContactDetails};

pub(crate) struct AddContactTool(pub(crate) LedgerServices);

impl WriteToolHandler for AddContactTool {
    /// Somebody who is there already gets the number and the address, and is not added again.
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let said = call.text("person").unwrap_or_default();
        // Two who add the same one at once add one.
        books::lock_until_commit(tx)?;
        let phone = call.text("phone").map(str::to_owned);
        let contact = match match_contact(tx, said, call.user_text())? {
            ContactMatch::Known(contact) => {
                let phone = phone.or(contact.phone);
                let known =
                    NewContact { name: contact.name, roles: contact.roles, phone, limit: contact.limit };
                contacts::update(tx, contact.id, &known)?
            }
            ContactMatch::New(name) => {
                let new = NewContact { name, phone, ..NewContact::default() };
                contacts::add(tx, call.booking_context().ids, call.now, &new)?
            }
            ContactMatch::Several(_) => {
                let party = contact_match::resolve_party(tx, &call, said)?;
                party.contact
            }
        };
        if let Some(email) = call.text("email") {
            let said = ContactDetails { email: Some(email.to_owned()), ..ContactDetails::default() };
            details::update(tx, contact.id, &said, call.now)?;
        }
        Ok(build_contact_result(&contact).phrase("contact-added").build())
    }

    fn read_back(
        &self,
        permit: &Permit,
        done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let Some(contact) = contact(done, tx)? else {
            return Ok(Some("the contact is not in the books".to_owned()));
        };
        let wanted = self.0.load_call(permit, tx)?.text("email").map(str::to_lowercase);
        let is_kept = wanted.is_none() || details::get(tx, contact.id)?.email == wanted;
        Ok((!is_kept).then(|| "the e-mail address is another one".to_owned()))
    }
}

pub(crate) struct SetCreditLimitTool(pub(crate) LedgerServices);

impl WriteToolHandler for SetCreditLimitTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let contact = contact_match::resolve_contact(tx, &call)?;
        let limit = call.amount()?;
        let contact = contacts::set_limit(tx, contact.id, Some(limit))?;
        Ok(build_contact_result(&contact)
            .with("limit", munshi_lang::format::rupees(limit))
            .phrase("limit-set")
            .build())
    }

    fn read_back(
        &self,
        permit: &Permit,
        done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let wanted = self.0.load_call(permit, tx)?.amount()?;
        let is_so = contact(done, tx)?.is_some_and(|contact| contact.limit == Some(wanted));
        Ok((!is_so).then(|| "the limit is another one".to_owned()))
    }
}

fn build_contact_result(contact: &Contact) -> LedgerToolResult {
    let told = json!({ "id": contact.id, "name": contact.name });
    LedgerToolResult::default().with("contact", told).with("name", contact.name.as_str())
}

/// The contact that was told of.
fn contact(done: &ToolOutput, tx: &mut Tx<'_>) -> Result<Option<Contact>, ToolFailure> {
    let id = done.value.pointer("/contact/id").and_then(|id| id.as_str()?.parse().ok());
    Ok(id.map(|id| contacts::find_row(tx, id)).transpose()?.flatten())
}
