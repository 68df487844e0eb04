//! The people as the store keeps them.

mod address_hashes;
mod administration;
mod contacts;
mod erase;
mod lists;
mod matching;
mod merge;
mod operator;
mod person_keys;
mod sealed_contacts;

pub use address_hashes::{AddressHash, find_seal_by_address, hash_address, list_address_hashes};
pub use administration::{clear_browsers, save};
pub use contacts::{
    MOST_REACHED, PersonContacts, SealedContacts, find_contacts, list_contacts, list_sealed_contacts,
    load_change_number, open_contacts,
};
pub use erase::{
    PERSONAL_DATA, check_not_forgotten, detach, find_head, is_forgotten, list_group, lock_group,
};
pub use lists::{PersonFilter, list, list_by_name, list_members};
pub use matching::{PersonMatch, find_or_add, lock_by_address, lock_living};
pub use merge::{PersonMerge, merge};
pub(crate) use operator::sync_operator_role;
pub use operator::{
    find_of_operator, find_operator, find_or_add_operator, is_known_operator, parse_operator_address,
};
pub use person_keys::{
    SEALING, find_or_assign_key, find_seal, list_keys, list_newest_keys, restore_key, seal_by_owner,
    seal_by_person,
};
pub(crate) use sealed_contacts::{AddressKey, seal_name_and_tags, seal_plain_addresses};

use self::sealed_contacts::{NAME, StoredAddress, TAGS, channel_of, open_addresses, seal_person};
use munshi_store::{Error, JsonText, Result, Row, Tx, params};
use munshi_types::{IdGenerator, Language, PersonId, ScopeGlob, Timestamp};
use serde::Serialize;

use crate::address::{ContactAddress, ContactAddressKind, VISITORS};
use crate::principal::{Principal, PrincipalStanding};
use crate::role::Role;

/// More steps than merges can leave.
const LONGEST_WAY: usize = 16;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Person {
    pub id: PersonId,
    /// Empty until somebody says it.
    pub name: String,
    /// None for those who don't work here.
    pub role: Option<Role>,
    pub opened: Vec<ScopeGlob>,
    pub closed: Vec<ScopeGlob>,
    /// The audiences they belong to.
    pub tags: Vec<String>,
    pub language: Option<Language>,
    pub made_at: Timestamp,
    /// Since then they can do nothing here.
    pub left_at: Option<Timestamp>,
    /// Has proved no address yet: known again by a browser, and nothing more.
    pub visitor: bool,
    /// Whom they turned out to be; this row does nothing more than lead there. See [`living`].
    pub merged_into: Option<PersonId>,
}

impl Person {
    /// Somebody new, with nothing but a name.
    pub fn new(ids: &IdGenerator, name: impl Into<String>, now: Timestamp) -> Self {
        Self {
            id: ids.next(),
            name: name.into(),
            role: None,
            opened: Vec::new(),
            closed: Vec::new(),
            tags: Vec::new(),
            language: None,
            made_at: now,
            left_at: None,
            visitor: false,
            merged_into: None,
        }
    }

    /// The person as one for whom something is done. Who has left is nobody, and so is a row that leads to another; a
    /// visitor is anonymous, though it is known which.
    pub fn principal(&self, tx: &Tx<'_>) -> Principal {
        let tenant = tx.tenant();
        if self.left_at.is_some() || self.merged_into.is_some() {
            return Principal::anonymous(tenant);
        }
        let other = if self.visitor { PrincipalStanding::Anonymous } else { PrincipalStanding::Known };
        let standing = self.role.map_or(other, PrincipalStanding::Member);
        Principal {
            tenant,
            person: Some(self.id),
            standing,
            opened: self.opened.clone(),
            closed: self.closed.clone(),
        }
    }
}

