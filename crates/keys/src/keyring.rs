//! The keys as units of work use them: from memory, and from the store of keys where one is not known yet.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use munshi_store::{KeyErasure, Keyring, SealedBy};
use munshi_types::{Clock, DataKeyId, ErasureId, Id, Random, TenantId, Timestamp};
use uuid::Uuid;

use crate::cipher::SealKey;
use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::key_store::{OwnKey, StoredKey};
use crate::two_generations::TwoGenerations;

/// The least and the most keys that are made ahead for a tenant's persons to come: as many again as the last ones, while they last.
const AHEAD: (usize, usize) = (4, 64);

/// Clocks of nodes differ by less.
pub(crate) const OVERLAP: Duration = Duration::from_secs(120);

/// So long a node goes on with persons' keys from memory though it can't learn which were destroyed elsewhere. A store of keys that is
/// started again or moved to another machine is back by then; what is away for longer may be this node's network, while others reach the
/// store and forget people.
const LONGEST_UNSEEN: Duration = Duration::from_secs(5 * 60);

/// Where keys lie that this process does not know yet. Called from within units of work.
pub trait KeySource: Send + Sync {
    fn load(&self, tenant: TenantId, id: DataKeyId) -> Result<StoredKey>;

    /// The same of many at once, in whichever order.
    fn load_all(&self, tenant: TenantId, ids: &[DataKeyId]) -> Result<Vec<(DataKeyId, StoredKey)>>;

    /// A key of the tenant's own, made if it has none.
    fn load_or_create_own(&self, tenant: TenantId, which: OwnKey) -> Result<(DataKeyId, SealKey)>;

    /// Keys for persons to come, kept before anybody has one.
    fn make_person_keys(&self, tenant: TenantId, count: usize) -> Result<Vec<(DataKeyId, SealKey)>>;

    /// Destroys keys and writes down what for, both or neither.
    fn destroy(&self, entry: &KeyErasure) -> Result<()>;

    /// A key for a tenant's search index, kept before the index names it.
    fn make_index_key(&self, tenant: TenantId) -> Result<(DataKeyId, SealKey)>;

    /// Destroys every such key of the tenant but this one, and says which these were.
    fn destroy_other_index_keys(&self, tenant: TenantId, kept: DataKeyId) -> Result<Vec<DataKeyId>>;

    fn list_erasures(&self, after: Option<(TenantId, ErasureId)>, limit: u32) -> Result<Vec<KeyErasure>>;

    /// Keys destroyed since then or a little earlier, by whichever process.
    fn list_destroyed(&self, since: Timestamp) -> Result<Vec<DestroyedKey>>;
}

/// A key that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DestroyedKey {
    pub tenant: TenantId,
    pub id: DataKeyId,
    /// By the clock of the process that destroyed it.
    pub at: Timestamp,
}

/// The keyring of a process.
pub struct CachedKeyring {
    source: Box<dyn KeySource>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    known: Mutex<KnownKeys>,
    misses: AtomicU64,
    seen: Mutex<SeenDestructions>,
}

/// What this process has learnt of keys that were destroyed.
struct SeenDestructions {
    /// What the last look found: of the newest ones, which every look finds.
    last: HashSet<(TenantId, DataKeyId)>,
    /// The latest time that one was seen to be destroyed at, by the clock of whoever destroyed it.
    until: Option<Timestamp>,
    /// When it was last asked, with an answer; at first, when this process began.
    asked_at: Timestamp,
}

/// What this process knows. Keys are wiped when they go.
struct KnownKeys {
    data: TwoGenerations<(TenantId, DataKeyId), CachedKey>,
    own: HashMap<(TenantId, OwnKey), (DataKeyId, Arc<SealKey>)>,
    owners: TwoGenerations<(TenantId, Uuid), DataKeyId>,
    /// Keys in the store that no one has yet, and how many were made last.
    ahead: HashMap<TenantId, (Vec<DataKeyId>, usize)>,
    /// How often keys of a tenant were seen to be destroyed.
    destructions: HashMap<TenantId, u64>,
    /// How often every person's key was let go of.
    losses: u64,
}

/// A key as it was found.
#[derive(Clone)]
enum CachedKey {
    Live(KeyKind, Arc<SealKey>),
    /// For good, so nobody asks again.
    Destroyed,
}

impl CachedKey {
    fn live(self) -> Option<(KeyKind, Arc<SealKey>)> {
        match self {
            Self::Live(kind, key) => Some((kind, key)),
            Self::Destroyed => None,
        }
    }
}

impl fmt::Debug for CachedKeyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CachedKeyring")
    }
}

