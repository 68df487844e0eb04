//! A thread that owns one connection and runs units on it, one transaction each.

use std::time::Instant;

use crossbeam_channel::Receiver;

use super::connection::{Connection, Login};
use crate::address::PostgresAddress;
use crate::error::{Error, Result};
use crate::health::Health;
use crate::meter::Meter;
use crate::options::Options;
use crate::session::{Engine, Session};
use crate::unit::{Scope, Verdict, Work};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

pub(crate) struct Task {
    pub(crate) work: Box<dyn Work>,
    pub(crate) access: Access,
}

pub(crate) struct Worker {
    address: PostgresAddress,
    options: Options,
    tasks: Receiver<Task>,
    health: Health,
    /// None until there is work, and after the connection broke.
    session: Option<Session>,
    reads: Meter,
    writes: Meter,
}

impl Worker {
    pub(crate) fn new(
        address: PostgresAddress,
        options: Options,
        tasks: Receiver<Task>,
        health: Health,
        connection: Option<Connection>,
    ) -> Self {
        let session = connection.map(|connection| Session::new(Engine::Postgres(connection)));
        let (reads, writes) = (Meter::new("postgres", "read"), Meter::new("postgres", "write"));
        Self { address, options, tasks, health, session, reads, writes }
    }

    pub(crate) fn run(mut self) {
        while let Ok(Task { mut work, access }) = self.tasks.recv() {
            if !work.claim() {
                continue;
            }
            let outcome = self.one(work.as_mut(), access);
            let meter = if access == Access::Read { &self.reads } else { &self.writes };
            match &outcome {
                Ok(Verdict::Commit) => meter.committed(1),
                Ok(Verdict::RollBack) => meter.rolled_back(),
                Err(error) => meter.failed(error),
            }
            if let Err(error) = &outcome {
                self.health.failed(error);
            }
            work.settle(outcome.map(|_| ()));
        }
    }

    fn one(&mut self, work: &mut dyn Work, access: Access) -> Result<Verdict> {
        let mut session = self.begin(work.scope(), access)?;
        let verdict = work.run(&mut session);
        if let Some(error) = session.outage() {
            self.health.failed(error);
        }
        let outcome = self.end(&mut session, verdict, access);
        if outcome.is_ok() && verdict == Verdict::Commit && session.has_changed_rows() {
            self.health.wrote();
        }
        if !connection_of(&mut session)?.is_closed() {
            self.session = Some(session);
        }
        outcome.map(|()| verdict)
    }

    /// Opens the transaction. A connection that died while idle is noticed here, before anything ran, and replaced.
    fn begin(&mut self, scope: Scope, access: Access) -> Result<Session> {
        let text = opening(scope, access);
        if let Some(mut session) = self.session.take() {
            match connection_of(&mut session)?.command(&text) {
                Ok(()) => return Ok(session),
                Err(Error::Unavailable { .. }) => {
                    tracing::warn!("the Postgres connection was lost; reconnecting");
                }
                Err(error) => return Err(error),
            }
        }
        let mut connection = Connection::open(&self.address, &self.options, Login::App)?;
        connection.command(&text)?;
        Ok(Session::new(Engine::Postgres(connection)))
    }

    fn end(&self, session: &mut Session, verdict: Verdict, access: Access) -> Result<()> {
        let connection = connection_of(session)?;
        match verdict {
            Verdict::RollBack => {
                // The closure's own error is the answer; a line that broke has rolled back by itself.
                if let Err(error) = connection.command("ROLLBACK") {
                    tracing::debug!(%error, "rolling back failed");
                }
                Ok(())
            }
            Verdict::Commit => {
                let began = Instant::now();
                let outcome = connection.command("COMMIT");
                self.writes.group(1, began.elapsed());
                match outcome {
                    // The word may have reached the server before the line broke.
                    Err(Error::Unavailable { .. }) if access == Access::Write => Err(Error::OutcomeUnknown),
                    other => other,
                }
            }
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
