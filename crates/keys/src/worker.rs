//! The thread that owns the store of keys. Units of work run on the main database's threads and may not wait for another
//! unit; they ask this thread instead, which works on another database and never waits for the main one.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use munshi_store::migrate::{self, MigrationRequest};
use munshi_store::{Cursor, DatabaseAddress, Db, KeyErasure, Migrations, StoreOptions};
use munshi_types::{Clock, DataKeyId, ErasureId, Random, TenantId, Timestamp};
use tokio::runtime::{Builder, Runtime};
use uuid::Uuid;

use crate::cipher::SealKey;
use crate::error::{Error, Result};
use crate::key_store::{KeyStore, OwnKey, StoredKey};
use crate::key_traces::KeyTraces;
use crate::keyring::{DestroyedKey, KeySource};
use crate::masters::MasterKeys;
use crate::tenant_rotation::{TenantKeyRotation, TenantRotationStart, TenantRotationStep};

/// How long a unit waits for a key.
const PATIENCE: Duration = Duration::from_secs(4);

/// So long a store that could not be opened is not tried again: whoever asks meanwhile is told at once.
const RETRY: Duration = Duration::from_secs(1);

type Request = Box<dyn FnOnce(Result<&mut KeyStore>, &Runtime) + Send>;

/// Where the store of keys is, and what opens it.
#[derive(Clone, Debug)]
pub struct KeyStorePlace {
    pub address: DatabaseAddress,
    /// Postgres: the login that owns the tables, where it is another.
    pub owner: Option<DatabaseAddress>,
    pub options: StoreOptions,
}

/// Which store the main database wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedStore {
    /// Nothing is sealed yet: one is made, or the one that is there is taken.
    Any,
    /// The one that seals its text.
    Known(Uuid),
}

/// A handle to the thread. The thread starts when it is first asked, and ends when the last handle goes.
#[derive(Clone)]
pub struct KeyWorker(Arc<Inner>);

struct Inner {
    /// None only while it goes.
    sender: Option<Sender<Request>>,
    /// What the thread will work with; taken when it starts.
    waiting: Mutex<Option<(Owner, Receiver<Request>)>>,
    wanted: Arc<OnceLock<WantedStore>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Ends the thread, which closes the store.
impl Drop for Inner {
    fn drop(&mut self) {
        self.sender = None;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("the thread of the store of keys panicked");
        }
    }
}

impl fmt::Debug for KeyWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyWorker")
    }
}

/// What the thread works with.
struct Owner {
    place: KeyStorePlace,
    masters: Arc<MasterKeys>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    wanted: Arc<OnceLock<WantedStore>>,
    store: Option<KeyStore>,
    /// Why it could not be opened, and when that was tried.
    refused: Option<(Error, Instant)>,
}

impl KeyWorker {
    /// Nothing is opened until a key is asked for, and none is given before [`set_wanted`](Self::set_wanted) said of which store.
    pub fn new(
        place: KeyStorePlace,
        masters: Arc<MasterKeys>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        let (sender, requests) = channel();
        let wanted = Arc::new(OnceLock::new());
        let owner =
            Owner { place, masters, clock, random, wanted: wanted.clone(), store: None, refused: None };
        let waiting = Mutex::new(Some((owner, requests)));
        Self(Arc::new(Inner { sender: Some(sender), waiting, wanted, thread: Mutex::new(None) }))
    }

    /// Says which store is meant. The first word holds.
    pub fn set_wanted(&self, wanted: WantedStore) {
        self.0.wanted.get_or_init(|| wanted);
    }

