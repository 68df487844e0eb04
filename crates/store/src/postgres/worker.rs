//! A thread that owns one connection and runs units on it: a transaction each, or one for those that write to the same
//! tenant and wait together. Then each runs in a savepoint, so that one that fails or panics is undone alone, and nobody
//! is answered before the commit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::connection::{Connection, Login};
use super::queue::{Access, Queue, Task};
use crate::address::PostgresAddress;
use crate::error::{Error, Result};
use crate::health::Health;
use crate::meter::Meter;
use crate::options::Options;
use crate::session::{Engine, Session};
use crate::unit::{Scope, Verdict, Work};

/// A group ends at this many units or this much time, so that nobody waits long for strangers. A server keeps up to 64
/// savepoints of a transaction at hand.
const GROUP_UNITS: usize = 32;
const GROUP_TIME: Duration = Duration::from_millis(10);

pub(crate) struct Worker {
    address: PostgresAddress,
    options: Options,
    queue: Arc<Queue>,
    health: Health,
    /// None until there is work, and after the connection broke.
    session: Option<Session>,
    reads: Meter,
    writes: Meter,
}

/// Units that have run and wait for the commit.
#[derive(Default)]
struct Group {
    works: Vec<Box<dyn Work>>,
    /// How many of them have something to commit.
    kept: usize,
    /// One changed rows: a commit after it proves that writing works.
    changed: bool,
}

impl Worker {
    pub(crate) fn new(
        address: PostgresAddress,
        options: Options,
        queue: Arc<Queue>,
        health: Health,
        connection: Option<Connection>,
    ) -> Self {
        let session = connection.map(|connection| Session::new(Engine::Postgres(connection)));
        let (reads, writes) = (Meter::new("postgres", "read"), Meter::new("postgres", "write"));
        Self { address, options, queue, health, session, reads, writes }
    }

    pub(crate) fn run(mut self) {
        while let Some(Task { work, access }) = self.queue.take() {
            let scope = work.scope();
            match access {
                Access::Read => self.read(work),
                Access::Write => {
                    self.write(work, scope);
                    if let Scope::Tenant(tenant) = scope {
                        self.queue.leave(tenant);
                    }
                }
            }
        }
    }

    /// Whoever only reads is answered before the transaction ends: nothing of it can be lost.
    fn read(&mut self, mut work: Box<dyn Work>) {
        if !work.claim() {
            return;
        }
        let mut session = match self.begin(work.scope(), Access::Read) {
            Ok(session) => session,
            Err(error) => {
                self.reads.failed(&error);
                self.health.failed(&error);
                return work.settle(Err(error));
            }
        };
        match work.run(&mut session) {
            Verdict::Commit => self.reads.committed(1),
            Verdict::RollBack => self.reads.rolled_back(),
        }
        if let Some(error) = session.outage() {
            self.health.failed(error);
        }
        work.settle(Ok(()));
        if let Err(error) = connection_of(&mut session).and_then(Connection::roll_back) {
            tracing::debug!(%error, "a transaction that only read did not end");
        }
        self.put_back(session);
    }

    fn write(&mut self, first: Box<dyn Work>, scope: Scope) {
        let mut group = Group::default();
        let outcome = self.gather(first, scope, &mut group);
        match &outcome {
            Ok(()) => {
                self.writes.committed(group.kept);
                if group.changed {
                    self.health.wrote();
                }
            }
            Err(error) => {
                self.writes.failed(error);
                self.health.failed(error);
            }
        }
        group.works.into_iter().for_each(|work| work.settle(outcome.clone()));
    }

