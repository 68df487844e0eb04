//! A database whose text is sealed by the keys of a real store of keys, and processes that work on it.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use munshi_keys::{CachedKeyring, KeyStorePlace, KeyWorker, MasterKeySource};
use munshi_store::{DatabaseAddress, Db, Migrations, StoreOptions};
use munshi_test_support::database::TestDbStorage;
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_types::{Clock, SystemClock, SystemRandom, TenantId};
use tokio::runtime::Runtime;

/// Persons' keys that a process keeps in memory unless the settings say otherwise (`keys.cached`).
pub(crate) const CACHED: usize = 20_000;

pub(crate) struct SealedDatabase {
    pub(crate) address: SealedAddress,
    pub(crate) tenant: TenantId,
    test: TestDb,
    /// Of the store of keys.
    _keys: TestDbStorage,
}

/// Where the database is, its store of keys, and the installation's key: what another process needs to know.
pub(crate) struct SealedAddress {
    pub(crate) database: String,
    pub(crate) keys: String,
    pub(crate) master: PathBuf,
}

/// What one process has open. Its keyring knows no key at first.
pub(crate) struct SealedNode {
    pub(crate) db: Db,
    pub(crate) keyring: Arc<CachedKeyring>,
}

impl SealedDatabase {
    pub(crate) fn create(engine: DatabaseEngine, runtime: &Runtime) -> Result<Self> {
        let lists = munshi_test_app::list_migrations(&[munshi_keys::MIGRATIONS]);
        let (test, tenant) = runtime.block_on(async {
            let test = TestDb::open_with(engine, &lists, StoreOptions::default()).await;
            let tenant = test.add_tenant("shop").await;
            (test, tenant)
        });
        let (keys, storage) = TestDbStorage::create(engine);
        let address = SealedAddress {
            database: write_url(&test.address, &test.place),
            keys: write_url(&keys, &storage),
            master: storage.folder().join("vault.key"),
        };
        Ok(Self { address, tenant, test, _keys: storage })
    }

    /// Lets the database look at its tables, as a server that has run for a minute has done by itself.
    pub(crate) fn analyze_tables(&self) {
        if self.test.engine() == DatabaseEngine::Postgres {
            self.test.place.run_as_superuser("ANALYZE");
        }
    }
}

impl SealedAddress {
    /// Opens it as a process does that has just started and keeps so many keys in memory.
    pub(crate) async fn open(&self, cached: usize) -> Result<SealedNode> {
        let place = KeyStorePlace {
            address: self.keys.parse()?,
            owner: None,
            options: StoreOptions { readers: 1, connections: 2, ..StoreOptions::default() },
        };
        let masters = MasterKeySource::File(self.master.clone());
        let worker = KeyWorker::new(place, masters.into(), Arc::new(SystemClock), Arc::new(SystemRandom));
        let keyring =
            CachedKeyring::new(worker.clone(), Arc::new(SystemClock), Arc::new(SystemRandom), cached);
        let keyring = Arc::new(keyring);
        let options = StoreOptions { keyring: Some(keyring.clone()), ..StoreOptions::default() };
        let lists = munshi_test_app::list_migrations(&[munshi_keys::MIGRATIONS]);
        let db = Db::open(&self.database.parse()?, &options, &Migrations::new(&lists)?).await?;
        munshi_keys::bind_store(&db, &worker, SystemClock.now()).await?;
        Ok(SealedNode { db, keyring })
    }
}

/// The whole address: what is shown of a Postgres address says nothing of how to connect.
fn write_url(address: &DatabaseAddress, storage: &TestDbStorage) -> String {
    match address {
        DatabaseAddress::Sqlite(_) => address.to_string(),
        DatabaseAddress::Postgres(_) => storage.postgres_url("munshi_owner"),
    }
}
