//! People and businesses with an account.
//!
//! # Layout
//! - [`add`], [`change`]: new ones, and what is known of them; [`find`](fn@find): who a name means
//! - [`merge`](fn@merge): two that are one; [`detach`], [`forget`](fn@forget): one who is forgotten
//! - `entry_effects`: their kept balance and roles

pub(super) mod add;
pub(super) mod entry_effects;
mod forget;
mod merge;

pub use add::{NewContact, add, set_limit, update};
pub use forget::{detach, forget};
pub use merge::merge;
pub(super) use merge::merge_keeping_details;

use munshi_identity::ContactAddress;
use munshi_store::{Cursor, Page, PageRequest, Row, Tx, params};
use munshi_types::{Id, Money, Timestamp};
use serde::Serialize;

use super::ids::ContactId;
use super::names::{self, NameMatch, NameSubject};
use crate::error::{Error, Result};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contact {
    pub id: ContactId,
    pub name: String,
    pub roles: ContactRoles,
    /// With the country's code.
    pub phone: Option<String>,
    /// The most they may owe; none is no limit.
    pub limit: Option<Money>,
    /// What they owe; below zero, what is owed to them.
    pub balance: Money,
    pub merged_into: Option<ContactId>,
    pub made_at: Timestamp,
}

/// What somebody is to the shop; they may be several things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContactRoles {
    pub customer: bool,
    pub supplier: bool,
    pub staff: bool,
}

impl Contact {
    /// By how much an amount would go over the limit; none when it does not.
    pub fn excess_over_limit(&self, amount: Money) -> Result<Option<Money>> {
        let Some(limit) = self.limit else { return Ok(None) };
        let over = self.balance.plus(amount)?.minus(limit)?;
        Ok((over > Money::ZERO).then_some(over))
    }
}

/// Every name that a contact has had, and is found by.
pub fn list_names(tx: &mut Tx<'_>, id: ContactId) -> Result<Vec<String>> {
    names::list(tx, NameSubject::Contact, id.as_uuid())
}

/// A contact as it stands; one that was merged leads to the other.
pub fn get(tx: &mut Tx<'_>, id: ContactId) -> Result<Contact> {
    let contact = find_row(tx, id)?.ok_or_else(|| Error::missing("contact", &id))?;
    match contact.merged_into {
        Some(root) => find_row(tx, root)?.ok_or_else(|| Error::missing("contact", &root)),
        None => Ok(contact),
    }
}

/// A contact as its row is, merged or not.
pub fn find_row(tx: &mut Tx<'_>, id: ContactId) -> Result<Option<Contact>> {
    Ok(tx.optional(
        "SELECT id, name, is_customer, is_supplier, is_staff, phone, credit_limit, balance, merged_into, made_at
         FROM ledger_contacts WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )?)
}

/// Who a name means, in whatever script it is written. Names close to each other are choices, never a guess.
pub fn find(tx: &mut Tx<'_>, name: &str) -> Result<NameMatch<Contact>> {
    names::find(
        tx,
        NameSubject::Contact,
        name,
        |tx, id| get(tx, ContactId::from_uuid(id)),
        |contact| contact.id.as_uuid(),
    )
}

/// Those with a telephone number, the first one first.
pub fn list_by_phone(tx: &mut Tx<'_>, phone: &str) -> Result<Vec<Contact>> {
    let phone = ContactAddress::phone(phone)?;
    Ok(tx.all(
        "SELECT id, name, is_customer, is_supplier, is_staff, phone, credit_limit, balance, merged_into, made_at
         FROM ledger_contacts WHERE tenant_id = $1 AND phone = $2 AND merged_into IS NULL ORDER BY made_at, id LIMIT 20",
        params![phone.as_str()],
        read,
    )?)
}

/// The same also where a contact that was merged into them has the number.
pub fn list_roots_by_phone(tx: &mut Tx<'_>, phone: &str) -> Result<Vec<Contact>> {
    let phone = ContactAddress::phone(phone)?;
    Ok(tx.all(
        "SELECT id, name, is_customer, is_supplier, is_staff, phone, credit_limit, balance, merged_into, made_at
         FROM ledger_contacts WHERE tenant_id = $1 AND merged_into IS NULL
           AND id IN (SELECT COALESCE(m.merged_into, m.id) FROM ledger_contacts m WHERE m.tenant_id = $1 AND m.phone = $2)
         ORDER BY made_at, id LIMIT 20",
        params![phone.as_str()],
        read,
    )?)
}

/// Whoever has an e-mail, also where a contact that was merged into them has it.
pub fn list_roots_by_email(tx: &mut Tx<'_>, email: &ContactAddress) -> Result<Vec<Contact>> {
    Ok(tx.all(
        "SELECT id, name, is_customer, is_supplier, is_staff, phone, credit_limit, balance, merged_into, made_at
         FROM ledger_contacts WHERE tenant_id = $1 AND merged_into IS NULL
           AND id IN (SELECT COALESCE(m.merged_into, m.id) FROM ledger_contacts m
                      JOIN ledger_contact_details d ON d.tenant_id = $1 AND d.contact_id = m.id
                      WHERE m.tenant_id = $1 AND d.email = $2)
         ORDER BY made_at, id LIMIT 20",
        params![email.as_str()],
        read,
    )?)
}

/// All that were not merged, the newest first.
pub fn list(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<Contact>> {
    let rows = tx.all(
        "SELECT id, name, is_customer, is_supplier, is_staff, phone, credit_limit, balance, merged_into, made_at
         FROM ledger_contacts WHERE tenant_id = $1 AND merged_into IS NULL AND (made_at, id) < ($2, $3)
         ORDER BY made_at DESC, id DESC LIMIT $4",
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |contact| Cursor { time: contact.made_at, id: contact.id.as_uuid() }))
}

/// A contact and all that were merged into it.
pub fn list_group(tx: &mut Tx<'_>, root: ContactId) -> Result<Vec<ContactId>> {
    let mut all = vec![root];
    all.extend(tx.all(
        "SELECT id FROM ledger_contacts WHERE tenant_id = $1 AND merged_into = $2 ORDER BY id",
        params![root],
        |row| row.get::<ContactId>(0),
    )?);
    Ok(all)
}

pub(super) fn read(row: &Row<'_>) -> munshi_store::Result<Contact> {
    Ok(Contact {
        id: row.get("id")?,
        name: row.get("name")?,
        roles: ContactRoles {
            customer: row.get("is_customer")?,
            supplier: row.get("is_supplier")?,
            staff: row.get("is_staff")?,
        },
        phone: row.get("phone")?,
        limit: row.get("credit_limit")?,
        balance: row.get("balance")?,
        merged_into: row.get("merged_into")?,
        made_at: row.get("made_at")?,
    })
}
