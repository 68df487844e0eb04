//! The way in to the Postgres threads, and their end.

use std::thread::JoinHandle;

use crossbeam_channel::{Sender, TrySendError, bounded};

use super::connection::{Connection, Login};
use super::worker::{Access, Task, Worker};
use crate::address::PostgresAddress;
use crate::error::Result;
use crate::health::Health;
use crate::options::Options;
use crate::threads::{QUEUE_LENGTH, join, start, too_many};
use crate::unit::Work;

/// The pool. Dropping it lets queued units finish, then ends the threads.
pub(crate) struct Postgres {
    queue: Option<Sender<Task>>,
    threads: Vec<JoinHandle<()>>,
}

impl Postgres {
    /// Connects once, so that a wrong address is said at once; the other threads connect when they get work.
    pub(crate) fn open(address: &PostgresAddress, options: &Options, health: &Health) -> Result<Self> {
        let mut first = Some(Connection::open(address, options, Login::App)?);
        let (queue, tasks) = bounded(QUEUE_LENGTH);
        let mut threads = Vec::with_capacity(options.connections);
        for number in 0..options.connections.max(1) {
            let worker =
                Worker::new(address.clone(), options.clone(), tasks.clone(), health.clone(), first.take());
            threads.push(start(format!("store-pg-{number}"), move || worker.run())?);
        }
        Ok(Self { queue: Some(queue), threads })
    }

    pub(crate) fn write(&self, work: Box<dyn Work>) {
        self.submit(work, Access::Write);
    }

    pub(crate) fn read(&self, work: Box<dyn Work>) {
        self.submit(work, Access::Read);
    }

    fn submit(&self, work: Box<dyn Work>, access: Access) {
        let task = Task { work, access };
        let refused = match &self.queue {
            Some(queue) => queue.try_send(task).err().map(TrySendError::into_inner),
            None => Some(task),
        };
        if let Some(task) = refused {
            task.work.settle(Err(too_many()));
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.queue = None;
        join(&mut self.threads);
    }
}
