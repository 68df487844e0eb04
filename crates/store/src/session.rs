//! The running unit on its thread: the connection it uses, whether a statement failed, what to do after commit.
//!
//! Both engines follow one rule here that only Postgres has by nature: once a statement has failed, the unit
//! can do nothing more and will not commit, unless the failure was inside an `attempt`. So code that passes
//! on SQLite passes on Postgres.

use std::cell::Cell;
use std::sync::Arc;

use munshi_types::{DataKeyId, TenantId};
use uuid::Uuid;

use crate::announcement::Announcement;
use crate::error::{Error, Result};
use crate::row::{EngineRow, Row};
use crate::sealing::{Keyring, no_keyring, require_keyring};
use crate::sql::Sql;
use crate::tx::PlatformScope;
use crate::value::Param;
use crate::{postgres, sqlite};

pub(crate) type CommitHook = Box<dyn FnOnce() + Send>;

/// The connection a thread owns.
pub(crate) enum EngineConnection {
    Sqlite(sqlite::SqliteConnection),
    Postgres(postgres::PostgresConnection),
}

pub(crate) struct UnitSession {
    pub(crate) engine: EngineConnection,
    /// False in a unit that only reads.
    pub(crate) may_write: bool,
    keyring: Option<Arc<dyn Keyring>>,
    /// Run after the commit, in order.
    hooks: Vec<CommitHook>,
    /// What is told to this process after the commit, each once.
    announced: Vec<Announcement>,
    /// A statement of this unit failed outside an `attempt`.
    failed: Option<Error>,
    /// What was found wrong with the database itself, whatever the unit made of it.
    outage: Option<Error>,
    /// A statement changed rows: a commit after it proves that writing works.
    changed: bool,
    /// How many values were sealed or hashed, whether or not they were written.
    protected: Cell<u64>,
    /// How many attempts are open: names their savepoints.
    depth: u32,
    /// Keys that this unit found or gave. Others may know of them after the commit only.
    owner_keys: Vec<(Uuid, DataKeyId)>,
}

impl UnitSession {
    pub(crate) fn new(engine: EngineConnection, keyring: Option<Arc<dyn Keyring>>) -> Self {
        Self {
            engine,
            may_write: true,
            keyring,
            hooks: Vec::new(),
            announced: Vec::new(),
            failed: None,
            outage: None,
            changed: false,
            protected: Cell::new(0),
            depth: 0,
            owner_keys: Vec::new(),
        }
    }

    /// What seals and opens text here.
    pub(crate) fn keyring(&self) -> Result<&dyn Keyring> {
        require_keyring(self.keyring.as_deref())
    }

    pub(crate) fn shared_keyring(&self) -> Result<Arc<dyn Keyring>> {
        self.keyring.clone().ok_or_else(no_keyring)
    }

