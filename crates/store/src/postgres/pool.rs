//! The way in to the Postgres threads, and their end.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::connection::{Connection, Login};
use super::queue::{Access, Queue, Task};
use super::worker::{Place, Worker};
use crate::address::PostgresAddress;
use crate::error::Result;
use crate::health::Health;
use crate::options::Options;
use crate::threads::{join, start, too_many};
use crate::unit::Unit;

/// The pool. Dropping it lets queued units finish, then ends the threads.
pub(crate) struct Postgres {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

impl Postgres {
    /// Connects once, so that a wrong address is said at once; the other threads connect when they get work.
    pub(crate) fn open(address: &PostgresAddress, options: &Options, health: &Health) -> Result<Self> {
        let mut first = Some(Connection::open(address, options, Login::App)?);
        // Made before its threads: where one can't start, dropping it ends those that did.
        let count = options.connections.max(1);
        let mut pool = Self { queue: Arc::new(Queue::new(count)), threads: Vec::new() };
        for number in 0..count {
            let place = Place { queue: pool.queue.clone(), number };
            let worker = Worker::new(address.clone(), options.clone(), place, health.clone(), first.take());
            pool.threads.push(start(format!("store-pg-{number}"), move || worker.run())?);
        }
        Ok(pool)
    }

    pub(crate) fn write(&self, work: Unit) {
        self.submit(Task { work, access: Access::Write });
    }

    pub(crate) fn read(&self, work: Unit) {
        self.submit(Task { work, access: Access::Read });
    }

    fn submit(&self, task: Task) {
        if let Err(work) = self.queue.put(task) {
            work.settle(Err(too_many()));
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.queue.close();
        join(&mut self.threads);
    }
}
