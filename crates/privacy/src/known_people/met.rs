//! Those a tenant has met, opened once for as long as their rows are the same.

use std::collections::HashMap;
use std::sync::Arc;

use munshi_identity::persons::{self, PersonContacts};
use munshi_identity::{ContactAddress, ContactAddressKind};
use munshi_store::{Result, Tx};
use munshi_types::PersonId;
use sha2::{Digest, Sha256};

use crate::kind::PiiKind;
use crate::known_entities::ProtectedEntity;

/// A channel's own id for somebody that is shorter could be any number.
const SHORTEST_ID: usize = 6;

/// What an entity or a list of them is known again by.
pub(super) type EntityPrint = [u8; 32];

/// Those a tenant has met, the first met first.
#[derive(Debug, Default)]
pub(super) struct MetPeople {
    version: PeopleVersion,
    people: Vec<Arc<MetPerson>>,
    by_id: HashMap<PersonId, Arc<MetPerson>>,
    print: EntityPrint,
}

/// After how many changes people were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PeopleVersion {
    /// Of their rows.
    changes: i64,
    /// Of the keys that open them: no row changes with these.
    destructions: u64,
}

/// Somebody, and what they were opened from.
#[derive(Debug)]
pub(super) struct MetPerson {
    id: PersonId,
    sealed: [u8; 32],
    pub(super) entity: ProtectedEntity,
    pub(super) print: EntityPrint,
}

impl PeopleVersion {
    pub(super) fn load(tx: &mut Tx<'_>) -> Result<Self> {
        // Before anything is opened: of a key that is destroyed meanwhile the next version tells.
        let destructions = tx.keyring()?.count_destructions(tx.tenant());
        Ok(Self { changes: persons::load_change_number(tx)?, destructions })
    }
}

impl MetPerson {
    pub(super) fn new(id: PersonId, sealed: [u8; 32], entity: ProtectedEntity) -> Self {
        let print = fingerprint(&entity);
        Self { id, sealed, entity, print }
    }
}

impl MetPeople {
    /// Opens those whose rows are not those of the people read before. Once a key was destroyed, all are opened anew: it may be
    /// anybody's.
    pub(super) fn read(tx: &mut Tx<'_>, version: PeopleVersion, before: Option<&Self>) -> Result<Self> {
        let before = before.filter(|met| met.version.destructions == version.destructions);
        let (mut known, mut sealed) = (Vec::new(), Vec::new());
        for row in persons::list_sealed_contacts(tx)? {
            let print = row.fingerprint();
            let same = before.and_then(|met| met.by_id.get(&row.id())).filter(|met| met.sealed == print);
            known.push((print, same.cloned()));
            if same.is_none() {
                sealed.push(row);
            }
        }
        let mut opened = persons::open_contacts(tx, &sealed)?.into_iter();
        let mut open = |print| {
            let new = opened.next()?;
            Some(Arc::new(MetPerson::new(new.id, print, build_entity(new))))
        };
        let people = known.into_iter().filter_map(|(print, same)| same.or_else(|| open(print)));
        Ok(Self::new(version, people.collect()))
    }

    pub(super) fn new(version: PeopleVersion, people: Vec<Arc<MetPerson>>) -> Self {
        let by_id = people.iter().map(|person| (person.id, person.clone())).collect();
        let print = combine(people.iter().map(|person| &person.print));
        Self { version, people, by_id, print }
    }

    pub(super) fn version(&self) -> PeopleVersion {
        self.version
    }

    pub(super) fn people(&self) -> &[Arc<MetPerson>] {
        &self.people
    }

    pub(super) fn has(&self, person: PersonId) -> bool {
        self.by_id.contains_key(&person)
    }

    pub(super) fn print(&self) -> EntityPrint {
        self.print
    }
}

pub(super) fn build_entity(reached: PersonContacts) -> ProtectedEntity {
    let mut entity = ProtectedEntity { names: vec![reached.name], values: Vec::new() };
    for address in &reached.addresses {
        match address.kind() {
            ContactAddressKind::Phone => entity.values.push((PiiKind::Phone, address.as_str().to_owned())),
            ContactAddressKind::Email => entity.values.push((PiiKind::Email, address.as_str().to_owned())),
            // A handle is a name somebody goes by, and may be an everyday word just as one.
            ContactAddressKind::Handle => entity.names.push(address.as_str().to_owned()),
            ContactAddressKind::Channel => entity.values.extend(channel_id(address.as_str())),
        }
    }
    entity.names.retain(|name| !name.trim().is_empty());
    entity
}

/// What a channel calls somebody: often their phone.
fn channel_id(address: &str) -> Option<(PiiKind, String)> {
    let (_, id) = address.split_once(':')?;
    let digits = id.strip_prefix('+').unwrap_or(id);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && digits.len() >= 10 && ContactAddress::phone(id).is_ok() {
        return Some((PiiKind::Phone, id.to_owned()));
    }
    if id.contains('@') && ContactAddress::email(id).is_ok() {
        return Some((PiiKind::Email, id.to_owned()));
    }
    (id.len() >= SHORTEST_ID).then(|| (PiiKind::Account, id.to_owned()))
}

/// Lengths stand before texts, so that no two entities share one.
pub(super) fn fingerprint(entity: &ProtectedEntity) -> EntityPrint {
    let mut hash = Sha256::new();
    let add = |hash: &mut Sha256, text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    hash.update((entity.names.len() as u64).to_le_bytes());
    entity.names.iter().for_each(|name| add(&mut hash, name));
    for (kind, value) in &entity.values {
        hash.update([*kind as u8]);
        add(&mut hash, value);
    }
    hash.finalize().into()
}

/// The print of a list of entities by theirs.
pub(super) fn combine<'p>(prints: impl IntoIterator<Item = &'p EntityPrint>) -> EntityPrint {
    let mut hash = Sha256::new();
    prints.into_iter().for_each(|print| hash.update(print));
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channels_id_is_a_phone_where_it_is_one() {
        let phone = |text: &str| Some((PiiKind::Phone, text.to_owned()));
        assert_eq!(channel_id("whatsapp:919812345678"), phone("919812345678"));
        assert_eq!(channel_id("sms:+14155550100"), phone("+14155550100"));
        assert_eq!(channel_id("telegram:88123456"), Some((PiiKind::Account, "88123456".to_owned())));
        assert_eq!(channel_id("mail:a@b.example"), Some((PiiKind::Email, "a@b.example".to_owned())));
        assert_eq!(channel_id("telegram:12"), None);
    }
}