impl CachedKeyring {
    /// `most` is how many persons' keys are kept in memory.
    pub fn new(
        source: impl KeySource + 'static,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        most: usize,
    ) -> Self {
        let known = KnownKeys {
            data: TwoGenerations::new(most),
            own: HashMap::new(),
            owners: TwoGenerations::new(most),
            ahead: HashMap::new(),
            destructions: HashMap::new(),
            losses: 0,
        };
        let seen = SeenDestructions { last: HashSet::new(), until: None, asked_at: clock.now() };
        Self {
            source: Box::new(source),
            clock,
            random,
            known: Mutex::new(known),
            misses: AtomicU64::new(0),
            seen: Mutex::new(seen),
        }
    }

    /// How often the store was asked for keys, be it for many at once.
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// Lets go of keys in memory, and says how many were there.
    fn drop_keys(&self, destroyed: &HashSet<(TenantId, DataKeyId)>) -> usize {
        let (mut known, mut dropped) = (self.known(), 0);
        for key in destroyed {
            if matches!(known.data.peek(key), Some(CachedKey::Live(..))) {
                known.data.remove(key);
                known.count_destruction(key.0);
                dropped += 1;
            }
        }
        dropped
    }

    /// Forgets whose keys these were, and counts them, be they in memory or not. It looks through all owners that are known.
    fn drop_owners(&self, destroyed: &HashSet<(TenantId, DataKeyId)>) {
        if !destroyed.is_empty() {
            let mut known = self.known();
            known.owners.retain(|(tenant, _), key| !destroyed.contains(&(*tenant, *key)));
            destroyed.iter().for_each(|(tenant, _)| known.count_destruction(*tenant));
        }
    }

    /// Lets go of every person's key: none of them is surely there still. Those that tenants' own text is sealed by stay, which nobody
    /// destroys.
    fn drop_all_keys(&self) {
        let mut known = self.known();
        known.data.retain(|_, value| matches!(value, CachedKey::Destroyed));
        known.losses += 1;
    }

    /// Whether it was last answered too long ago for what is in memory to be relied on.
    fn is_out_of_touch(&self) -> bool {
        let (now, mut seen) = (self.clock.now(), self.seen());
        // With a clock that was put back it would take longer.
        seen.asked_at = seen.asked_at.min(now);
        now.since(seen.asked_at) > LONGEST_UNSEEN
    }

    fn seen(&self) -> MutexGuard<'_, SeenDestructions> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, KnownKeys> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn data_key(
        &self,
        tenant: TenantId,
        id: DataKeyId,
    ) -> Result<Option<(KeyKind, Arc<SealKey>)>, munshi_store::Error> {
        if let Some(known) = self.known().data.get(&(tenant, id)) {
            return Ok(known.live());
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let stored = self.source.load(tenant, id).map_err(Error::into_store)?;
        match self.known().remember(tenant, id, stored) {
            Some(known) => Ok(known.live()),
            None => Err(munshi_store::Error::UnknownKey(format!(
                "the store of keys has no key {id} of tenant {tenant}: it is older than the database, or another one's"
            ))),
        }
    }

    /// Of these keys, those that have to be fetched. The others are used by asking, so that they stay.
    fn list_missing(&self, tenant: TenantId, ids: &[DataKeyId]) -> Vec<DataKeyId> {
        let mut known = self.known();
        let own = known.own.get(&(tenant, OwnKey::Tenant)).map(|(id, _)| *id);
        let is_missing = |id: &DataKeyId| Some(*id) != own && known.data.get(&(tenant, *id)).is_none();
        ids.iter().copied().filter(is_missing).collect()
    }

    fn sealing_key(
        &self,
        tenant: TenantId,
        by: SealedBy,
    ) -> Result<(DataKeyId, Arc<SealKey>), munshi_store::Error> {
        match by {
            SealedBy::Tenant => self.own_key(tenant, OwnKey::Tenant).map_err(Error::into_store),
            SealedBy::Person(id) => {
                let found = self.data_key(tenant, id)?;
                let found = found.ok_or_else(|| munshi_store::Error::Forgotten("the person".to_owned()))?;
                match found {
                    (KeyKind::Person, key) => Ok((id, key)),
                    // What it seals would not be forgotten with anybody.
                    _ => Err(munshi_store::Error::Decode(format!(
                        "the key {id} of tenant {tenant} is no person's"
                    ))),
                }
            }
        }
    }

    fn own_key(&self, tenant: TenantId, which: OwnKey) -> Result<(DataKeyId, Arc<SealKey>)> {
        if let Some((id, key)) = self.known().own.get(&(tenant, which)) {
            return Ok((*id, key.clone()));
        }
        let (id, key) = self.source.load_or_create_own(tenant, which)?;
        let key = Arc::new(key);
        self.known().own.insert((tenant, which), (id, key.clone()));
        Ok((id, key))
    }
}

