//! The thread that owns the store of keys. Units of work run on the main database's threads and may not wait for another
//! unit; they ask this thread instead, which works on another database and never waits for the main one.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::time::Duration;

use munshi_store::{DatabaseAddress, Db, Migrations, StoreOptions};
use munshi_types::{Clock, DataKeyId, Random, TenantId, Timestamp};
use tokio::runtime::{Builder, Runtime};

use crate::cipher::SealKey;
use crate::error::{Error, Result};
use crate::key_store::{KeyStore, OwnKey, StoredKey};
use crate::keyring::KeySource;
use crate::masters::MasterKeys;

/// How long a unit waits for a key.
const PATIENCE: Duration = Duration::from_secs(15);

type Request = Box<dyn FnOnce(Result<&mut KeyStore>, &Runtime) + Send>;

/// Where the store of keys is, and what opens it.
#[derive(Clone, Debug)]
pub struct KeyStorePlace {
    pub address: DatabaseAddress,
    /// Postgres: the login that owns the tables, where it is another.
    pub owner: Option<DatabaseAddress>,
    pub options: StoreOptions,
    /// Whether a store that is not there may be made: only where nothing is sealed yet.
    pub may_create: bool,
}

/// A handle to the thread. It ends when the last handle goes.
#[derive(Clone)]
pub struct KeyWorker(Arc<Sender<Request>>);

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
    store: Option<KeyStore>,
}

impl KeyWorker {
    /// Starts the thread. The store is opened when it is first asked for.
    pub fn start(
        place: KeyStorePlace,
        masters: Arc<MasterKeys>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Self> {
        let (sender, requests) = channel();
        let owner = Owner { place, masters, clock, random, store: None };
        let thread = std::thread::Builder::new().name("keys".to_owned());
        let started = thread.spawn(move || owner.run(&requests));
        started.map_err(|error| Error::Key(format!("the keys' thread can't be started: {error}")))?;
        Ok(Self(Arc::new(sender)))
    }

    /// Asks the thread and waits for its answer. From a unit of work only; elsewhere [`ask`](Self::ask).
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut KeyStore, &Runtime) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = sync_channel(1);
        self.send(Box::new(move |store, runtime| {
            // Nobody waits any more when this fails.
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
    pub async fn store_id(&self) -> Result<uuid::Uuid> {
        self.ask(|store, runtime| runtime.block_on(store.id())).await
    }

    /// Destroys keys for good.
    pub async fn destroy(&self, tenant: TenantId, keys: Vec<DataKeyId>) -> Result<()> {
        self.ask(move |store, runtime| runtime.block_on(store.destroy(tenant, keys))).await
    }

    /// Keys destroyed since then, by whichever node.
    pub async fn destroyed_since(&self, since: Timestamp) -> Result<Vec<(TenantId, DataKeyId, Timestamp)>> {
        self.ask(move |store, runtime| runtime.block_on(store.destroyed_since(since))).await
    }

    fn send(&self, request: Request) -> Result<()> {
        self.0.send(request).map_err(|_| unreachable())
    }
}

impl KeySource for KeyWorker {
    fn load(&self, tenant: TenantId, id: DataKeyId) -> Result<StoredKey> {
        self.call(move |store, runtime| runtime.block_on(store.load(tenant, id)))
    }

    fn load_or_create_own(&self, tenant: TenantId, which: OwnKey) -> Result<(DataKeyId, SealKey)> {
        self.call(move |store, runtime| runtime.block_on(store.load_or_create_own(tenant, which)))
    }

    fn make_person_keys(&self, tenant: TenantId, count: usize) -> Result<Vec<(DataKeyId, SealKey)>> {
        self.call(move |store, runtime| runtime.block_on(store.make_person_keys(tenant, count)))
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
            let opened = self.ensure_open(&runtime);
            match (opened, &mut self.store) {
                (Ok(()), Some(store)) => request(Ok(store), &runtime),
                (Err(error), _) => request(Err(error), &runtime),
                (Ok(()), None) => request(Err(unreachable()), &runtime),
            }
        }
    }

    fn ensure_open(&mut self, runtime: &Runtime) -> Result<()> {
        if self.store.is_none() {
            self.store = Some(runtime.block_on(self.open())?);
        }
        Ok(())
    }

    async fn open(&self) -> Result<KeyStore> {
        let migrations = Migrations::new(&[crate::KEY_STORE_MIGRATIONS])?;
        let place = &self.place;
        if let DatabaseAddress::Sqlite(file) = &place.address
            && !place.may_create
            && !file.exists()
        {
            return Err(missing_store(file));
        }
        let request = munshi_store::migrate::MigrationRequest {
            address: place.address.clone(),
            owner: place.owner.clone(),
            options: place.options.clone(),
            migrations: migrations.clone(),
            now: self.clock.now(),
            backups: None,
        };
        munshi_store::migrate::run(request).await?;
        let db = Db::open(&place.address, &place.options, &migrations).await?;
        KeyStore::open(db, self.masters.clone(), self.clock.clone(), self.random.clone()).await
    }
}

fn missing_store(file: &std::path::Path) -> Error {
    let file = file.display();
    Error::Key(format!(
        "the store of keys {file} is missing, and this database's text is encrypted with keys in it: put it back from \
         your copy. Without it what people wrote can't be read by anybody"
    ))
}