    pub(crate) fn engine_name(&self) -> &'static str {
        match self.engine {
            EngineConnection::Sqlite(_) => "sqlite",
            EngineConnection::Postgres(_) => "postgres",
        }
    }

    /// Forgets the unit before.
    pub(crate) fn reset(&mut self) {
        self.hooks.clear();
        self.announced.clear();
        self.failed = None;
        self.outage = None;
        self.changed = false;
        self.protected.set(0);
        self.depth = 0;
        self.owner_keys.clear();
    }

    pub(crate) fn find_owner_key(&self, owner: Uuid) -> Option<DataKeyId> {
        self.owner_keys.iter().find(|(known, _)| *known == owner).map(|(_, key)| *key)
    }

    pub(crate) fn remember_owner_key(&mut self, owner: Uuid, key: DataKeyId) {
        self.owner_keys.push((owner, key));
    }

    /// The statement failure this unit went past, if any: it must not commit.
    pub(crate) fn failure(&self) -> Option<&Error> {
        self.failed.as_ref()
    }

    pub(crate) fn outage(&self) -> Option<&Error> {
        self.outage.as_ref()
    }

    pub(crate) fn has_changed_rows(&self) -> bool {
        self.changed
    }

    pub(crate) fn note_protected(&self) {
        self.protected.set(self.protected.get() + 1);
    }

    pub(crate) fn count_protected(&self) -> u64 {
        self.protected.get()
    }

    pub(crate) fn take_hooks(&mut self) -> Vec<CommitHook> {
        std::mem::take(&mut self.hooks)
    }

    pub(crate) fn take_announced(&mut self) -> Vec<Announcement> {
        std::mem::take(&mut self.announced)
    }

    pub(crate) fn announce(&mut self, announcement: Announcement) {
        if !self.announced.contains(&announcement) {
            self.announced.push(announcement);
        }
    }

    pub(crate) fn after_commit(&mut self, hook: CommitHook) {
        self.hooks.push(hook);
    }

    pub(crate) fn execute(
        &mut self,
        sql: Sql,
        first: Option<Param<'_>>,
        params: &[Param<'_>],
    ) -> Result<u64> {
        self.validate_params(params)?;
        let outcome = match &mut self.engine {
            EngineConnection::Sqlite(connection) => connection.execute(sql.sqlite, first, params),
            EngineConnection::Postgres(connection) => connection.execute(sql.postgres, first, params),
        };
        self.changed |= matches!(outcome, Ok(rows) if rows > 0);
        self.record_outcome(outcome)
    }

    pub(crate) fn execute_pipelined(
        &mut self,
        sql: Sql,
        first: Option<Param<'_>>,
        params: &[Param<'_>],
    ) -> Result<()> {
        self.validate_params(params)?;
        let outcome = match &mut self.engine {
            EngineConnection::Sqlite(connection) => {
                connection.execute(sql.sqlite, first, params).map(|rows| rows > 0)
            }
            // It would be dropped unseen with the transaction.
            EngineConnection::Postgres(_) if !self.may_write => Err(read_only_error()),
            // Whether it changes any is not known yet; what is sent is there to do so.
            EngineConnection::Postgres(connection) => {
                connection.execute_pipelined(sql.postgres, first, params).map(|()| true)
            }
        };
        self.changed |= matches!(outcome, Ok(true));
        self.record_outcome(outcome).map(drop)
    }

    pub(crate) fn query<T>(
        &mut self,
        sql: Sql,
        first: Option<Param<'_>>,
        params: &[Param<'_>],
        mut map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.validate_params(params)?;
        let mut rows = Vec::new();
        let (keyring, tenant) = (self.keyring.as_deref(), tenant_of(first));
        let mut each = |row: EngineRow<'_>| {
            rows.push(map(&Row { engine: row, tenant, keyring })?);
            Ok(())
        };
        let outcome = match &mut self.engine {
            EngineConnection::Sqlite(connection) => connection.query(sql.sqlite, first, params, &mut each),
            EngineConnection::Postgres(connection) => {
                connection.query(sql.postgres, first, params, &mut each)
            }
        };
        self.record_outcome(outcome).map(|()| rows)
    }

    pub(crate) fn attempt<T, E: From<Error>>(
        &mut self,
        try_it: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.validate_params(&[])?;
        let (hooks_before, keys_before) = (self.hooks.len(), self.owner_keys.len());
        let announced_before = self.announced.len();
        let name = format!("attempt_{}", self.depth);
        self.run_command(&format!("SAVEPOINT {name}"))?;
        self.depth += 1;
        let outcome = try_it(self);
        if outcome.is_ok() {
            self.flush();
        }
        self.depth -= 1;
        let failure = self.failed.take();
        if outcome.is_ok() && failure.is_none() {
            self.run_command(&format!("RELEASE SAVEPOINT {name}"))?;
            return outcome;
        }
        self.hooks.truncate(hooks_before);
        self.announced.truncate(announced_before);
        self.owner_keys.truncate(keys_before);
        if let EngineConnection::Postgres(connection) = &mut self.engine {
            connection.discard_pipelined();
        }
        self.run_command(&format!("ROLLBACK TO SAVEPOINT {name}"))?;
        self.run_command(&format!("RELEASE SAVEPOINT {name}"))?;
        outcome.and_then(|_| Err(failure.unwrap_or_else(Error::closed).into()))
    }

    /// From here the statements of this transaction are one tenant's, and the platform scope is closed.
    pub(crate) fn enter_tenant(&mut self, tenant: TenantId) -> Result<()> {
        self.validate_params(&[])?;
        if matches!(self.engine, EngineConnection::Postgres(_)) {
            self.run_command(&format!("SET LOCAL app.tenant_id = '{tenant}'; SET LOCAL app.door = ''"))?;
        }
        Ok(())
    }

    pub(crate) fn leave_tenant(&mut self, scope: PlatformScope) -> Result<()> {
        if matches!(self.engine, EngineConnection::Postgres(_)) && self.failed.is_none() {
            self.run_command(&format!(
                "SET LOCAL app.tenant_id = ''; SET LOCAL app.door = '{}'",
                scope.name()
            ))?;
        }
        Ok(())
    }

    /// What was sent inside an attempt fails inside it.
    fn flush(&mut self) {
        if let EngineConnection::Postgres(connection) = &mut self.engine
            && self.failed.is_none()
        {
            let outcome = connection.flush();
            // Kept as the unit's failure.
            let _noted = self.record_outcome(outcome);
        }
    }

    fn run_command(&mut self, text: &str) -> Result<()> {
        let outcome = match &mut self.engine {
            EngineConnection::Sqlite(connection) => connection.run_command(text),
            EngineConnection::Postgres(connection) => connection.run_command(text),
        };
        self.record_outcome(outcome)
    }

    /// Refuses what would behave differently on the two engines before either sees it.
    fn validate_params(&self, params: &[Param<'_>]) -> Result<()> {
        if let Some(failure) = &self.failed {
            let advice = "use `attempt` around what may fail";
            return Err(Error::Misuse(format!(
                "an earlier statement of this unit failed ({failure}), so it can't go on: {advice}"
            )));
        }
        params.iter().try_for_each(|param| match param {
            Param::Text(text) if text.contains('\0') => {
                Err(Error::Refused("text can't contain a NUL character".to_owned()))
            }
            Param::Real(value) if !value.is_finite() => {
                Err(Error::Refused(format!("{value} can't be stored in a numeric column")))
            }
            Param::Vector(values) if values.iter().any(|value| !value.is_finite()) => {
                Err(Error::Refused("a vector contains a value that is not a number".to_owned()))
            }
            _ => Ok(()),
        })
    }

    /// Remembers a failed statement. A row that could not be mapped, or a value refused by `validate_params`, is not one.
    fn record_outcome<T>(&mut self, outcome: Result<T>) -> Result<T> {
        match &outcome {
            Ok(_) => {}
            Err(error) if error.is_unreadable() || error.is_without_keys() => {}
            Err(error) => {
                self.failed = Some(error.clone());
                if error.is_ailing_store() {
                    self.outage = Some(error.clone());
                }
            }
        }
        outcome
    }
}

/// Whose unit binds this as its `$1`.
fn tenant_of(first: Option<Param<'_>>) -> Option<TenantId> {
    match first {
        Some(Param::Uuid(tenant)) => Some(TenantId::from_uuid(tenant)),
        _ => None,
    }
}

pub(crate) fn read_only_error() -> Error {
    Error::Misuse("a read-only unit of work tried to write".to_owned())
}
