//! People in the books: adding one, and how much one may owe.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{Done, Failure, Write};
use serde_json::json;

use super::call::Desk;
use super::person::{self, Whom, whom};
use super::told::Told;
use crate::books;
use crate::books::contacts::{self, Contact, NewContact};

pub(crate) struct AddContact(pub(crate) Desk);

impl Write for AddContact {
    /// Somebody who is there already gets the number, and is not added again.
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let said = call.text("person").unwrap_or_default();
        // Two who add the same one at once add one.
        books::hold(tx)?;
        let phone = call.text("phone").map(str::to_owned);
        let contact = match whom(tx, said, call.heard())? {
            Whom::Known(contact) => {
                let phone = phone.or(contact.phone);
                let known =
                    NewContact { name: contact.name, roles: contact.roles, phone, limit: contact.limit };
                contacts::change(tx, contact.id, &known)?
            }
            Whom::New(name) => {
                let new = NewContact { name, phone, ..NewContact::default() };
                contacts::add(tx, call.writing().ids, call.now, &new)?
            }
            Whom::Several(_) => {
                let party = person::party(tx, &call, said)?;
                party.contact
            }
        };
        Ok(of(&contact).say("contact-added").done())
    }

    fn read_back(&self, _: &Permit, done: &Done, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        Ok(contact(done, tx)?.is_none().then(|| "the contact is not in the books".to_owned()))
    }
}

pub(crate) struct SetLimit(pub(crate) Desk);

impl Write for SetLimit {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let call = self.0.call(permit, tx)?;
        let contact = person::known(tx, &call)?;
        let limit = call.amount()?;
        let contact = contacts::set_limit(tx, contact.id, Some(limit))?;
        Ok(of(&contact).with("limit", munshi_lang::format::rupees(limit)).say("limit-set").done())
    }

    fn read_back(&self, permit: &Permit, done: &Done, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let wanted = self.0.call(permit, tx)?.amount()?;
        let is_so = contact(done, tx)?.is_some_and(|contact| contact.limit == Some(wanted));
        Ok((!is_so).then(|| "the limit is another one".to_owned()))
    }
}

fn of(contact: &Contact) -> Told {
    let told = json!({ "id": contact.id, "name": contact.name });
    Told::default().with("contact", told).with("name", contact.name.as_str())
}

/// The contact that was told of.
fn contact(done: &Done, tx: &mut Tx<'_>) -> Result<Option<Contact>, Failure> {
    let id = done.value.pointer("/contact/id").and_then(|id| id.as_str()?.parse().ok());
    Ok(id.map(|id| contacts::row(tx, id)).transpose()?.flatten())
}