impl Keyring for CachedKeyring {
    fn seal(
        &self,
        tenant: TenantId,
        by: SealedBy,
        context: &[u8],
        plain: &[u8],
    ) -> munshi_store::Result<Vec<u8>> {
        let (id, key) = self.sealing_key(tenant, by)?;
        let mut sealed = Vec::with_capacity(16 + 1 + 12 + plain.len() + 16);
        sealed.extend_from_slice(id.as_uuid().as_bytes());
        key.seal_into(&mut sealed, plain, &place(tenant, id, context), self.random.as_ref())
            .map_err(Error::into_store)?;
        Ok(sealed)
    }

    fn open(&self, tenant: TenantId, context: &[u8], sealed: &[u8]) -> munshi_store::Result<Vec<u8>> {
        let tampered = || Error::Tampered { what: describe(context) }.into_store();
        let (id, body) = sealed.split_at_checked(16).ok_or_else(tampered)?;
        let id = Uuid::from_slice(id).map(DataKeyId::from_uuid).map_err(|_| tampered())?;
        let own = self.known().own.get(&(tenant, OwnKey::Tenant)).filter(|(own, _)| *own == id).cloned();
        let key = match own {
            Some((_, key)) => key,
            None => match self.data_key(tenant, id)? {
                Some((kind, key)) if kind.seals() => key,
                Some(_) => return Err(tampered()),
                None => return Err(munshi_store::Error::Forgotten(describe(context))),
            },
        };
        let mut opened =
            key.open(body, &place(tenant, id, context)).map_err(Error::into_store)?.ok_or_else(tampered)?;
        Ok(std::mem::take(&mut *opened))
    }

    fn hash(&self, tenant: TenantId, purpose: &str, value: &[u8]) -> munshi_store::Result<[u8; 32]> {
        let (_, key) = self.own_key(tenant, OwnKey::Hash).map_err(Error::into_store)?;
        Ok(key.hash(&[purpose.as_bytes(), b"\0", value]))
    }

    fn hash_by(
        &self,
        tenant: TenantId,
        by: SealedBy,
        purpose: &str,
        value: &[u8],
    ) -> munshi_store::Result<[u8; 32]> {
        let (_, key) = self.sealing_key(tenant, by)?;
        hash_within(&key, purpose, value)
    }

    fn hash_by_index_key(
        &self,
        tenant: TenantId,
        key: DataKeyId,
        purpose: &str,
        value: &[u8],
    ) -> munshi_store::Result<[u8; 32]> {
        match self.data_key(tenant, key)? {
            Some((KeyKind::Index, found)) => hash_within(&found, purpose, value),
            Some(_) => {
                let what = format!("the key {key} of tenant {tenant} is no search index's");
                Err(munshi_store::Error::UnknownKey(what))
            }
            None => Err(munshi_store::Error::Forgotten("what the search index has".to_owned())),
        }
    }

    fn take_new_key(&self, tenant: TenantId) -> munshi_store::Result<DataKeyId> {
        let mut known = self.known();
        let (ready, last) = known.ahead.entry(tenant).or_default();
        if let Some(id) = ready.pop() {
            return Ok(id);
        }
        let count = (*last * 2).clamp(AHEAD.0, AHEAD.1);
        drop(known);
        let mut made = self.source.make_person_keys(tenant, count).map_err(Error::into_store)?;
        let first = made.pop().ok_or_else(|| Error::Key("no key was made".to_owned()).into_store())?;
        let mut known = self.known();
        let taken = first.0;
        for (id, key) in made.into_iter().chain([first]) {
            known.data.insert((tenant, id), CachedKey::Live(KeyKind::Person, Arc::new(key)));
            if id != taken {
                known.ahead.entry(tenant).or_default().0.push(id);
            }
        }
        known.ahead.entry(tenant).or_default().1 = count;
        Ok(taken)
    }

    fn find_known_key(&self, tenant: TenantId, owner: Uuid) -> Option<DataKeyId> {
        self.known().owners.get(&(tenant, owner))
    }

    fn remember_key(&self, tenant: TenantId, owner: Uuid, key: DataKeyId) {
        self.known().owners.insert((tenant, owner), key);
    }

    fn destroy_keys(&self, entry: &KeyErasure) -> munshi_store::Result<()> {
        self.source.destroy(entry).map_err(Error::into_store)?;
        let destroyed = entry.keys.iter().map(|key| (entry.tenant, *key)).collect();
        self.drop_keys(&destroyed);
        self.drop_owners(&destroyed);
        Ok(())
    }

