//! New contacts, and what is known of them.

use munshi_identity::ContactAddress;
use munshi_store::{Tx, params};
use munshi_types::{Id, IdGenerator, Money, Timestamp};

use super::forget::check_not_forgotten;
use super::{Contact, ContactRoles, get};
use crate::books::head;
use crate::books::ids::ContactId;
use crate::books::names::{self, NameSubject};
use crate::books::transaction::LARGEST;
use crate::error::{Error, Result};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewContact {
    pub name: String,
    pub roles: ContactRoles,
    pub phone: Option<String>,
    pub limit: Option<Money>,
}

/// Adds a contact. Two may have one name: whether it is somebody new is the caller's question.
pub fn add(tx: &mut Tx<'_>, ids: &IdGenerator, now: Timestamp, new: &NewContact) -> Result<Contact> {
    let id = ids.next();
    add_with_id(tx, now, new, id)?;
    get(tx, id)
}

/// Adds a contact under an id that is known.
pub(in crate::books) fn add_with_id(
    tx: &mut Tx<'_>,
    now: Timestamp,
    new: &NewContact,
    id: ContactId,
) -> Result<()> {
    let name = names::clean(&new.name)?;
    let (phone, limit) = (phone(new.phone.as_deref())?, validate_limit(new.limit)?);
    head::lock(tx)?;
    tx.execute(
        "INSERT INTO ledger_contacts (tenant_id, id, name, is_customer, is_supplier, is_staff, phone, credit_limit,
                                      balance, merged_into, made_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, NULL, $9)",
        params![id, name, new.roles.customer, new.roles.supplier, new.roles.staff, phone, limit, now],
    )?;
    names::add(tx, NameSubject::Contact, id.as_uuid(), &name)
}

/// Replaces what is known of a contact. The names it had still find it.
pub fn update(tx: &mut Tx<'_>, id: ContactId, known: &NewContact) -> Result<Contact> {
    let name = names::clean(&known.name)?;
    let (phone, limit) = (phone(known.phone.as_deref())?, validate_limit(known.limit)?);
    head::lock(tx)?;
    let contact = get(tx, id)?;
    check_not_forgotten(tx, contact.id)?;
    tx.execute(
        "UPDATE ledger_contacts SET name = $3, is_customer = $4, is_supplier = $5, is_staff = $6, phone = $7,
                credit_limit = $8
         WHERE tenant_id = $1 AND id = $2",
        params![
            contact.id,
            name,
            known.roles.customer,
            known.roles.supplier,
            known.roles.staff,
            phone,
            limit
        ],
    )?;
    names::add(tx, NameSubject::Contact, contact.id.as_uuid(), &name)?;
    get(tx, contact.id)
}

/// Sets the most a contact may owe, or takes the limit away.
pub fn set_limit(tx: &mut Tx<'_>, id: ContactId, limit: Option<Money>) -> Result<Contact> {
    head::lock(tx)?;
    let contact = get(tx, id)?;
    let known = NewContact { name: contact.name, roles: contact.roles, phone: contact.phone, limit };
    update(tx, contact.id, &known)
}

fn phone(text: Option<&str>) -> Result<Option<String>> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    Ok(text.map(ContactAddress::phone).transpose()?.map(|phone| phone.as_str().to_owned()))
}

fn validate_limit(limit: Option<Money>) -> Result<Option<Money>> {
    if limit.is_some_and(|limit| limit.is_negative() || limit > LARGEST) {
        return Err(Error::invalid("a limit is an amount from zero on"));
    }
    Ok(limit)
}
