//! A database that is made for one test and goes with it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use munshi_store::{DatabaseAddress, Db, Migration, Migrations, StoreOptions, tenants};
use munshi_types::{FakeClock, IdGenerator, SystemRandom, Tenant, TenantId, TenantStatus, Timestamp, Zone};

use crate::memory_keys::memory_keyring;
use crate::template::DatabaseTemplate;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseEngine {
    Sqlite,
    Postgres,
}

/// A migrated, empty database with a clock that stands still at a Sunday morning in November 2026.
pub struct TestDb {
    pub db: Db,
    pub address: DatabaseAddress,
    pub migrations: Migrations,
    pub options: StoreOptions,
    pub clock: Arc<FakeClock>,
    pub ids: IdGenerator,
    pub place: TestDbStorage,
}

/// Where the database lives; dropping it removes it.
pub struct TestDbStorage {
    folder: tempfile::TempDir,
    database: Option<PostgresDatabase>,
}

struct PostgresDatabase {
    server: String,
    name: String,
}

/// 2026-11-15 09:00 in India.
pub const MORNING: Timestamp = Timestamp::from_micros(1_794_713_400_000_000);

impl TestDb {
    pub async fn open(engine: DatabaseEngine, migrations: &[&[Migration]]) -> Self {
        Self::open_with(
            engine,
            migrations,
            StoreOptions { connections: 8, readers: 2, ..StoreOptions::default() },
        )
        .await
    }

    pub async fn open_with(
        engine: DatabaseEngine,
        migrations: &[&[Migration]],
        mut options: StoreOptions,
    ) -> Self {
        let clock = Arc::new(FakeClock::new(MORNING));
        let ids = IdGenerator::new(clock.clone(), Arc::new(SystemRandom));
        options.keyring.get_or_insert_with(|| memory_keyring(ids.clone()));
        let template = DatabaseTemplate::new(migrations, &options);
        let (address, place) = TestDbStorage::create_migrated(engine, &template).await;
        let migrations = template.migrations;
        let db = Db::open(&address, &options, &migrations).await.unwrap();
        Self { db, address, migrations, options, clock, ids, place }
    }

    /// Another handle on the same database, as a second node or process would have.
    pub async fn open_again(&self) -> Db {
        Db::open(&self.address, &self.options, &self.migrations).await.unwrap()
    }

    pub fn engine(&self) -> DatabaseEngine {
        if self.db.engine() == "sqlite" { DatabaseEngine::Sqlite } else { DatabaseEngine::Postgres }
    }

    pub async fn add_tenant(&self, name: &str) -> TenantId {
        let tenant = Tenant {
            id: self.ids.next(),
            name: name.parse().unwrap(),
            zone: Zone::default(),
            status: TenantStatus::Active,
            created_at: MORNING,
        };
        let id = tenant.id;
        self.db.platform(tenants::TENANTS).write(move |tx| tenants::add(tx, &tenant)).await.unwrap();
        id
    }
}

impl TestDbStorage {
    /// A folder, and on Postgres a database of its own, owned by a login that is no superuser.
    pub fn create(engine: DatabaseEngine) -> (DatabaseAddress, Self) {
        let folder = tempfile::tempdir().unwrap();
        match engine {
            DatabaseEngine::Sqlite => {
                (DatabaseAddress::sqlite(folder.path().join("munshi.db")), Self { folder, database: None })
            }
            DatabaseEngine::Postgres => Self::create_on_postgres(folder, "template1"),
        }
    }

    /// The same with every table in it.
    async fn create_migrated(engine: DatabaseEngine, template: &DatabaseTemplate) -> (DatabaseAddress, Self) {
        let folder = tempfile::tempdir().unwrap();
        match engine {
            DatabaseEngine::Sqlite => {
                let path = folder.path().join("munshi.db");
                let address = DatabaseAddress::sqlite(path.clone());
                match template.ensure_on_sqlite().await {
                    Some(file) => drop(std::fs::copy(file, path).unwrap()),
                    None => template.migrate(&address).await,
                }
                (address, Self { folder, database: None })
            }
            DatabaseEngine::Postgres => {
                let name = template.ensure_on_postgres().await;
                tokio::task::spawn_blocking(move || Self::create_on_postgres(folder, &name)).await.unwrap()
            }
        }
    }

    fn create_on_postgres(folder: tempfile::TempDir, template: &str) -> (DatabaseAddress, Self) {
        let database = PostgresDatabase::create(template);
        let address = build_url(&database.name, "munshi_owner").parse().unwrap();
        (address, Self { folder, database: Some(database) })
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// The address of this database for another login.
    pub fn postgres_url(&self, login: &str) -> String {
        build_url(&self.database.as_ref().expect("a Postgres database").name, login)
    }

    /// Keeps a copy of this database on its server, to be [put back](Self::put_copy_back). Nobody is connected.
    pub fn copy_postgres(&self) {
        self.run_on_server(|name| format!("CREATE DATABASE {name}_copy OWNER munshi_owner TEMPLATE {name}"));
    }

    /// Puts the copy in the database's place, as somebody does who restores a dump.
    pub fn put_copy_back(&self) {
        self.run_on_server(|name| format!("DROP DATABASE {name} WITH (FORCE)"));
        self.run_on_server(|name| format!("CREATE DATABASE {name} OWNER munshi_owner TEMPLATE {name}_copy"));
    }

    fn run_on_server(&self, statement: impl FnOnce(&str) -> String) {
        let database = self.database.as_ref().expect("a Postgres database");
        let (server, statement) = (database.server.clone(), statement(&database.name));
        run_on_thread(move || {
            postgres::Client::connect(&server, postgres::NoTls).unwrap().batch_execute(&statement).unwrap();
        });
    }

    /// Runs statements as the server's superuser, who is held by no rule.
    pub fn run_as_superuser(&self, statements: &str) {
        let (url, statements) = (self.postgres_url("postgres"), statements.to_owned());
        run_on_thread(move || {
            postgres::Client::connect(&url, postgres::NoTls).unwrap().batch_execute(&statements).unwrap();
        });
    }
}

impl PostgresDatabase {
    fn create(template: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let server = server_url();
        let name = format!("test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let database = Self { server, name };
        let mut client = postgres::Client::connect(&database.server, postgres::NoTls).unwrap();
        let create = format!("CREATE DATABASE {} OWNER munshi_owner TEMPLATE {template}", database.name);
        client.batch_execute(&create).unwrap();
        database
    }
}

/// The address of a database of the test server for a login.
pub(crate) fn build_url(database: &str, login: &str) -> String {
    let server = server_url();
    let (_, rest) = server.split_once('@').unwrap();
    let (place, _) = rest.split_once('/').unwrap();
    format!("postgres://{login}@{place}/{database}?sslmode=disable")
}

/// The server `make test` started.
#[allow(clippy::disallowed_methods, reason = "the test runner hands the address over in the environment")]
pub fn server_url() -> String {
    std::env::var("MUNSHI_TEST_POSTGRES")
        .expect("MUNSHI_TEST_POSTGRES is not set: run `make test`, or `scripts/postgres.sh run COMMAND`")
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        let dropping = std::thread::spawn(move || {
            if let Ok(mut client) = postgres::Client::connect(&server, postgres::NoTls) {
                // Left behind on failure; the whole server goes at the end of the run.
                let _left = client.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)"));
                let _copy = client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}_copy"));
            }
        });
        // A second panic while one unwinds would end the process without the first one's words.
        let _ended = dropping.join();
    }
}

/// The blocking driver has a runtime of its own and may not run inside another.
pub(crate) fn run_on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::spawn(work).join().unwrap()
}