/// Adds or replaces what is known of a person. Whether they are a visitor follows from their addresses, and whom they
/// turned out to be from [`merge`]: neither is replaced. One who has become another since, or was forgotten, is refused. Who is given a role
/// is known no longer by browsers that spoke for them before: what a page's token proves is too little for one who works
/// here, and somebody else may have brought it.
pub fn upsert(tx: &mut Tx<'_>, person: &Person) -> Result<()> {
    if person.role.is_some() {
        // Before their addresses, as a merge does: neither waits for the other, and none brings a browser in between.
        let known = lock_living(tx, person.id)?;
        if known.is_some_and(|known| known.id == person.id && known.role.is_none()) {
            forget_browsers(tx, person.id)?;
        }
    }
    let sealed = seal_person(tx, person)?;
    let rows = tx.execute(
        "INSERT INTO persons
           (tenant_id, id, name, role, opened, closed, tags, language, made_at, left_at, visitor, name_hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, role = excluded.role,
           opened = excluded.opened, closed = excluded.closed, tags = excluded.tags,
           language = excluded.language, left_at = excluded.left_at, name_hash = excluded.name_hash
           WHERE persons.merged_into IS NULL AND persons.forgotten_at IS NULL",
        params![
            person.id,
            sealed.name,
            person.role.map(Role::as_str),
            JsonText::of(&person.opened)?,
            JsonText::of(&person.closed)?,
            sealed.tags,
            person.language.map(|language| language.code().to_owned()),
            person.made_at,
            person.left_at,
            person.visitor,
            sealed.name_hash
        ],
    )?;
    if rows == 0 {
        let id = person.id;
        let what = format!("{id} was forgotten or merged into another person: look them up again");
        return Err(Error::Refused(what));
    }
    Ok(())
}

/// Ties an address that was proved to a person, or to whom they have become. One that is somebody else's is a
/// [`Error::Conflict`].
pub fn add_address(tx: &mut Tx<'_>, person: PersonId, address: &ContactAddress) -> Result<()> {
    let Some(holder) = lock_living(tx, person)? else {
        check_not_forgotten(tx, person)?;
        return Err(Error::Refused(format!("person {person} not found, so no address was added")));
    };
    match find_by_address(tx, address)? {
        Some(known) if known.id == holder.id => Ok(()),
        // The row of somebody from before is under another key than the one that is written here.
        Some(_) => Err(Error::Conflict { constraint: "person_addresses".to_owned() }),
        None => attach_address(tx, &holder, address),
    }
}

/// Takes an address from a person: whoever has it is nobody in particular from then on.
pub fn remove_address(tx: &mut Tx<'_>, person: PersonId, address: &ContactAddress) -> Result<()> {
    let key = AddressKey::of(tx, address)?;
    tx.execute(
        "DELETE FROM person_addresses
         WHERE tenant_id = $1 AND kind = $2 AND address IN ($3, $4) AND person_id = $5",
        params![key.kind, key.hashed, key.plain, person],
    )?;
    Ok(())
}

/// Removes every browser address of a person: whoever holds such a cookie is a new visitor from then on. Returns how many
/// there were.
pub(crate) fn forget_browsers(tx: &mut Tx<'_>, person: PersonId) -> Result<u64> {
    tx.execute(
        "DELETE FROM person_addresses
         WHERE tenant_id = $1 AND person_id = $2 AND kind = $3 AND (channel = $4 OR address LIKE $5)",
        params![person, ContactAddressKind::Channel.as_str(), VISITORS, format!("{VISITORS}:%")],
    )
}

/// Members who are recognised by a browser. A role given today removes browser addresses;
/// these were given theirs before. An owner known by nothing but a browser made the tenant on the start page, and keeps it.
pub fn members_known_by_browser(tx: &mut Tx<'_>) -> Result<Vec<Person>> {
    tx.all(
        "SELECT id, name, role, opened, closed, tags, language, made_at, left_at, visitor, merged_into FROM persons
         WHERE tenant_id = $1 AND role IS NOT NULL AND left_at IS NULL AND merged_into IS NULL
           AND EXISTS (SELECT 1 FROM person_addresses a WHERE a.tenant_id = $1 AND a.person_id = persons.id
             AND a.kind = $2 AND (COALESCE(a.channel, '') = $3 OR a.address LIKE $4))
           AND (role <> 'owner' OR EXISTS (SELECT 1 FROM person_addresses a
             WHERE a.tenant_id = $1 AND a.person_id = persons.id
               AND NOT (a.kind = $2 AND (COALESCE(a.channel, '') = $3 OR a.address LIKE $4))))
         ORDER BY made_at, id LIMIT 1000",
        params![ContactAddressKind::Channel.as_str(), VISITORS, format!("{VISITORS}:%")],
        read,
    )
}

/// The holder is held, so that no merge comes between.
fn attach_address(tx: &mut Tx<'_>, holder: &Person, address: &ContactAddress) -> Result<()> {
    let (by, key) = (seal_by_person(tx, holder.id)?, AddressKey::of(tx, address)?);
    let shown = tx.seal(by, key.cell(), address.as_str())?;
    tx.execute(
        "INSERT INTO person_addresses (tenant_id, kind, address, person_id, shown, channel)
         VALUES ($1, $2, $3, $4, $5, $6)",
        params![key.kind, key.hashed, holder.id, shown, channel_of(address)],
    )?;
    if holder.visitor && !address.is_visitor() {
        tx.execute(
            "UPDATE persons SET visitor = FALSE WHERE tenant_id = $1 AND id = $2",
            params![holder.id],
        )?;
    }
    Ok(())
}

pub fn find(tx: &mut Tx<'_>, id: PersonId) -> Result<Option<Person>> {
    tx.optional(
        "SELECT id, name, role, opened, closed, tags, language, made_at, left_at, visitor, merged_into FROM persons
         WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )
}

/// Follows an old id to the person it has become; their own id leads to themself. Who is forgotten is nobody from the moment that
/// it was asked for.
pub fn find_living(tx: &mut Tx<'_>, id: PersonId) -> Result<Option<Person>> {
    follow(tx, id, |tx, id| {
        tx.optional(
            "SELECT id, name, role, opened, closed, tags, language, made_at, left_at, visitor, merged_into FROM persons
             WHERE tenant_id = $1 AND id = $2 AND forgotten_at IS NULL",
            params![id],
            read,
        )
    })
}

/// A merge makes every old row lead to its end in one step, so a second step is seen only while one is under way.
fn follow(
    tx: &mut Tx<'_>,
    id: PersonId,
    look: impl Fn(&mut Tx<'_>, PersonId) -> Result<Option<Person>>,
) -> Result<Option<Person>> {
    let mut at = id;
    for _ in 0..LONGEST_WAY {
        match look(tx, at)? {
            Some(Person { merged_into: Some(next), .. }) => at = next,
            found => return Ok(found),
        }
    }
    Err(Error::Decode(format!("person {id} is merged in a cycle")))
}

/// Whose address it is: somebody living, since a merge takes the addresses along.
pub fn find_by_address(tx: &mut Tx<'_>, address: &ContactAddress) -> Result<Option<Person>> {
    let key = AddressKey::of(tx, address)?;
    tx.optional(
        "SELECT p.id, p.name, p.role, p.opened, p.closed, p.tags, p.language, p.made_at, p.left_at,
           p.visitor, p.merged_into
         FROM person_addresses a JOIN persons p ON p.tenant_id = $1 AND p.id = a.person_id
         WHERE a.tenant_id = $1 AND a.kind = $2 AND a.address IN ($3, $4) AND p.forgotten_at IS NULL",
        params![key.kind, key.hashed, key.plain],
        read,
    )
}

/// How a person is reached.
pub fn list_addresses(tx: &mut Tx<'_>, person: PersonId) -> Result<Vec<ContactAddress>> {
    let found = tx.all(
        "SELECT kind, address, shown FROM person_addresses WHERE tenant_id = $1 AND person_id = $2",
        params![person],
        StoredAddress::read,
    )?;
    open_addresses(tx, &found.into_iter().flatten().collect::<Vec<_>>())
}

/// Whether this is the one owner there is. The owners are held until the transaction ends: of two who take one away
/// at the same moment, the second sees what the first did.
pub fn is_last_owner(tx: &mut Tx<'_>, person: PersonId) -> Result<bool> {
    let owners: Vec<PersonId> = tx.all(
        (
            "SELECT id FROM persons WHERE tenant_id = $1 AND role = 'owner' AND left_at IS NULL ORDER BY id",
            "SELECT id FROM persons WHERE tenant_id = $1 AND role = 'owner' AND left_at IS NULL ORDER BY id
             FOR UPDATE",
        ),
        &[],
        |row| row.get(0),
    )?;
    Ok(owners == [person])
}

fn read(row: &Row<'_>) -> Result<Person> {
    let person = read_unsealed(row)?;
    Ok(Person {
        name: row.get_sealed("name", NAME.cell(person.id))?,
        tags: row.get_sealed::<JsonText>("tags", TAGS.cell(person.id))?.read()?,
        ..person
    })
}

/// A person without what is sealed: no name, no tags.
fn read_unsealed(row: &Row<'_>) -> Result<Person> {
    let unreadable = |what: String| Error::Decode(what);
    let role = row.get::<Option<String>>("role")?;
    let language = row.get::<Option<String>>("language")?;
    Ok(Person {
        id: row.get("id")?,
        name: String::new(),
        role: role.map(|text| text.parse()).transpose().map_err(|error| unreadable(format!("{error}")))?,
        opened: row.get::<JsonText>("opened")?.read()?,
        closed: row.get::<JsonText>("closed")?.read()?,
        tags: Vec::new(),
        language: language
            .map(|text| text.parse())
            .transpose()
            .map_err(|error| unreadable(format!("{error}")))?,
        made_at: row.get("made_at")?,
        left_at: row.get("left_at")?,
        visitor: row.get("visitor")?,
        merged_into: row.get("merged_into")?,
    })
}
