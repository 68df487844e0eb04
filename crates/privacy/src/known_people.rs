//! Whom a tenant's calls are about: the people of its own and those its packs know, ready to be found.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use munshi_identity::persons::{self, PersonContacts};
use munshi_identity::{ContactAddress, ContactAddressKind};
use munshi_store::{Result, Tx};
use munshi_types::{Id, PersonId, TenantId};
use sha2::{Digest, Sha256};

use super::kind::PiiKind;
use super::known_entities::{KnownEntities, ProtectedEntity};

/// Lists kept ready at most, whoever's they are.
const MOST_LISTS: usize = 512;
/// Entities in all of them together: a list of a thousand takes some megabytes.
const MOST_ENTITIES: usize = 100_000;

/// A channel's own id for somebody that is shorter could be any number.
const SHORTEST_ID: usize = 6;

/// Whom a call must hide: those the tenant has met, and whoever else it is about.
#[derive(Clone, Debug, Default)]
pub struct ProtectedPeople {
    met: Arc<Met>,
    pub others: Vec<ProtectedEntity>,
}

/// Those a tenant has met, as they were after so many changes.
#[derive(Debug, Default)]
struct Met {
    changes: i64,
    ids: HashSet<PersonId>,
    entities: Vec<ProtectedEntity>,
    print: [u8; 32],
}

impl Met {
    fn read(tx: &mut Tx<'_>, changes: i64) -> Result<Self> {
        let listed = persons::list_contacts(tx)?;
        let ids = listed.iter().map(|reached| reached.id).collect();
        let entities: Vec<ProtectedEntity> = listed.into_iter().map(build_entity).collect();
        let print = fingerprint(tx.tenant(), &entities);
        Ok(Self { changes, ids, entities, print })
    }
}

