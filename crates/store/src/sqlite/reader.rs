//! A reader thread: one snapshot per unit, on a connection that can't write.

use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;

use super::connection::Connection;
use crate::error::Result;
use crate::health::Health;
use crate::meter::Meter;
use crate::options::Options;
use crate::session::{Engine, Session};
use crate::unit::{Unit, Verdict};

pub(crate) struct Reader {
    session: Session,
    queue: Receiver<Unit>,
    time: Duration,
    health: Health,
    meter: Meter,
}

impl Reader {
    pub(crate) fn new(
        mut connection: Connection,
        queue: Receiver<Unit>,
        options: &Options,
        health: &Health,
    ) -> Result<Self> {
        connection.watch_time()?;
        let session = Session::new(Engine::Sqlite(connection));
        let meter = Meter::new("sqlite", "read");
        Ok(Self { session, queue, time: options.statement_timeout, health: health.clone(), meter })
    }

    pub(crate) fn run(mut self) {
        while let Ok(mut work) = self.queue.recv() {
            if !work.claim() {
                continue;
            }
            let outcome = self.one(&mut work);
            match &outcome {
                Ok(()) => self.meter.committed(1),
                Err(error) => self.meter.failed(error),
            }
            if let Some(error) = outcome.as_ref().err().or(self.session.outage()) {
                self.health.failed(error);
            }
            work.settle(outcome);
        }
    }

    fn one(&mut self, work: &mut Unit) -> Result<()> {
        let connection = connection_of(&mut self.session)?;
        connection.allow(Instant::now(), self.time);
        connection.begin("BEGIN")?;
        let verdict = work.run(&mut self.session);
        let connection = connection_of(&mut self.session)?;
        connection.allow_all();
        match verdict {
            Verdict::Commit => connection.commit(),
            // The closure's own error is the answer; there is nothing to undo in a snapshot.
            Verdict::RollBack => connection.roll_back(),
        }
    }
}

/// The session of these threads always holds a SQLite connection; the other arm can't be reached.
pub(crate) fn connection_of(session: &mut Session) -> Result<&mut Connection> {
    match &mut session.engine {
        Engine::Sqlite(connection) => Ok(connection),
        Engine::Postgres(_) => {
            Err(crate::error::Error::Misuse("a SQLite thread holds a Postgres session".to_owned()))
        }
    }
}
