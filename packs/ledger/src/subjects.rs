//! Contacts as people who can be forgotten.

use munshi_identity::{ContactAddress, ContactAddressKind};
use munshi_pack::{KeptData, RecordData, SubjectRecord, SubjectRecords};
use munshi_store::{Result, Tx};
use munshi_types::{Id, Money, Timestamp};
use uuid::Uuid;

use crate::books::contacts::{self, Contact};
use crate::books::{ContactId, NameMatch, details};
use crate::error::Error;
use crate::subject_data::DATA;

const KEPT: &[KeptData] = &[
    KeptData {
        what: "amounts, dates and payment references of a contact's entries, and what is usual for them, which is worked out from these",
        why: "books are not rewritten: they stand under a pseudonym",
    },
    KeptData {
        what: "bills and scans as they are, and links to them until these end",
        why: "tax law asks for bills",
    },
];

pub(crate) struct ContactRecords;

impl SubjectRecords for ContactRecords {
    fn name(&self) -> &'static str {
        "contacts"
    }

    fn find_by_text(&self, tx: &mut Tx<'_>, text: &str) -> Result<Vec<SubjectRecord>> {
        let found = match text.parse::<Uuid>() {
            Ok(id) => {
                contacts::find_row(tx, ContactId::from_uuid(id)).map(|row| (row.into_iter().collect(), true))
            }
            Err(_) if ContactAddress::phone(text).is_ok() => {
                contacts::list_roots_by_phone(tx, text).map(|found| (found, true))
            }
            Err(_) if ContactAddress::email(text).is_ok() => {
                list_by_email(tx, text).map(|found| (found, true))
            }
            Err(_) => contacts::find(tx, text).map(list_matches),
        };
        // A text that can't be a name is nobody's.
        match found {
            Ok((found, is_exact)) => {
                found.into_iter().map(|contact| describe(tx, &contact, is_exact)).collect()
            }
            Err(Error::Store(error)) => Err(error),
            Err(_) => Ok(Vec::new()),
        }
    }

    fn find_by_addresses(&self, tx: &mut Tx<'_>, addresses: &[ContactAddress]) -> Result<Vec<SubjectRecord>> {
        let mut all: Vec<SubjectRecord> = Vec::new();
        for address in addresses {
            let found = match address.kind() {
                ContactAddressKind::Email => contacts::list_roots_by_email(tx, address),
                _ if ContactAddress::phone(address.as_str()).is_ok() => {
                    contacts::list_roots_by_phone(tx, address.as_str())
                }
                _ => continue,
            };
            for contact in found.map_err(into_store)? {
                let record = describe(tx, &contact, true)?;
                if all.iter().all(|known| known.ids != record.ids) {
                    all.push(record);
                }
            }
        }
        Ok(all)
    }

    fn detach(&self, tx: &mut Tx<'_>, record: Uuid, now: Timestamp) -> Result<u64> {
        contacts::detach(tx, ContactId::from_uuid(record), now).map_err(into_store)
    }

    fn erase(&self, tx: &mut Tx<'_>, record: Uuid, now: Timestamp) -> Result<u64> {
        contacts::forget(tx, ContactId::from_uuid(record), now).map_err(into_store)
    }

    fn data(&self) -> &'static [RecordData] {
        DATA
    }

    fn kept(&self) -> &'static [KeptData] {
        KEPT
    }
}

/// Those that a name may mean, and whether it surely means them.
fn list_matches(found: NameMatch<Contact>) -> (Vec<Contact>, bool) {
    match found {
        NameMatch::Nobody => (Vec::new(), true),
        NameMatch::One(contact) => (vec![contact], true),
        NameMatch::Choices(contacts) => (contacts, false),
    }
}

/// A contact with all that were merged into it. What they owe stands with the one that the others lead to.
fn describe(tx: &mut Tx<'_>, contact: &Contact, is_exact: bool) -> Result<SubjectRecord> {
    let root = contacts::get(tx, contact.id).map_err(into_store)?;
    let group = contacts::list_group(tx, root.id).map_err(into_store)?;
    let addresses = list_addresses(tx, &group)?;
    let ids = group.into_iter().map(Id::as_uuid).collect();
    let open_matter = match root.balance {
        Money::ZERO => None,
        owed if owed.is_negative() => {
            let amount = owed.negated().map_err(|error| munshi_store::Error::Decode(error.to_string()))?;
            Some(format!("{} is owed ₹{amount}", root.name))
        }
        owing => Some(format!("{} owes ₹{owing}", root.name)),
    };
    Ok(SubjectRecord { ids, name: root.name, addresses, is_exact, open_matter })
}

fn list_by_email(tx: &mut Tx<'_>, email: &str) -> Result<Vec<Contact>, Error> {
    contacts::list_roots_by_email(tx, &ContactAddress::email(email)?)
}

/// The phones and e-mails of a contact and of those that were merged into it.
fn list_addresses(tx: &mut Tx<'_>, group: &[ContactId]) -> Result<Vec<ContactAddress>> {
    let mut addresses = Vec::new();
    for id in group {
        let phone = contacts::find_row(tx, *id).map_err(into_store)?.and_then(|contact| contact.phone);
        let phone = phone.and_then(|phone| ContactAddress::phone(&phone).ok());
        addresses.extend(phone.filter(|phone| !addresses.contains(phone)));
        let email = details::get_own(tx, *id).map_err(into_store)?.email;
        let email = email.and_then(|email| ContactAddress::email(&email).ok());
        addresses.extend(email.filter(|email| !addresses.contains(email)));
    }
    Ok(addresses)
}

pub(crate) fn into_store(error: Error) -> munshi_store::Error {
    match error {
        Error::Store(error) => error,
        other => munshi_store::Error::Refused(other.to_string()),
    }
}
