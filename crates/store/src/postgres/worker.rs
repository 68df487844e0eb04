//! A thread that owns one connection and runs units on it, one transaction each.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::connection::{PostgresConnection, PostgresLogin};
use super::queue::{PostgresQueue, UnitAccess};
use crate::address::PostgresAddress;
use crate::error::{Error, Result};
use crate::health::StoreHealth;
use crate::meter::StoreMeter;
use crate::options::StoreOptions;
use crate::session::{EngineConnection, UnitSession};
use crate::unit::{UnitOfWork, UnitScope, UnitVerdict};

/// Where a thread gets its work.
pub(crate) struct WorkerSlot {
    pub(crate) queue: Arc<PostgresQueue>,
    /// Of the thread.
    pub(crate) number: usize,
}

pub(crate) struct PostgresWorker {
    address: PostgresAddress,
    options: StoreOptions,
    place: WorkerSlot,
    health: StoreHealth,
    /// None until there is work, and after the connection broke.
    session: Option<UnitSession>,
    reads: StoreMeter,
    writes: StoreMeter,
}

impl PostgresWorker {
    pub(crate) fn new(
        address: PostgresAddress,
        options: StoreOptions,
        place: WorkerSlot,
        health: StoreHealth,
        connection: Option<PostgresConnection>,
    ) -> Self {
        let session = connection.map(|connection| {
            UnitSession::new(EngineConnection::Postgres(connection), options.keyring.clone())
        });
        let (reads, writes) = (StoreMeter::new("postgres", "read"), StoreMeter::new("postgres", "write"));
        Self { address, options, place, health, session, reads, writes }
    }

    pub(crate) fn run(mut self) {
        let queue = Arc::clone(&self.place.queue);
        while let Some((task, _guard)) = queue.pop(self.place.number) {
            let done = catch_unwind(AssertUnwindSafe(|| match task.access {
                UnitAccess::Read => self.read(task.work),
                UnitAccess::Write => self.write(task.work),
            }));
            if done.is_err() {
                // Such as what a unit answered with, when it is dropped. The connection, if it was out, went with it.
                tracing::error!("panic while returning the result of a unit of work");
            }
        }
    }

    /// Whoever only reads is answered before the transaction ends: nothing of it can be lost.
    fn read(&mut self, mut work: UnitOfWork) {
        if !work.claim() {
            return;
        }
        let mut session = match self.begin(work.scope(), UnitAccess::Read) {
            Ok(session) => session,
            Err(error) => {
                self.reads.record_failure(&error);
                self.health.record_failure(&error);
                return work.settle(Err(error));
            }
        };
        match work.run(&mut session) {
            UnitVerdict::Commit => self.reads.record_commits(1),
            UnitVerdict::RollBack => self.reads.record_rollback(),
        }
        if let Some(error) = session.outage() {
            self.health.record_failure(error);
        }
        work.settle(Ok(()));
        if let Err(error) = connection_of(&mut session).and_then(PostgresConnection::roll_back) {
            tracing::debug!(%error, "ending a read-only transaction failed");
        }
        self.return_session(session);
    }

    fn write(&mut self, mut work: UnitOfWork) {
        if !work.claim() {
            return;
        }
        let outcome = self.run_and_commit(&mut work);
        if let Err(error) = &outcome {
            self.writes.record_failure(error);
            self.health.record_failure(error);
        }
        work.settle(outcome);
    }

    fn run_and_commit(&mut self, work: &mut UnitOfWork) -> Result<()> {
        let mut session = self.begin(work.scope(), UnitAccess::Write)?;
        let verdict = work.run(&mut session);
        if let Some(error) = session.outage() {
            self.health.record_failure(error);
        }
        let outcome = self.end(&mut session, verdict);
        if outcome.is_ok() && verdict == UnitVerdict::Commit {
            self.writes.record_commits(1);
            if session.has_changed_rows() {
                self.health.record_success();
            }
        }
        self.return_session(session);
        outcome
    }

    /// Opens the transaction. A connection that died while idle is noticed here, before anything ran, and replaced.
    fn begin(&mut self, scope: UnitScope, access: UnitAccess) -> Result<UnitSession> {
        let text = render_begin(scope, access);
        if let Some(mut session) = self.session.take() {
            session.may_write = access == UnitAccess::Write;
            match connection_of(&mut session)?.begin(text.clone()) {
                Ok(()) => return Ok(session),
                Err(Error::Unavailable { .. }) => {
                    tracing::warn!("Postgres connection lost; reconnecting");
                }
                Err(error) => return Err(error),
            }
        }
        let mut connection = PostgresConnection::open(&self.address, &self.options, PostgresLogin::App)?;
        connection.begin(text)?;
        let keyring = self.options.keyring.clone();
        let mut session = UnitSession::new(EngineConnection::Postgres(connection), keyring);
        session.may_write = access == UnitAccess::Write;
        Ok(session)
    }

    fn end(&self, session: &mut UnitSession, verdict: UnitVerdict) -> Result<()> {
        let connection = connection_of(session)?;
        if verdict == UnitVerdict::RollBack {
            self.writes.record_rollback();
            // The closure's own error is the answer; a line that broke has rolled back by itself.
            if let Err(error) = connection.roll_back() {
                tracing::debug!(%error, "rollback failed");
            }
            return Ok(());
        }
        let began = Instant::now();
        let outcome = connection.commit();
        self.writes.record_group(1, began.elapsed());
        outcome
    }

    fn return_session(&mut self, mut session: UnitSession) {
        if connection_of(&mut session).is_ok_and(|connection| !connection.has_ended()) {
            self.session = Some(session);
        }
    }
}

fn render_begin(scope: UnitScope, access: UnitAccess) -> String {
    let begin = match access {
        UnitAccess::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        UnitAccess::Write => "BEGIN",
    };
    match scope {
        UnitScope::Tenant(tenant) => format!("{begin}; SET LOCAL app.tenant_id = '{tenant}'"),
        UnitScope::Platform(scope) => format!("{begin}; SET LOCAL app.door = '{}'", scope.name()),
    }
}

fn connection_of(session: &mut UnitSession) -> Result<&mut PostgresConnection> {
    match &mut session.engine {
        EngineConnection::Postgres(connection) => Ok(connection),
        EngineConnection::Sqlite(_) => {
            Err(Error::Misuse("a Postgres thread holds a SQLite session".to_owned()))
        }
    }
}