    /// Runs the first unit and those that wait behind it in one transaction, and commits it.
    fn gather(&mut self, first: Box<dyn Work>, scope: Scope, group: &mut Group) -> Result<()> {
        if !first.claim() {
            return Ok(());
        }
        let mut session = match self.begin(scope, Access::Write) {
            Ok(session) => session,
            Err(error) => {
                group.works.push(first);
                return Err(error);
            }
        };
        let together = matches!(scope, Scope::Tenant(tenant) if self.queue.has_company(tenant));
        session.share(together);
        let (began, mut next, mut outcome) = (Instant::now(), Some(first), Ok(()));
        while let Some(mut work) = next.take() {
            outcome = self.include(&mut session, work.as_mut(), together, group);
            group.works.push(work);
            if outcome.is_ok() && together && group.works.len() < GROUP_UNITS && began.elapsed() < GROUP_TIME
            {
                next = self.companion(scope);
            }
        }
        let outcome = outcome.and_then(|()| self.end(&mut session, group));
        self.put_back(session);
        outcome
    }

    fn companion(&self, scope: Scope) -> Option<Box<dyn Work>> {
        let Scope::Tenant(tenant) = scope else { return None };
        std::iter::from_fn(|| self.queue.companion(tenant)).find(|work| work.claim())
    }

    /// Runs one unit in the group's transaction. An error is the group's: the transaction is gone.
    fn include(
        &self,
        session: &mut Session,
        work: &mut dyn Work,
        together: bool,
        group: &mut Group,
    ) -> Result<()> {
        if together {
            connection_of(session)?.save();
        }
        let verdict = work.run(session);
        if let Some(error) = session.outage() {
            self.health.failed(error);
            if connection_of(session)?.is_closed() {
                return Err(session.outage().cloned().unwrap_or_else(Error::closed));
            }
        }
        let connection = connection_of(session)?;
        match verdict {
            Verdict::Commit => {
                if together {
                    connection.release();
                }
                group.kept += 1;
                group.changed |= session.has_changed_rows();
            }
            Verdict::RollBack => {
                self.writes.rolled_back();
                if together {
                    connection.undo();
                }
            }
        }
        Ok(())
    }

    /// Opens the transaction. A connection that died while idle is noticed here, before anything ran, and replaced.
    fn begin(&mut self, scope: Scope, access: Access) -> Result<Session> {
        let text = opening(scope, access);
        if let Some(mut session) = self.session.take() {
            match connection_of(&mut session)?.begin(text.clone()) {
                Ok(()) => {
                    session.share(false);
                    return Ok(session);
                }
                Err(Error::Unavailable { .. }) => {
                    tracing::warn!("the Postgres connection was lost; reconnecting");
                }
                Err(error) => return Err(error),
            }
        }
        let mut connection = Connection::open(&self.address, &self.options, Login::App)?;
        connection.begin(text)?;
        Ok(Session::new(Engine::Postgres(connection)))
    }

    fn end(&self, session: &mut Session, group: &Group) -> Result<()> {
        let connection = connection_of(session)?;
        if group.kept == 0 {
            // The closures' own errors are the answer; a line that broke has rolled back by itself.
            if let Err(error) = connection.roll_back() {
                tracing::debug!(%error, "rolling back failed");
            }
            return Ok(());
        }
        let began = Instant::now();
        let outcome = connection.command("COMMIT");
        self.writes.group(group.works.len(), began.elapsed());
        match outcome {
            // The word may have reached the server before the line broke.
            Err(Error::Unavailable { .. }) => Err(Error::OutcomeUnknown),
            // Everything was said to be well before, so the server has not committed.
            other => other,
        }
    }

    fn put_back(&mut self, mut session: Session) {
        if connection_of(&mut session).is_ok_and(|connection| !connection.has_ended()) {
            self.session = Some(session);
        }
    }
}

fn opening(scope: Scope, access: Access) -> String {
    let begin = match access {
        Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        Access::Write => "BEGIN",
    };
    match scope {
        Scope::Tenant(tenant) => format!("{begin}; SET LOCAL app.tenant_id = '{tenant}'"),
        Scope::Platform(door) => format!("{begin}; SET LOCAL app.door = '{}'", door.name()),
    }
}

fn connection_of(session: &mut Session) -> Result<&mut Connection> {
    match &mut session.engine {
        Engine::Postgres(connection) => Ok(connection),
        Engine::Sqlite(_) => Err(Error::Misuse("a Postgres thread holds a SQLite session".to_owned())),
    }
}
