//! A reader thread: one snapshot per unit, on a connection that can't write.

use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;

use super::connection::SqliteConnection;
use crate::error::Result;
use crate::health::StoreHealth;
use crate::meter::StoreMeter;
use crate::options::StoreOptions;
use crate::session::{EngineConnection, UnitSession};
use crate::unit::{UnitOfWork, UnitVerdict};

pub(crate) struct SqliteReader {
    session: UnitSession,
    queue: Receiver<UnitOfWork>,
    time: Duration,
    health: StoreHealth,
    meter: StoreMeter,
}

impl SqliteReader {
    pub(crate) fn new(
        mut connection: SqliteConnection,
        queue: Receiver<UnitOfWork>,
        options: &StoreOptions,
        health: &StoreHealth,
    ) -> Result<Self> {
        connection.enforce_deadline()?;
        let session = UnitSession::new(EngineConnection::Sqlite(connection), options.keyring.clone());
        let meter = StoreMeter::new("sqlite", "read");
        Ok(Self { session, queue, time: options.statement_timeout, health: health.clone(), meter })
    }

    pub(crate) fn run(mut self) {
        while let Ok(mut work) = self.queue.recv() {
            if !work.claim() {
                continue;
            }
            let outcome = self.run_unit(&mut work);
            match &outcome {
                Ok(()) => self.meter.record_commits(1),
                Err(error) => self.meter.record_failure(error),
            }
            if let Some(error) = outcome.as_ref().err().or(self.session.outage()) {
                self.health.record_failure(error);
            }
            work.settle(outcome);
        }
    }

    fn run_unit(&mut self, work: &mut UnitOfWork) -> Result<()> {
        let connection = connection_of(&mut self.session)?;
        connection.set_deadline(Instant::now(), self.time);
        connection.begin("BEGIN")?;
        let verdict = work.run(&mut self.session);
        let connection = connection_of(&mut self.session)?;
        connection.clear_deadline();
        match verdict {
            UnitVerdict::Commit => connection.commit(),
            // The closure's own error is the answer; there is nothing to undo in a snapshot.
            UnitVerdict::RollBack => connection.roll_back(),
        }
    }
}

/// The session of these threads always holds a SQLite connection; the other arm can't be reached.
pub(crate) fn connection_of(session: &mut UnitSession) -> Result<&mut SqliteConnection> {
    match &mut session.engine {
        EngineConnection::Sqlite(connection) => Ok(connection),
        EngineConnection::Postgres(_) => {
            Err(crate::error::Error::Misuse("a SQLite thread holds a Postgres session".to_owned()))
        }
    }
}
