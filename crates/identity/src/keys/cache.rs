//! The keys this node has just seen.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use munshi_store::{AdminTx, Db, Tx};
use munshi_types::{Clock, KeyId, Random, Timestamp};
use papaya::HashMap;

use super::authenticate::{ApiCaller, AuthenticatedCaller, authenticate_key};
use super::text::{KeyHash, KeyText};
use super::{ApiKeyRevocation, IssuedApiKey, rows};
use crate::error::Result;

/// So long a key may go on opening on another node after it was revoked there.
const LIFE: Duration = Duration::from_secs(1);

/// With more than this, those whose time is over are let go.
const MANY: usize = 10_000;

/// Who may come in, remembered for a second: a busy program costs one look into the database a second, not one a
/// request. Cheap to clone; all clones of a node share what they know.
#[derive(Clone)]
pub struct ApiKeyCache(Arc<Inner>);

struct Inner {
    db: Db,
    clock: Arc<dyn Clock>,
    /// By handle. Only keys that were let in are here, so strangers can't fill it.
    known: HashMap<String, Entry>,
    /// Counts what was forgotten: whoever looked before may not keep what they saw.
    forgotten: AtomicU64,
}

struct Entry {
    hash: KeyHash,
    caller: Arc<ApiCaller>,
    read_at: Timestamp,
    until: Option<Timestamp>,
}

impl Entry {
    /// A clock that was set back makes it old, not young for ever.
    fn is_fresh(&self, now: Timestamp) -> bool {
        now >= self.read_at && now.since(self.read_at) < LIFE && self.until.is_none_or(|end| now < end)
    }
}

impl ApiKeyCache {
    pub fn new(db: Db, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner { db, clock, known: HashMap::new(), forgotten: AtomicU64::new(0) }))
    }

    /// Whom a key's text stands for; see [`authenticate`](super::authenticate).
    pub async fn authenticate(&self, text: &str) -> Result<Option<Arc<ApiCaller>>> {
        let Some(text) = KeyText::parse(text) else { return Ok(None) };
        let now = self.0.clock.now();
        if let Some(caller) = self.0.find_fresh(&text, now) {
            return Ok(Some(caller));
        }
        let before = self.0.forgotten.load(Ordering::SeqCst);
        let handle = text.handle().to_owned();
        let Some(admitted) = authenticate_key(&self.0.db, text, now).await? else { return Ok(None) };
        Ok(Some(self.0.insert(&handle, admitted, now, before)))
    }

    /// [`revoke`](super::revoke), and this node knows it at once.
    pub fn revoke(
        &self,
        tx: &mut AdminTx<'_, '_>,
        id: KeyId,
        now: Timestamp,
    ) -> Result<Option<ApiKeyRevocation>> {
        let revoked = rows::revoke(tx, id, now)?;
        let made_with_it = revoked.iter().flat_map(|one| &one.made_with_it).map(|key| key.id);
        made_with_it.chain([id]).for_each(|id| self.invalidate_after_commit(tx, id));
        Ok(revoked)
    }

    /// [`rotate`](super::rotate), and this node knows it at once.
    pub fn rotate(
        &self,
        tx: &mut AdminTx<'_, '_>,
        random: &dyn Random,
        id: KeyId,
        grace: Duration,
        now: Timestamp,
    ) -> Result<Option<IssuedApiKey>> {
        self.invalidate_after_commit(tx, id);
        rows::rotate(tx, random, id, grace, now)
    }

    /// Knows of keys that were taken back in another transaction at once, after it was committed.
    pub fn invalidate(&self, ids: &[KeyId]) {
        ids.iter().for_each(|id| self.0.invalidate(*id));
    }

    fn invalidate_after_commit(&self, tx: &mut Tx<'_>, id: KeyId) {
        let inner = Arc::clone(&self.0);
        tx.after_commit(move || inner.invalidate(id));
    }
}

impl Inner {
    fn find_fresh(&self, text: &KeyText, now: Timestamp) -> Option<Arc<ApiCaller>> {
        let known = self.known.pin();
        let entry = known.get(text.handle())?;
        (entry.is_fresh(now) && entry.hash.equals(&text.hash())).then(|| Arc::clone(&entry.caller))
    }

    /// What was read before something was forgotten is given, but not kept.
    fn insert(
        &self,
        handle: &str,
        admitted: AuthenticatedCaller,
        now: Timestamp,
        before: u64,
    ) -> Arc<ApiCaller> {
        let caller = Arc::new(admitted.caller);
        let entry =
            Entry { hash: admitted.hash, caller: Arc::clone(&caller), read_at: now, until: admitted.until };
        let known = self.known.pin();
        if known.len() >= MANY {
            known.retain(|_, entry| entry.is_fresh(now));
        }
        known.insert(handle.to_owned(), entry);
        if self.forgotten.load(Ordering::SeqCst) != before {
            known.remove(handle);
        }
        caller
    }

    /// The count is raised first: see `insert`.
    fn invalidate(&self, id: KeyId) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        self.known.pin().retain(|_, entry| entry.caller.key != id);
    }
}

impl fmt::Debug for ApiKeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({} known)", self.0.known.len())
    }
}
