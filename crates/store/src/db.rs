//! The handle everyone holds.

use std::pin::Pin;
use std::sync::Arc;

use munshi_types::TenantId;
use tokio::sync::broadcast;
use tokio::sync::oneshot::Receiver;

use crate::address::DatabaseAddress;
use crate::announcement::{Announcement, Announcer};
use crate::error::{Error, Result};
use crate::health::StoreHealth;
use crate::lane::UnitLane;
use crate::migrate::{self, Migrations};
use crate::options::StoreOptions;
use crate::postgres::PostgresPool;
use crate::sealing::{Keyring, no_keyring};
use crate::session::UnitSession;
use crate::sqlite::SqlitePool;
use crate::tx::{PlatformScope, PlatformTx, Tx};
use crate::unit::{
    UnitAnswer, UnitBody, UnitHandle, UnitOfWork, UnitScope, downcast_answer, erase_types, refuse_nesting,
};

/// The database, whichever engine. Cheap to clone; the last clone to go closes it.
#[derive(Clone)]
pub struct Db(Arc<Inner>);

struct Inner {
    address: DatabaseAddress,
    options: StoreOptions,
    health: StoreHealth,
    announcer: Announcer,
    engine: Handle,
}

enum Handle {
    Sqlite(SqlitePool),
    Postgres(PostgresPool),
}

#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
}

/// The whole installation's side of the store, opened for one named reason.
#[derive(Clone)]
pub struct Platform {
    db: Db,
    scope: PlatformScope,
}

impl Db {
    /// Opens a database whose tables are exactly those of `migrations`; older and newer ones are refused.
    pub async fn open(
        address: &DatabaseAddress,
        options: &StoreOptions,
        migrations: &Migrations,
    ) -> Result<Self> {
        migrate::require_current(address, options, migrations).await?;
        let (address, options, health) = (address.clone(), options.clone(), StoreHealth::default());
        run_blocking(move || {
            let engine = match &address {
                DatabaseAddress::Sqlite(path) => Handle::Sqlite(SqlitePool::open(path, &options, &health)?),
                DatabaseAddress::Postgres(place) => {
                    Handle::Postgres(PostgresPool::open(place, &options, &health)?)
                }
            };
            let announcer = Announcer::default();
            Ok(Self(Arc::new(Inner { address, options, health, announcer, engine })))
        })
        .await
    }

    /// The cipher and its keys, for those who destroy some.
    pub fn keyring(&self) -> Result<Arc<dyn Keyring>> {
        self.0.options.keyring.clone().ok_or_else(no_keyring)
    }

    pub fn address(&self) -> &DatabaseAddress {
        &self.0.address
    }

    pub fn engine(&self) -> &'static str {
        self.0.address.engine()
    }

    /// Runs a unit that may write, for one tenant. When it answers `Ok`, what it did is on disk.
    ///
    /// The unit is plain code that can't wait for anything but the database. If the caller goes away while it is
    /// queued, it never runs; once begun, it runs to its end.
    pub fn write<T, E, F>(&self, tenant: TenantId, unit: F) -> impl Future<Output = Result<T, E>> + Send
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let act = erase_types(move |session: &mut UnitSession| unit(&mut Tx { session, tenant }));
        self.submit(UnitScope::Tenant(tenant), Access::Write, act)
    }

    /// Runs a unit that only reads, for one tenant, on a single snapshot.
    pub fn read<T, E, F>(&self, tenant: TenantId, unit: F) -> impl Future<Output = Result<T, E>> + Send
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let act = erase_types(move |session: &mut UnitSession| unit(&mut Tx { session, tenant }));
        self.submit(UnitScope::Tenant(tenant), Access::Read, act)
    }

    /// Work of the installation itself, across tenants, for the reason the scope names.
    pub fn platform(&self, scope: PlatformScope) -> Platform {
        Platform { db: self.clone(), scope }
    }

    /// What units of this process announce from now on, each after its commit. Whoever is too slow is told that some were
    /// dropped.
    pub fn announcements(&self) -> broadcast::Receiver<Announcement> {
        self.0.announcer.subscribe()
    }

    pub(crate) fn options(&self) -> &StoreOptions {
        &self.0.options
    }

    pub(crate) fn health(&self) -> &StoreHealth {
        &self.0.health
    }

    pub(crate) fn sqlite(&self) -> Option<&SqlitePool> {
        match &self.0.engine {
            Handle::Sqlite(engine) => Some(engine),
            Handle::Postgres(_) => None,
        }
    }

    /// Generic in what a unit answers alone; what is generic in the unit itself is compiled hundreds of times.
    async fn submit<T, E>(&self, scope: UnitScope, access: Access, act: UnitBody) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        downcast_answer(self.run_unit(scope, access, act).await)
    }

    fn run_unit(
        &self,
        scope: UnitScope,
        access: Access,
        act: UnitBody,
    ) -> Pin<Box<dyn Future<Output = Result<UnitAnswer>> + Send + '_>> {
        Box::pin(async move {
            refuse_nesting()?;
            let announcer = self.0.announcer.clone();
            let (unit, answer, claim) = UnitOfWork::new((scope, UnitLane::current()), act, announcer);
            self.send(unit, access);
            self.wait(answer, claim).await
        })
    }

    fn send(&self, work: UnitOfWork, access: Access) {
        match (&self.0.engine, access) {
            (Handle::Sqlite(engine), Access::Read) => engine.read(work),
            (Handle::Sqlite(engine), Access::Write) => engine.write(work),
            (Handle::Postgres(engine), Access::Read) => engine.read(work),
            (Handle::Postgres(engine), Access::Write) => engine.write(work),
        }
    }

    /// A unit that has not begun in time is given up; one that has begun is waited for, whatever it takes.
    async fn wait(&self, mut answer: Receiver<Result<UnitAnswer>>, claim: UnitHandle) -> Result<UnitAnswer> {
        let limit = self.0.options.queue_timeout;
        let answered = match tokio::time::timeout(limit, &mut answer).await {
            Ok(answered) => answered,
            Err(_) if claim.abandon() => {
                let waited = limit.as_secs();
                return Err(Error::Busy(format!("waited {waited} s in the queue")));
            }
            Err(_) => answer.await,
        };
        answered.unwrap_or_else(|_| Err(Error::closed()))
    }
}

impl Platform {
    pub fn write<T, E, F>(&self, unit: F) -> impl Future<Output = Result<T, E>> + Send
    where
        F: FnOnce(&mut PlatformTx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let scope = self.scope;
        let act = erase_types(move |session: &mut UnitSession| unit(&mut PlatformTx { session, scope }));
        self.db.submit(UnitScope::Platform(scope), Access::Write, act)
    }

    pub fn read<T, E, F>(&self, unit: F) -> impl Future<Output = Result<T, E>> + Send
    where
        F: FnOnce(&mut PlatformTx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let scope = self.scope;
        let act = erase_types(move |session: &mut UnitSession| unit(&mut PlatformTx { session, scope }));
        self.db.submit(UnitScope::Platform(scope), Access::Read, act)
    }
}

impl std::fmt::Debug for Db {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Db({})", self.0.address)
    }
}

/// Runs blocking work (files, connecting) where it can't hold up the runtime.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    refuse_nesting()?;
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => Err(Error::Panicked(error.to_string())),
    }
}