    /// Asks the thread and waits for its answer. From a unit of work only; elsewhere [`ask`](Self::ask).
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut KeyStore, &Runtime) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = sync_channel(1);
        let asked = Instant::now();
        self.send(Box::new(move |store, runtime| {
            if asked.elapsed() > PATIENCE {
                return; // nobody waits any more
            }
            let _gone = answer.send(store.and_then(|store| work(store, runtime)));
        }))?;
        answered.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(unreachable()))
    }

    /// Asks the thread.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut KeyStore, &Runtime) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = tokio::sync::oneshot::channel();
        self.send(Box::new(move |store, runtime| {
            let _gone = answer.send(store.and_then(|store| work(store, runtime)));
        }))?;
        answered.await.unwrap_or_else(|_| Err(unreachable()))
    }

    /// The id of the store: opens it, so that what is wrong with it is known at the start.
    pub async fn store_id(&self) -> Result<Uuid> {
        self.ask(|store, runtime| runtime.block_on(store.id())).await
    }

    /// Wraps tenants' keys by the installation's key of this id, as `munshi vault rotate` does on its way. Says how many.
    pub async fn rotate_master(&self, to: &str) -> Result<u64> {
        let to = to.to_owned();
        let rewrapped = self.ask(move |store, runtime| runtime.block_on(store.rotate_master(&to))).await?;
        self.clear_rewrapped().await;
        Ok(rewrapped)
    }

    /// Replaces a tenant's key by another, which wraps what the one before did; a rotation that was cut short is finished. Others use the
    /// store meanwhile, on every node. None for a tenant that has no keys.
    pub async fn rotate_tenant(&self, tenant: TenantId) -> Result<Option<TenantKeyRotation>> {
        let Some(begun) = self.begin_tenant_rotation(tenant).await? else { return Ok(None) };
        let mut keys = 0;
        while let TenantRotationStep::Rewrapped(some) = self.continue_tenant_rotation(tenant).await? {
            keys += some;
        }
        self.clear_rewrapped().await;
        Ok(Some(TenantKeyRotation { number: begun.number, keys, resumed: begun.resumed }))
    }

    /// What a key wrapped that was replaced is cleared away at once; where that fails, whoever looks after the store does it.
    async fn clear_rewrapped(&self) {
        let cleared = self.ask(|store, runtime| {
            runtime.block_on(async {
                let rewrapped_at = store.find_rewrapped().await?;
                store.clear_traces(KeyTraces { rewrapped_at, ..KeyTraces::default() }).await;
                Ok(())
            })
        });
        if let Err(error) = cleared.await {
            tracing::debug!(%error, "traces of a replaced key were not cleared; retrying later");
        }
    }

    /// The first step of it: the next key is there, and wraps what is made from now on.
    pub async fn begin_tenant_rotation(&self, tenant: TenantId) -> Result<Option<TenantRotationStart>> {
        self.ask(move |store, runtime| runtime.block_on(store.begin_tenant_rotation(tenant))).await
    }

    /// Each further step. Whoever wants a key comes between two.
    pub async fn continue_tenant_rotation(&self, tenant: TenantId) -> Result<TenantRotationStep> {
        self.ask(move |store, runtime| runtime.block_on(store.continue_tenant_rotation(tenant))).await
    }

    /// Tenants whose rotation was cut short: both keys are there, and all is readable.
    pub async fn list_unfinished_rotations(&self) -> Result<Vec<TenantId>> {
        self.ask(|store, runtime| runtime.block_on(store.list_unfinished_rotations())).await
    }

    /// Whether the store knows a key, be it destroyed since.
    pub async fn knows(&self, tenant: TenantId, key: DataKeyId) -> Result<bool> {
        let loaded = self.ask(move |store, runtime| runtime.block_on(store.load(tenant, key))).await?;
        Ok(!matches!(loaded, StoredKey::Unknown))
    }

    /// What keys were destroyed for, the last ones before a place, the newest first.
    pub async fn list_newest_erasures(
        &self,
        before: Cursor,
        limit: u32,
    ) -> Result<Vec<(Cursor, KeyErasure)>> {
        self.ask(move |store, runtime| runtime.block_on(store.list_newest_erasures(before, limit))).await
    }

    /// Whether the store remembers that keys were destroyed for this.
    pub async fn knows_erasure(&self, tenant: TenantId, id: ErasureId) -> Result<bool> {
        self.ask(move |store, runtime| runtime.block_on(store.has_erasure(tenant, id))).await
    }

    /// What was destroyed is gone, whatever comes of this.
    fn clear_traces(&self) {
        let _later = self.call(|store, runtime| {
            let destroyed_until = Some(store.clock.now());
            runtime.block_on(store.clear_traces(KeyTraces { destroyed_until, ..KeyTraces::default() }));
            Ok(())
        });
    }

    /// The same, which nobody waits for.
    fn begin_clearing(&self, traces: KeyTraces) {
        let _later = self.send(Box::new(move |store, runtime| {
            if let Ok(store) = store {
                runtime.block_on(store.clear_traces(traces));
            }
        }));
    }

    fn send(&self, request: Request) -> Result<()> {
        let waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((owner, requests)) = waiting {
            let thread = std::thread::Builder::new().name("keys".to_owned());
            let started = thread.spawn(move || owner.run(&requests));
            let started = started.map_err(|error| {
                Error::Key(format!("the thread of the store of keys can't be started: {error}"))
            })?;
            *self.0.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
        }
        self.0.sender.as_ref().ok_or_else(unreachable)?.send(request).map_err(|_| unreachable())
    }
}

