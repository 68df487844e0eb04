//! How names and addresses of persons stand in their rows: sealed by the person's key, and found by keyed hashes.
//!
//! What stands in plain words is from before they were sealed; it is found too, until all of it is sealed.

use munshi_store::{
    Error, JsonText, Result, Row, RowId, SealedBy, SealedCell, SealedColumn, Tx, is_sealed, params,
};
use munshi_types::PersonId;

use super::Person;
use super::person_keys::seal_by_person;
use crate::address::{ContactAddress, ContactAddressKind};
use crate::base64url;

pub(super) const NAME: SealedColumn = SealedColumn::new("persons", "name").forgotten_as("");
pub(super) const TAGS: SealedColumn = SealedColumn::new("persons", "tags").forgotten_as("[]");
pub(super) const SHOWN_ADDRESS: SealedColumn =
    SealedColumn::new("person_addresses", "shown").forgotten_as("");

/// What a hashed address begins with; `1` is this way of hashing it.
const HASHED: &str = "hashed:1:";

/// An address as statements look for it: by its hash, or as it stood before addresses were sealed.
#[derive(Clone, Debug)]
pub(crate) struct AddressKey {
    pub(crate) kind: &'static str,
    pub(crate) hashed: String,
    pub(crate) plain: String,
}

impl AddressKey {
    pub(crate) fn of(tx: &Tx<'_>, address: &ContactAddress) -> Result<Self> {
        let kind = address.kind().as_str();
        let hash = tx.hash("address", [kind, address.as_str()].join("\0").as_bytes())?;
        let hashed = format!("{HASHED}{}", base64url::encode(&hash));
        Ok(Self { kind, hashed, plain: address.as_str().to_owned() })
    }

    /// Where the readable form of this address is sealed.
    pub(super) fn cell(&self) -> SealedCell {
        address_cell(self.kind, &self.hashed)
    }
}

fn address_cell(kind: &str, hashed: &str) -> SealedCell {
    SHOWN_ADDRESS.cell(RowId::named(&[kind, hashed]))
}

/// The channel of a channel's own id, which may be read: `web` of `web:8812345`.
pub(super) fn channel_of(address: &ContactAddress) -> Option<&str> {
    let is_channel = address.kind() == ContactAddressKind::Channel;
    address.as_str().split_once(':').filter(|_| is_channel).map(|(channel, _)| channel)
}

/// What stands in a person's row in place of their name and tags.
pub(super) struct SealedPerson {
    pub(super) name: String,
    /// None for the empty name, which nobody looks for.
    pub(super) name_hash: Option<Vec<u8>>,
    pub(super) tags: JsonText,
}

pub(super) fn seal_person(tx: &mut Tx<'_>, person: &Person) -> Result<SealedPerson> {
    if person.name.is_empty() && person.tags.is_empty() {
        // Nothing to seal: no key is needed yet.
        return Ok(SealedPerson { name: String::new(), name_hash: None, tags: JsonText::of(&person.tags)? });
    }
    let by = seal_by_person(tx, person.id)?;
    let (name, name_hash) = seal_name(tx, by, person.id, &person.name)?;
    Ok(SealedPerson { name, name_hash, tags: tx.seal_json(by, TAGS.cell(person.id), &person.tags)? })
}

/// A name as it stands in its row, and what it is found by.
pub(super) fn seal_name(
    tx: &Tx<'_>,
    by: SealedBy,
    person: PersonId,
    name: &str,
) -> Result<(String, Option<Vec<u8>>)> {
    let sealed = tx.seal(by, NAME.cell(person), name)?.into_text();
    let hash = if name.is_empty() { None } else { Some(hash_name(tx, name)?) };
    Ok((sealed, hash))
}

pub(super) fn hash_name(tx: &Tx<'_>, name: &str) -> Result<Vec<u8>> {
    Ok(tx.hash("persons.name", name.as_bytes())?.to_vec())
}

/// Seals what stands plain in a person's row, their name or their tags or both.
pub(crate) fn seal_name_and_tags(
    tx: &mut Tx<'_>,
    person: PersonId,
    name: &str,
    tags: &JsonText,
) -> Result<()> {
    let by = seal_by_person(tx, person)?;
    let (name, hash) = match is_sealed(name) {
        true => (name.to_owned(), None),
        false => seal_name(tx, by, person, name)?,
    };
    let tags = match is_sealed(tags.as_str()) {
        true => tags.clone(),
        false => tx.seal_written(by, TAGS.cell(person), tags)?,
    };
    tx.execute(
        "UPDATE persons SET name = $3, name_hash = COALESCE($4, name_hash), tags = $5 WHERE tenant_id = $1 AND id = $2",
        params![person, name, hash, tags],
    )?;
    Ok(())
}

