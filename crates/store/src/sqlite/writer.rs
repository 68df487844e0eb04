//! The one writer: units that wait together share a transaction and one fsync.
//!
//! Each unit but the first runs in a savepoint, so one that fails or panics is undone alone. Nobody is answered
//! before the commit is on disk: not even a unit that failed, since what it saw of its neighbours may yet vanish.
//!
//! Callers that are answered together come back together, but not in the same microsecond. On a disk where a commit
//! takes long, the writer gives them a moment before it commits for the first of them alone.
//!
//! One thing a unit can't do alone: a write that has to be stopped for taking too long makes SQLite undo the whole
//! transaction. Its neighbours are then told to try again.

use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;

use super::checkpointer::CheckpointSignal;
use super::connection::SqliteConnection;
use super::reader::connection_of;
use crate::error::{Error, Result};
use crate::health::StoreHealth;
use crate::meter::StoreMeter;
use crate::options::StoreOptions;
use crate::session::{EngineConnection, UnitSession};
use crate::unit::{UnitOfWork, UnitVerdict};

/// A group ends at this many units or this much time, so that nobody waits long for strangers.
const GROUP_UNITS: usize = 256;
const GROUP_TIME: Duration = Duration::from_millis(5);

/// The moment is this part of the last commit's time; less than the shortest is not worth going to sleep for.
const PATIENCE_SHARE: u32 = 8;
const SHORTEST_PATIENCE: Duration = Duration::from_micros(100);

/// What neighbours of a unit that had to be stopped are told.
const UNDONE: &str = "rolled back because another unit of work took too long: try again";

pub(crate) struct SqliteWriter {
    session: UnitSession,
    queue: Receiver<UnitOfWork>,
    bell: CheckpointSignal,
    time: Duration,
    health: StoreHealth,
    meter: StoreMeter,
    /// Units that have run and wait for the commit, and how many of them have something to commit.
    group: Vec<UnitOfWork>,
    kept: usize,
    /// How many the last group had, and how long its commit took: what to expect of this one.
    companions: usize,
    commit_took: Duration,
    /// Some unit of the group changed rows, so that its commit proves that writing works.
    changed: bool,
}

impl SqliteWriter {
    pub(crate) fn new(
        mut connection: SqliteConnection,
        queue: Receiver<UnitOfWork>,
        bell: CheckpointSignal,
        (options, health): (&StoreOptions, &StoreHealth),
    ) -> Result<Self> {
        connection.enforce_deadline()?;
        let session = UnitSession::new(EngineConnection::Sqlite(connection), options.keyring.clone());
        let meter = StoreMeter::new("sqlite", "write");
        let group = Vec::with_capacity(GROUP_UNITS);
        Ok(Self {
            session,
            queue,
            bell,
            time: options.statement_timeout,
            health: health.clone(),
            meter,
            group,
            kept: 0,
            companions: 1,
            commit_took: Duration::ZERO,
            changed: false,
        })
    }

    pub(crate) fn run(mut self) {
        while let Ok(first) = self.queue.recv() {
            let outcome = self.run_group(first).and_then(|()| self.commit());
            self.answer(&outcome);
        }
    }

    /// Runs the first unit and those that wait behind it, in one open transaction.
    fn run_group(&mut self, first: UnitOfWork) -> Result<()> {
        let began = Instant::now();
        let (mut now, mut next) = (began, Some(first));
        while let Some(mut work) = next.take() {
            if work.claim() {
                let outcome = self.run_in_group(&mut work, now);
                self.group.push(work);
                outcome?;
            }
            now = Instant::now();
            if self.group.len() < GROUP_UNITS && now < began + GROUP_TIME {
                next = self.queue.try_recv().ok().or_else(|| self.wait(began));
            }
        }
        Ok(())
    }

    /// Waits for one of the callers that were answered last, when a commit without them would cost more.
    fn wait(&self, began: Instant) -> Option<UnitOfWork> {
        let patience = (self.commit_took / PATIENCE_SHARE).min(GROUP_TIME);
        if self.group.len() >= self.companions || patience < SHORTEST_PATIENCE {
            return None;
        }
        self.queue.recv_deadline(began + patience).ok()
    }

    /// Runs one unit in the group's transaction. An error is the group's: the transaction is gone.
    fn run_in_group(&mut self, work: &mut UnitOfWork, now: Instant) -> Result<()> {
        let time = self.time;
        let connection = connection_of(&mut self.session)?;
        connection.set_deadline(now, time);
        let alone = connection.raw.is_autocommit();
        if alone {
            connection.begin("BEGIN IMMEDIATE")?;
        } else {
            connection.run_command("SAVEPOINT unit")?;
        }
        let verdict = work.run(&mut self.session);
        self.record_verdict(verdict);
        let connection = connection_of(&mut self.session)?;
        if let Some(reason) = connection.loss() {
            return Err(reason.clone());
        }
        connection.clear_deadline();
        match (verdict, alone) {
            (UnitVerdict::Commit, true) => Ok(()),
            (UnitVerdict::Commit, false) => connection.run_command("RELEASE SAVEPOINT unit"),
            (UnitVerdict::RollBack, true) => connection.roll_back(),
            (UnitVerdict::RollBack, false) => {
                connection.run_command("ROLLBACK TO SAVEPOINT unit")?;
                connection.run_command("RELEASE SAVEPOINT unit")
            }
        }
    }

    /// Takes note of what one unit did.
    fn record_verdict(&mut self, verdict: UnitVerdict) {
        if let Some(error) = self.session.outage() {
            self.health.record_failure(error);
        }
        match verdict {
            UnitVerdict::Commit => {
                self.kept += 1;
                self.changed |= self.session.has_changed_rows();
            }
            UnitVerdict::RollBack => self.meter.record_rollback(),
        }
    }

    fn commit(&mut self) -> Result<()> {
        let connection = connection_of(&mut self.session)?;
        if connection.raw.is_autocommit() {
            return Ok(());
        }
        let began = Instant::now();
        connection.clear_deadline();
        connection.commit()?;
        self.commit_took = began.elapsed();
        self.meter.record_group(self.group.len(), self.commit_took);
        Ok(())
    }

    fn answer(&mut self, outcome: &Result<()>) {
        match outcome {
            Ok(()) => {
                self.meter.record_commits(self.kept);
                if self.changed {
                    self.health.record_success();
                    self.bell.notify();
                }
            }
            Err(error) => {
                self.meter.record_failure(error);
                self.health.record_failure(error);
                if let Err(error) = connection_of(&mut self.session).and_then(SqliteConnection::roll_back) {
                    tracing::error!(%error, "rollback failed");
                }
            }
        }
        (self.kept, self.changed) = (0, false);
        self.companions = self.group.len();
        let last = self.group.len().saturating_sub(1);
        for (place, work) in self.group.drain(..).enumerate() {
            work.settle(match outcome {
                Err(Error::Busy(_)) if place < last => Err(Error::Busy(UNDONE.to_owned())),
                outcome => outcome.clone(),
            });
        }
    }
}