fn build_entity(reached: PersonContacts) -> ProtectedEntity {
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

/// Lists that were made ready. Reading one takes long, and making it ready longer (11 ms for a thousand contacts), so
/// both are kept until the people change: by the count of their changes and by what they are, and not by when they were
/// read, so that nobody added a moment ago is missed.
#[derive(Default)]
pub struct KnownPeopleCache {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    met: Lists<TenantId, Met>,
    ready: Lists<[u8; 32], KnownEntities>,
}

/// So many lists, and so many entities in all of them together; the one longest not asked for goes first.
struct Lists<K, T> {
    lists: HashMap<K, List<T>>,
    entities: usize,
    /// Counts questions.
    asked: u64,
}

struct List<T> {
    list: Arc<T>,
    entities: usize,
    asked: u64,
}

impl KnownPeopleCache {
    /// Those the tenant has met and, whoever they are, the person who writes.
    pub fn load_met(&self, tx: &mut Tx<'_>, person: Option<PersonId>) -> Result<ProtectedPeople> {
        let (tenant, changes) = (tx.tenant(), persons::load_change_number(tx)?);
        let kept = self.with_lock(|kept| kept.met.find(tenant)).filter(|met| met.changes == changes);
        let met = match kept {
            Some(met) => met,
            None => {
                let met = Arc::new(Met::read(tx, changes)?);
                self.with_lock(|kept| kept.met.insert(tenant, &met, met.entities.len()));
                met
            }
        };
        let others = match person.filter(|person| !met.ids.contains(person)) {
            Some(person) => persons::find_contacts(tx, person)?.into_iter().map(build_entity).collect(),
            None => Vec::new(),
        };
        Ok(ProtectedPeople { met, others })
    }

    /// The people, ready to be found.
    pub fn get_or_build(&self, tenant: TenantId, people: &ProtectedPeople) -> Arc<KnownEntities> {
        let key = people.key(tenant);
        if let Some(known) = self.with_lock(|kept| kept.ready.find(key)) {
            return known;
        }
        // Made outside the lock: others need not wait, and at worst two make the same.
        let entities = [people.met.entities.as_slice(), &people.others].concat();
        let known = Arc::new(KnownEntities::new(tenant, &entities));
        self.with_lock(|kept| kept.ready.insert(key, &known, entities.len()));
        known
    }

    fn with_lock<T>(&self, read: impl FnOnce(&mut Kept) -> T) -> T {
        read(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ProtectedPeople {
    fn key(&self, tenant: TenantId) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.met.print);
        hash.update(fingerprint(tenant, &self.others));
        hash.finalize().into()
    }
}

impl From<Vec<ProtectedEntity>> for ProtectedPeople {
    fn from(others: Vec<ProtectedEntity>) -> Self {
        Self { others, ..Self::default() }
    }
}

impl<K: Copy + Eq + Hash, T> Lists<K, T> {
    fn find(&mut self, key: K) -> Option<Arc<T>> {
        self.asked += 1;
        let list = self.lists.get_mut(&key)?;
        list.asked = self.asked;
        Some(list.list.clone())
    }

    fn insert(&mut self, key: K, list: &Arc<T>, entities: usize) {
        self.remove(key);
        if entities > MOST_ENTITIES {
            return;
        }
        while self.lists.len() >= MOST_LISTS || self.entities + entities > MOST_ENTITIES {
            let oldest = self.lists.iter().min_by_key(|(_, list)| list.asked).map(|(key, _)| *key);
            let Some(oldest) = oldest else { break };
            self.remove(oldest);
        }
        self.entities += entities;
        self.lists.insert(key, List { list: list.clone(), entities, asked: self.asked });
    }

    fn remove(&mut self, key: K) {
        self.entities -= self.lists.remove(&key).map_or(0, |list| list.entities);
    }
}

impl<K, T> Default for Lists<K, T> {
    fn default() -> Self {
        Self { lists: HashMap::new(), entities: 0, asked: 0 }
    }
}

/// Lengths stand before texts, so that no two lists share one.
fn fingerprint(tenant: TenantId, entities: &[ProtectedEntity]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let add = |hash: &mut Sha256, text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    hash.update(tenant.as_uuid().as_bytes());
    for entity in entities {
        hash.update((entity.names.len() as u64).to_le_bytes());
        entity.names.iter().for_each(|name| add(&mut hash, name));
        hash.update((entity.values.len() as u64).to_le_bytes());
        for (kind, value) in &entity.values {
            hash.update([*kind as u8]);
            add(&mut hash, value);
        }
    }
    hash.finalize().into()
}

impl fmt::Debug for KnownPeopleCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lists, entities) = self.with_lock(|kept| (kept.ready.lists.len(), kept.ready.entities));
        f.debug_struct("KnownPeopleCache").field("lists", &lists).field("entities", &entities).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(last: u128) -> TenantId {
        TenantId::from_uuid(uuid::Uuid::from_u128(last))
    }

    fn named(name: &str) -> ProtectedEntity {
        ProtectedEntity {
            names: vec![name.to_owned()],
            values: vec![(PiiKind::Phone, "9876543210".to_owned())],
        }
    }

    #[test]
    fn a_list_is_made_once_until_it_changes() {
        let people = KnownPeopleCache::default();
        let first = people.get_or_build(tenant(1), &vec![named("Raju")].into());
        assert!(Arc::ptr_eq(&first, &people.get_or_build(tenant(1), &vec![named("Raju")].into())));
        let split = ProtectedEntity { names: vec!["Ra".to_owned(), "ju".to_owned()], ..named("") };
        let kind =
            ProtectedEntity { values: vec![(PiiKind::Account, "9876543210".to_owned())], ..named("Raju") };
        for other in
            [vec![named("Rajan")], vec![named("Raju"), named("Rajan")], vec![split], vec![kind], vec![]]
        {
            assert!(
                !Arc::ptr_eq(&first, &people.get_or_build(tenant(1), &other.clone().into())),
                "{other:?}"
            );
        }
        let theirs = people.get_or_build(tenant(2), &vec![named("Raju")].into());
        assert_eq!((first.tenant(), theirs.tenant()), (tenant(1), tenant(2)), "never another tenant's");
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_longest_unused_goes() {
        let people = KnownPeopleCache::default();
        let first = people.get_or_build(tenant(0), &vec![named("Raju")].into());
        for last in 1..=MOST_LISTS as u128 + 50 {
            people.get_or_build(tenant(last), &vec![named("Raju")].into());
            assert!(
                Arc::ptr_eq(&first, &people.get_or_build(tenant(0), &vec![named("Raju")].into())),
                "it is asked for again and again"
            );
        }
        people.with_lock(|kept| {
            assert_eq!((kept.ready.lists.len(), kept.ready.entities), (MOST_LISTS, MOST_LISTS));
        });

        let mut kept = Lists::default();
        let known = Arc::new(KnownEntities::new(tenant(1), &[]));
        for key in 0..5 {
            kept.find([key; 32]);
            kept.insert([key; 32], &known, MOST_ENTITIES / 2);
        }
        assert_eq!((kept.lists.len(), kept.entities), (2, MOST_ENTITIES));
        kept.insert([9; 32], &known, MOST_ENTITIES + 1);
        assert!(!kept.lists.contains_key(&[9; 32]), "too large to keep");
        kept.insert([4; 32], &known, 7);
        assert_eq!(
            (kept.lists.len(), kept.entities),
            (2, MOST_ENTITIES / 2 + 7),
            "in the place of what it was"
        );
        kept.insert([4; 32], &known, MOST_ENTITIES + 1);
        assert_eq!((kept.lists.len(), kept.entities), (1, MOST_ENTITIES / 2), "what it was is stale");
    }

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
