//! Somebody who writes to us: found by their addresses, or added.

use munshi_store::{Error, Result, Tx, params};
use munshi_types::{IdGenerator, PersonId, Timestamp, is_invisible};

use super::person_keys::seal_by_person;
use super::sealed_contacts::{AddressKey, seal_name};
use super::{Person, attach_address, find_by_address, follow, read, upsert};
use crate::address::ContactAddress;

/// Longer names are cut: they come from outside.
const LONGEST_NAME: usize = 200;

/// How often a neighbour may be quicker before something else must be wrong.
const TRIES: usize = 4;

/// Whom an envelope is from.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonMatch {
    /// Alive, and held until the transaction ends: nobody merges them away meanwhile.
    pub person: Person,
    pub is_new: bool,
    /// Of the given addresses, those that are somebody else's. Whether the two are one is for the caller to say.
    pub others: Vec<(ContactAddress, PersonId)>,
}

/// The person who has these addresses, as the channel proved them; somebody new where nobody has any. The first address
/// that is known decides, and those nobody has become theirs. Without an address it is a new visitor each time.
///
/// Two messages from a new number at once make one person, whichever comes first.
pub fn find_or_add(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    addresses: &[ContactAddress],
    name: &str,
    now: Timestamp,
) -> Result<PersonMatch> {
    let name = clean_name(name);
    for _ in 0..TRIES {
        let outcome = match find_known(tx, addresses)? {
            Some(person) if addresses.len() == 1 && (name.is_empty() || !person.name.is_empty()) => {
                return Ok(PersonMatch { person, is_new: false, others: Vec::new() });
            }
            Some(person) => tx.attempt(|tx| update_known(tx, person, addresses, &name)),
            None => tx.attempt(|tx| add(tx, ids, addresses, &name, now)),
        };
        match outcome {
            // A neighbour tied one of them first; it has committed, so the next look sees whose it is.
            Err(Error::Conflict { .. }) => {}
            outcome => return outcome,
        }
    }
    Err(Error::Busy("the same addresses are being added concurrently: try again".to_owned()))
}

/// The living person an id leads to, held until the transaction ends: a merge waits for it, and so does whoever forgets them.
pub fn lock_living(tx: &mut Tx<'_>, id: PersonId) -> Result<Option<Person>> {
    follow(tx, id, |tx, id| {
        tx.optional(
            (
                "SELECT id, name, role, opened, closed, tags, language, made_at, left_at, visitor, merged_into
                 FROM persons WHERE tenant_id = $1 AND id = $2 AND forgotten_at IS NULL",
                "SELECT id, name, role, opened, closed, tags, language, made_at, left_at, visitor, merged_into
                 FROM persons WHERE tenant_id = $1 AND id = $2 AND forgotten_at IS NULL FOR KEY SHARE",
            ),
            params![id],
            read,
        )
    })
}

/// Whose address it is, held until the transaction ends, as [`lock_living`] holds them.
pub fn lock_by_address(tx: &mut Tx<'_>, address: &ContactAddress) -> Result<Option<Person>> {
    find_known(tx, std::slice::from_ref(address))
}

fn find_known(tx: &mut Tx<'_>, addresses: &[ContactAddress]) -> Result<Option<Person>> {
    for address in addresses {
        let key = AddressKey::of(tx, address)?;
        let found = tx.optional(
            (
                "SELECT p.id, p.name, p.role, p.opened, p.closed, p.tags, p.language, p.made_at, p.left_at,
                   p.visitor, p.merged_into
                 FROM person_addresses a JOIN persons p ON p.tenant_id = $1 AND p.id = a.person_id
                 WHERE a.tenant_id = $1 AND a.kind = $2 AND a.address IN ($3, $4) AND p.forgotten_at IS NULL",
                "SELECT p.id, p.name, p.role, p.opened, p.closed, p.tags, p.language, p.made_at, p.left_at,
                   p.visitor, p.merged_into
                 FROM person_addresses a JOIN persons p ON p.tenant_id = $1 AND p.id = a.person_id
                 WHERE a.tenant_id = $1 AND a.kind = $2 AND a.address IN ($3, $4) AND p.forgotten_at IS NULL
                 FOR KEY SHARE OF p",
            ),
            params![key.kind, key.hashed, key.plain],
            read,
        )?;
        match found {
            // Merged while this waited for them.
            Some(Person { merged_into: Some(next), .. }) => return lock_living(tx, next),
            Some(person) => return Ok(Some(person)),
            None => {}
        }
    }
    Ok(None)
}

fn update_known(
    tx: &mut Tx<'_>,
    mut person: Person,
    addresses: &[ContactAddress],
    name: &str,
) -> Result<PersonMatch> {
    let mut others = Vec::new();
    for address in sort_unique(addresses) {
        match find_by_address(tx, address)? {
            Some(holder) if holder.id != person.id => others.push((address.clone(), holder.id)),
            Some(_) => {}
            None => {
                attach_address(tx, &person, address)?;
                person.visitor &= address.is_visitor();
            }
        }
    }
    if person.name.is_empty() && !name.is_empty() {
        let by = seal_by_person(tx, person.id)?;
        let (sealed, hash) = seal_name(tx, by, person.id, name)?;
        tx.execute(
            "UPDATE persons SET name = $3, name_hash = $4 WHERE tenant_id = $1 AND id = $2 AND name = ''",
            params![person.id, sealed, hash],
        )?;
        name.clone_into(&mut person.name);
    }
    Ok(PersonMatch { person, is_new: false, others })
}

fn add(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    addresses: &[ContactAddress],
    name: &str,
    now: Timestamp,
) -> Result<PersonMatch> {
    let visitor = addresses.iter().all(ContactAddress::is_visitor);
    let person = Person { visitor, ..Person::new(ids, name, now) };
    upsert(tx, &person)?;
    for address in sort_unique(addresses) {
        attach_address(tx, &person, address)?;
    }
    Ok(PersonMatch { person, is_new: true, others: Vec::new() })
}

/// Each once, and always in the same order, so that two who add the same wait for each other one way only.
fn sort_unique(addresses: &[ContactAddress]) -> Vec<&ContactAddress> {
    let mut sorted: Vec<&ContactAddress> = addresses.iter().collect();
    sorted.sort();
    sorted.dedup();
    sorted
}

/// A name from outside, without what hides and not endless.
fn clean_name(name: &str) -> String {
    let seen: String = name.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let seen: String = seen.trim().chars().filter(|c| !is_invisible(*c)).take(LONGEST_NAME).collect();
    seen.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_outside_is_what_it_looks_like() {
        assert_eq!(clean_name("  Raju\nराजू "), "Raju राजू");
        assert_eq!(clean_name("As\u{202e}ha\u{200b}"), "Asha");
        assert_eq!(clean_name(&"a".repeat(300)).len(), 200);
        assert_eq!(clean_name("\u{200b} \u{feff}"), "");
    }
}
