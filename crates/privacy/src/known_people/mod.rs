//! Whom a tenant's calls are about: the people of its own and those its packs know, ready to be found.

mod bounded_lists;
mod list_front;
mod met;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use munshi_identity::persons;
use munshi_store::{Result, Tx};
use munshi_types::{PersonId, TenantId};

use self::bounded_lists::BoundedLists;
use self::list_front::{ListFront, ListedEntity};
use self::met::{EntityPrint, MetPeople, PeopleVersion};
use super::known_entities::{KnownEntities, ProtectedEntity};

/// Whom a call must hide: those the tenant has met, and whoever else it is about.
#[derive(Clone, Debug, Default)]
pub struct ProtectedPeople {
    met: Arc<MetPeople>,
    /// The person who writes, where the list of those who were met lacks them.
    writer: Option<ProtectedEntity>,
    pub others: Vec<ProtectedEntity>,
}

/// Lists that were made ready. Opening names takes long, and making them ready too (34 ms and 11 ms for a thousand contacts), so both are
/// kept, and a person who is new costs their own: names by the rows they were opened from, and of a list that is ready its front. They are
/// kept until the people change: by the count of their changes and by what they are, and not by when they were read, so that nobody added
/// a moment ago is missed. Nor does anybody stay who is gone: what is not in the list that was read last is let go of.
#[derive(Default)]
pub struct KnownPeopleCache {
    kept: Mutex<KeptPeople>,
}

#[derive(Default)]
struct KeptPeople {
    met: BoundedLists<TenantId, MetPeople>,
    fronts: BoundedLists<FrontKey, ListFront>,
    ready: BoundedLists<ReadyKey, KnownEntities>,
}

/// A tenant's lists that begin alike are one that grows.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct FrontKey {
    tenant: TenantId,
    first: EntityPrint,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ReadyKey {
    tenant: TenantId,
    met: EntityPrint,
    others: EntityPrint,
    writer: Option<EntityPrint>,
}

impl KnownPeopleCache {
    /// Those the tenant has met and, whoever they are, the person who writes.
    pub fn load_met(&self, tx: &mut Tx<'_>, person: Option<PersonId>) -> Result<ProtectedPeople> {
        let (tenant, version) = (tx.tenant(), PeopleVersion::load(tx)?);
        let met = match self.with_lock(|kept| kept.met.find(tenant)) {
            Some(met) if met.version() == version => met,
            before => {
                let met = Arc::new(MetPeople::read(tx, version, before.as_deref())?);
                self.with_lock(|kept| kept.replace_met(tenant, &met));
                met
            }
        };
        let writer = match person.filter(|person| !met.has(*person)) {
            Some(person) => persons::find_contacts(tx, person)?.map(met::build_entity),
            None => None,
        };
        Ok(ProtectedPeople { met, writer, others: Vec::new() })
    }

    /// The people, ready to be found.
    pub fn get_or_build(&self, tenant: TenantId, people: &ProtectedPeople) -> Arc<KnownEntities> {
        let list = people.list();
        let key = people.key(tenant, &list);
        if let Some(known) = self.with_lock(|kept| kept.ready.find(key)) {
            return known;
        }
        // Made outside the lock: others need not wait, and at worst two make the same.
        let known = Arc::new(self.build(tenant, people, &list));
        self.with_lock(|kept| {
            if kept.is_current(tenant, people) {
                kept.ready.insert(key, &known, list.len());
            }
        });
        known
    }

    fn build(&self, tenant: TenantId, people: &ProtectedPeople, list: &[ListedEntity<'_>]) -> KnownEntities {
        let Some(first) = list.first() else { return KnownEntities::new(tenant, &[]) };
        let key = FrontKey { tenant, first: first.print };
        let kept = self.with_lock(|kept| kept.fronts.find(key)).filter(|front| front.fits(list));
        let front = kept.unwrap_or_else(|| {
            let front = Arc::new(ListFront::build(tenant, list, people.others.len()));
            self.with_lock(|kept| {
                if front.len() > 0 && kept.is_current(tenant, people) {
                    kept.fronts.insert(key, &front, front.len());
                }
            });
            front
        });
        front.complete(list)
    }

    fn with_lock<T>(&self, read: impl FnOnce(&mut KeptPeople) -> T) -> T {
        read(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl KeptPeople {
    /// Lets go of whatever somebody is in who is not met any longer, or is another by now. Who wrote is in no list that says so.
    fn replace_met(&mut self, tenant: TenantId, met: &Arc<MetPeople>) {
        let print = met.print();
        self.ready.retain(|key, _| key.tenant != tenant || (key.met == print && key.writer.is_none()));
        self.fronts.retain(|key, front| key.tenant != tenant || front.has_only(met));
        self.met.insert(tenant, met, met.people().len());
    }

    /// Whether nobody is among them who has gone since they were read.
    fn is_current(&self, tenant: TenantId, people: &ProtectedPeople) -> bool {
        let last = self.met.peek(tenant);
        people.met.people().is_empty() || last.is_none_or(|met| met.print() == people.met.print())
    }
}

impl ProtectedPeople {
    /// All of them. Most that are new are somebody who was met, so those stand behind what packs know.
    fn list(&self) -> Vec<ListedEntity<'_>> {
        let hashed = |entity| ListedEntity { entity, print: met::fingerprint(entity) };
        let met = self.met.people().iter();
        let met = met.map(|person| ListedEntity { entity: &person.entity, print: person.print });
        self.others.iter().map(hashed).chain(met).chain(self.writer.iter().map(hashed)).collect()
    }

    fn key(&self, tenant: TenantId, list: &[ListedEntity<'_>]) -> ReadyKey {
        let others = list.iter().take(self.others.len());
        ReadyKey {
            tenant,
            met: self.met.print(),
            others: met::combine(others.map(|listed| &listed.print)),
            writer: self.writer.as_ref().and(list.last()).map(|listed| listed.print),
        }
    }
}

impl From<Vec<ProtectedEntity>> for ProtectedPeople {
    fn from(others: Vec<ProtectedEntity>) -> Self {
        Self { others, ..Self::default() }
    }
}

impl fmt::Debug for KnownPeopleCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lists, entities) = self.with_lock(|kept| kept.ready.size());
        f.debug_struct("KnownPeopleCache").field("lists", &lists).field("entities", &entities).finish()
    }
}