impl KeySource for KeyWorker {
    fn load(&self, tenant: TenantId, id: DataKeyId) -> Result<StoredKey> {
        self.call(move |store, runtime| runtime.block_on(store.load(tenant, id)))
    }

    fn load_all(&self, tenant: TenantId, ids: &[DataKeyId]) -> Result<Vec<(DataKeyId, StoredKey)>> {
        let ids = ids.to_vec();
        self.call(move |store, runtime| runtime.block_on(store.load_all(tenant, &ids)))
    }

    fn load_or_create_own(&self, tenant: TenantId, which: OwnKey) -> Result<(DataKeyId, SealKey)> {
        self.call(move |store, runtime| runtime.block_on(store.load_or_create_own(tenant, which)))
    }

    fn make_person_keys(&self, tenant: TenantId, count: usize) -> Result<Vec<(DataKeyId, SealKey)>> {
        self.call(move |store, runtime| runtime.block_on(store.make_person_keys(tenant, count)))
    }

    fn destroy(&self, entry: &KeyErasure) -> Result<()> {
        let entry = entry.clone();
        self.call(move |store, runtime| runtime.block_on(store.destroy(entry)))?;
        self.clear_traces();
        Ok(())
    }

    fn make_index_key(&self, tenant: TenantId) -> Result<(DataKeyId, SealKey)> {
        self.call(move |store, runtime| runtime.block_on(store.make_index_key(tenant)))
    }

    fn destroy_other_index_keys(&self, tenant: TenantId, kept: DataKeyId) -> Result<Vec<DataKeyId>> {
        let (destroyed, now) = self.call(move |store, runtime| {
            let destroyed = runtime.block_on(store.destroy_other_index_keys(tenant, kept))?;
            Ok((destroyed, store.clock.now()))
        })?;
        // A unit of the main database waits for the answer.
        self.begin_clearing(KeyTraces { destroyed_until: Some(now), ..KeyTraces::default() });
        Ok(destroyed)
    }

    fn list_erasures(&self, after: Option<(TenantId, ErasureId)>, limit: u32) -> Result<Vec<KeyErasure>> {
        self.call(move |store, runtime| runtime.block_on(store.list_erasures(after, limit)))
    }

    fn list_destroyed(&self, since: Timestamp) -> Result<Vec<DestroyedKey>> {
        let (destroyed, traces) = self.call(move |store, runtime| {
            runtime.block_on(async {
                let destroyed = store.list_destroyed(since).await?;
                let destroyed_until = destroyed.iter().map(|key| key.at).max();
                let traces = KeyTraces { destroyed_until, rewrapped_at: store.find_rewrapped().await? };
                Ok((destroyed, store.has_traces(traces).then_some(traces)))
            })
        })?;
        // A process that was killed, or met with a reader, has not cleared them away.
        if let Some(traces) = traces {
            self.begin_clearing(traces);
        }
        Ok(destroyed)
    }
}

fn unreachable() -> Error {
    let what = "the store of keys does not answer".to_owned();
    Error::Store(munshi_store::Error::Unavailable { what, source: None })
}