/// Seals what stands plain of how a person is reached.
pub(crate) fn seal_plain_addresses(tx: &mut Tx<'_>, person: PersonId) -> Result<()> {
    for address in list_plain_addresses(tx, person)? {
        seal_plain_address(tx, person, &address)?;
    }
    Ok(())
}

fn list_plain_addresses(tx: &mut Tx<'_>, person: PersonId) -> Result<Vec<ContactAddress>> {
    let odd = || Error::Decode("an address has an unknown kind".to_owned());
    tx.all(
        "SELECT kind, address FROM person_addresses WHERE tenant_id = $1 AND person_id = $2 AND shown IS NULL",
        params![person],
        |row| ContactAddress::from_stored(&row.get::<String>(0)?, row.get(1)?).ok_or_else(odd),
    )
}

/// Seals an address that stood plain. Where it was tied to somebody in its sealed form meanwhile, that holds.
fn seal_plain_address(tx: &mut Tx<'_>, person: PersonId, address: &ContactAddress) -> Result<()> {
    let (by, key) = (seal_by_person(tx, person)?, AddressKey::of(tx, address)?);
    let shown = tx.seal(by, key.cell(), address.as_str())?;
    let moved = tx.attempt(|tx| {
        tx.execute(
            "UPDATE person_addresses SET address = $4, shown = $5, channel = $6
             WHERE tenant_id = $1 AND kind = $2 AND address = $3 AND shown IS NULL",
            params![key.kind, key.plain, key.hashed, shown, channel_of(address)],
        )
    });
    match moved {
        Err(Error::Conflict { .. }) => tx.execute(
            "DELETE FROM person_addresses WHERE tenant_id = $1 AND kind = $2 AND address = $3 AND shown IS NULL",
            params![key.kind, key.plain],
        ),
        moved => moved,
    }
    .map(drop)
}

/// What was opened; none where its key was destroyed.
pub(super) fn unless_forgotten(opened: Result<String>) -> Result<Option<String>> {
    match opened {
        Err(Error::Forgotten(_)) => Ok(None),
        opened => opened.map(Some),
    }
}

/// An address as it stands in its row.
pub(super) struct StoredAddress {
    kind: String,
    /// What it is found by; of a row from before, the address itself.
    address: String,
    shown: Option<String>,
}

impl StoredAddress {
    /// Of a row that has `kind`, `address` and `shown`; none where it has no address.
    pub(super) fn read(row: &Row<'_>) -> Result<Option<Self>> {
        let Some(kind) = row.get("kind")? else { return Ok(None) };
        Ok(Some(Self { kind, address: row.get("address")?, shown: row.get("shown")? }))
    }

    /// Its kind, what it is found by, and its sealed form.
    pub(super) fn columns(&self) -> (&str, &str, Option<&str>) {
        (&self.kind, &self.address, self.shown.as_deref())
    }

    /// The address where it stands in plain words, as in a row from before.
    pub(super) fn open_plain(&self) -> Result<Option<ContactAddress>> {
        if self.shown.is_some() { Ok(None) } else { self.open(None) }
    }

    /// The value that is sealed in it, and where; none in a row from before.
    pub(super) fn sealed(&self) -> Option<(SealedCell, &str)> {
        let shown = self.shown.as_deref()?;
        Some((address_cell(&self.kind, &self.address), shown))
    }

    /// The address, from what [`sealed`](Self::sealed) was opened as; none where whose it was is forgotten.
    pub(super) fn open(&self, shown: Option<Result<String>>) -> Result<Option<ContactAddress>> {
        let text = match shown {
            None => self.address.clone(),
            Some(shown) => match unless_forgotten(shown)? {
                None => return Ok(None),
                Some(shown) => shown,
            },
        };
        let odd = || Error::Decode("an address has an unknown kind".to_owned());
        ContactAddress::from_stored(&self.kind, text).ok_or_else(odd).map(Some)
    }
}

/// Addresses from their rows, with the keys of all of them fetched together.
pub(super) fn open_addresses(tx: &Tx<'_>, stored: &[StoredAddress]) -> Result<Vec<ContactAddress>> {
    let values: Vec<_> = stored.iter().filter_map(StoredAddress::sealed).collect();
    let mut opened = tx.open_all(&values)?.into_iter();
    let mut addresses = Vec::with_capacity(stored.len());
    for address in stored {
        let shown = if address.sealed().is_some() { opened.next() } else { None };
        addresses.extend(address.open(shown)?);
    }
    addresses.sort();
    Ok(addresses)
}