    fn make_index_key(&self, tenant: TenantId) -> munshi_store::Result<DataKeyId> {
        let (id, key) = self.source.make_index_key(tenant).map_err(Error::into_store)?;
        self.known().data.insert((tenant, id), CachedKey::Live(KeyKind::Index, Arc::new(key)));
        Ok(id)
    }

    fn destroy_other_index_keys(&self, tenant: TenantId, kept: DataKeyId) -> munshi_store::Result<()> {
        let destroyed = self.source.destroy_other_index_keys(tenant, kept).map_err(Error::into_store)?;
        self.drop_keys(&destroyed.into_iter().map(|key| (tenant, key)).collect());
        Ok(())
    }

    fn list_erasures(
        &self,
        after: Option<(TenantId, ErasureId)>,
        limit: u32,
    ) -> munshi_store::Result<Vec<KeyErasure>> {
        self.source.list_erasures(after, limit).map_err(Error::into_store)
    }

    fn drop_destroyed(&self) -> munshi_store::Result<usize> {
        // One that was being fetched while it was destroyed may come into memory after it was let go of: so each is let go of again
        // for a while, which also bears with clocks that differ.
        let (now, until) = (self.clock.now(), self.seen().until);
        let since = until.map_or(Timestamp::EPOCH, |until| until.minus(OVERLAP));
        let destroyed = self.source.list_destroyed(since).map_err(|error| {
            if self.is_out_of_touch() {
                self.drop_all_keys();
            }
            error.into_store()
        })?;
        let latest = destroyed.iter().map(|key| key.at).max();
        let destroyed: HashSet<_> = destroyed.iter().map(|key| (key.tenant, key.id)).collect();
        let dropped = self.drop_keys(&destroyed);
        let new = {
            let mut seen = self.seen();
            let new = destroyed.difference(&seen.last).copied().collect();
            *seen = SeenDestructions { last: destroyed, until: seen.until.max(latest), asked_at: now };
            new
        };
        self.drop_owners(&new);
        Ok(dropped)
    }

    fn count_destructions(&self, tenant: TenantId) -> u64 {
        let known = self.known();
        known.losses + known.destructions.get(&tenant).copied().unwrap_or_default()
    }

    fn prefetch_keys(&self, tenant: TenantId, keys: &[DataKeyId]) -> munshi_store::Result<()> {
        let missing = self.list_missing(tenant, keys);
        if missing.is_empty() {
            return Ok(());
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let found = self.source.load_all(tenant, &missing).map_err(Error::into_store)?;
        let mut known = self.known();
        for (id, stored) in found {
            // What the store does not know is an error for whoever opens something with it.
            let _unknown = known.remember(tenant, id, stored);
        }
        Ok(())
    }

    fn prefetch_limit(&self) -> usize {
        self.known().data.room()
    }
}

impl KnownKeys {
    /// None where the store never had it.
    fn remember(&mut self, tenant: TenantId, id: DataKeyId, stored: StoredKey) -> Option<CachedKey> {
        let known = match stored {
            StoredKey::Live(kind, key) => CachedKey::Live(kind, Arc::new(key)),
            StoredKey::Destroyed => CachedKey::Destroyed,
            StoredKey::Unknown => return None,
        };
        self.data.insert((tenant, id), known.clone());
        Some(known)
    }

    fn count_destruction(&mut self, tenant: TenantId) {
        *self.destructions.entry(tenant).or_default() += 1;
    }
}

/// A keyed hash by a key that hashes nothing by itself: most of them seal.
fn hash_within(key: &SealKey, purpose: &str, value: &[u8]) -> munshi_store::Result<[u8; 32]> {
    let hashing = SealKey::from_bytes(&key.derive("munshi keyed hash")[..])
        .ok_or_else(|| Error::Key("a derived key has the wrong length".to_owned()).into_store())?;
    Ok(hashing.hash(&[purpose.as_bytes(), b"\0", value]))
}

/// What a value is bound to: its tenant, its key, and where it stands.
fn place(tenant: TenantId, id: DataKeyId, context: &[u8]) -> Vec<u8> {
    let (tenant, id) = (tenant.as_uuid(), id.as_uuid());
    [b"munshi cell\0", &tenant.as_bytes()[..], &id.as_bytes()[..], context].concat()
}

/// `messages.text`, from what a value was bound to.
fn describe(context: &[u8]) -> String {
    let mut names = context.split(|byte| *byte == 0);
    let mut name = || String::from_utf8_lossy(names.next().unwrap_or_default()).into_owned();
    format!("{}.{}", name(), name())
}