impl Owner {
    fn run(mut self, requests: &Receiver<Request>) {
        let runtime = match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                // Whoever asks is told that nobody answers.
                tracing::error!(%error, "the thread of the store of keys can't start");
                return;
            }
        };
        while let Ok(request) = requests.recv() {
            let answered = catch_unwind(AssertUnwindSafe(|| self.answer(request, &runtime)));
            if answered.is_err() {
                tracing::error!("panic while working on the store of keys");
                self.store = None;
            }
        }
    }

    fn answer(&mut self, request: Request, runtime: &Runtime) {
        match (self.ensure_open(runtime), &mut self.store) {
            (Ok(()), Some(store)) => request(Ok(store), runtime),
            (Err(error), _) => request(Err(error), runtime),
            (Ok(()), None) => request(Err(unreachable()), runtime),
        }
    }

    fn ensure_open(&mut self, runtime: &Runtime) -> Result<()> {
        if self.store.is_some() {
            return Ok(());
        }
        if let Some((error, _)) = self.refused.as_ref().filter(|(_, at)| at.elapsed() < RETRY) {
            return Err(error.clone());
        }
        match runtime.block_on(self.open()) {
            Ok(store) => self.store = Some(store),
            Err(error) => {
                self.refused = Some((error.clone(), Instant::now()));
                return Err(error);
            }
        }
        Ok(())
    }

    async fn open(&self) -> Result<KeyStore> {
        let wanted = self.wanted.get().copied();
        let wanted = wanted.ok_or_else(|| Error::Key("the main database was not opened yet".to_owned()))?;
        let place = &self.place;
        // What is destroyed is not to stand in free parts of the file.
        let options = StoreOptions { wipes_removed: true, ..place.options.clone() };
        if let (DatabaseAddress::Sqlite(file), WantedStore::Known(_)) = (&place.address, wanted)
            && !file.exists()
        {
            return Err(missing_store(file));
        }
        let migrations = Migrations::new(&[crate::KEY_STORE_MIGRATIONS])?;
        if let WantedStore::Known(_) = wanted {
            let owner = place.owner.as_ref().unwrap_or(&place.address);
            let state = migrate::load_state(owner, &options, &migrations).await;
            if state.map_err(|error| name_store(&place.address, error))?.applied.is_empty() {
                return Err(other_store(&place.address));
            }
        }
        let request = MigrationRequest {
            address: place.address.clone(),
            owner: place.owner.clone(),
            options: options.clone(),
            migrations: migrations.clone(),
            now: self.clock.now(),
            backups: None,
        };
        migrate::run(request).await.map_err(|error| name_store(&place.address, error))?;
        let db = Db::open(&place.address, &options, &migrations).await?;
        let owner = place.owner.clone().unwrap_or_else(|| place.address.clone());
        let (masters, clock, random) = (self.masters.clone(), self.clock.clone(), self.random.clone());
        let store = KeyStore::open((db, owner), masters, clock, random).await?;
        match wanted {
            WantedStore::Known(id) if store.id().await? != id => Err(other_store(&place.address)),
            WantedStore::Known(_) | WantedStore::Any => Ok(store),
        }
    }
}

/// A main database by another address than its own looks like one of a later version.
fn name_store(address: &DatabaseAddress, error: munshi_store::Error) -> Error {
    match error {
        munshi_store::Error::Schema(why) => Error::Store(munshi_store::Error::Schema(format!(
            "the store of keys {address} can't be used: {why}. If keys.url names the main database: name one of its own there, with nothing \
             else in it"
        ))),
        other => Error::Store(other),
    }
}

fn missing_store(file: &Path) -> Error {
    let file = file.display();
    Error::Key(format!(
        "the store of keys {file} is missing, and this database's text is encrypted with keys in it: put it back from \
         your copy. If another node has it, keep it where both reach it and name it in keys.url (MUNSHI__KEYS__URL). \
         Without it nobody can read what people wrote"
    ))
}

fn other_store(address: &DatabaseAddress) -> Error {
    Error::Key(format!(
        "{address} is not the store of keys that this database's text is encrypted with: put that one in its place, \
         or name it in keys.url (MUNSHI__KEYS__URL)"
    ))
}
