//! The way in to the Postgres threads, and their end.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::connection::{PostgresConnection, PostgresLogin};
use super::queue::{PostgresQueue, QueuedUnit, UnitAccess};
use super::worker::{PostgresWorker, WorkerSlot};
use crate::address::PostgresAddress;
use crate::error::Result;
use crate::health::StoreHealth;
use crate::options::StoreOptions;
use crate::threads::{join, queue_full_error, start};
use crate::unit::UnitOfWork;

/// The pool. Dropping it lets queued units finish, then ends the threads.
pub(crate) struct PostgresPool {
    queue: Arc<PostgresQueue>,
    threads: Vec<JoinHandle<()>>,
}

impl PostgresPool {
    /// Connects once, so that a wrong address is said at once; the other threads connect when they get work.
    pub(crate) fn open(
        address: &PostgresAddress,
        options: &StoreOptions,
        health: &StoreHealth,
    ) -> Result<Self> {
        let mut first = Some(PostgresConnection::open(address, options, PostgresLogin::App)?);
        // Made before its threads: where one can't start, dropping it ends those that did.
        let count = options.connections.max(1);
        let mut pool = Self { queue: Arc::new(PostgresQueue::new(count)), threads: Vec::new() };
        for number in 0..count {
            let place = WorkerSlot { queue: pool.queue.clone(), number };
            let worker =
                PostgresWorker::new(address.clone(), options.clone(), place, health.clone(), first.take());
            pool.threads.push(start(format!("store-pg-{number}"), move || worker.run())?);
        }
        Ok(pool)
    }

    pub(crate) fn write(&self, work: UnitOfWork) {
        self.submit(QueuedUnit { work, access: UnitAccess::Write });
    }

    pub(crate) fn read(&self, work: UnitOfWork) {
        self.submit(QueuedUnit { work, access: UnitAccess::Read });
    }

    fn submit(&self, task: QueuedUnit) {
        if let Err(work) = self.queue.push(task) {
            work.settle(Err(queue_full_error()));
        }
    }
}

impl Drop for PostgresPool {
    fn drop(&mut self) {
        self.queue.close();
        join(&mut self.threads);
    }
}
