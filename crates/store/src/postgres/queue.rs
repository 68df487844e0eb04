//! Units on their way to the threads. Those that write to one tenant go one after another: they would only wait for each
//! other's locks at the server, which costs it far more than the work.
//!
//! Each still has a transaction of its own. In a shared one, locks of units that know nothing of each other would pile up,
//! and two nodes would wait for each other in a ring.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use munshi_types::TenantId;

use crate::threads::QUEUE_LENGTH;
use crate::unit::{Scope, Work};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

pub(crate) struct Task {
    pub(crate) work: Box<dyn Work>,
    pub(crate) access: Access,
}

#[derive(Default)]
pub(crate) struct Queue {
    inside: Mutex<Inside>,
    came: Condvar,
}

#[derive(Default)]
struct Inside {
    ready: VecDeque<Task>,
    /// The tenants that are written to, and who waits for that.
    lanes: HashMap<TenantId, VecDeque<Box<dyn Work>>>,
    /// How many wait in all lanes.
    waiting: usize,
    is_closed: bool,
}

/// Kept by whoever writes to a tenant; however that ends, the next one is let in.
pub(crate) struct Lane<'q> {
    queue: &'q Queue,
    tenant: TenantId,
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        self.queue.leave(self.tenant);
    }
}

impl Queue {
    /// Takes a unit in, or gives it back where too many wait.
    pub(crate) fn put(&self, task: Task) -> Result<(), Box<dyn Work>> {
        let mut inside = self.lock();
        if inside.is_closed || inside.ready.len() + inside.waiting >= QUEUE_LENGTH {
            return Err(task.work);
        }
        if let (Access::Write, Scope::Tenant(tenant)) = (task.access, task.work.scope()) {
            match inside.lanes.entry(tenant) {
                Entry::Occupied(mut lane) => {
                    lane.get_mut().push_back(task.work);
                    inside.waiting += 1;
                    return Ok(());
                }
                Entry::Vacant(lane) => {
                    lane.insert(VecDeque::new());
                }
            }
        }
        inside.ready.push_back(task);
        self.came.notify_one();
        Ok(())
    }

    /// The next unit, as soon as there is one; none when the end has come and all are done.
    pub(crate) fn take(&self) -> Option<Task> {
        let mut inside = self.lock();
        loop {
            if let Some(task) = inside.ready.pop_front() {
                return Some(task);
            }
            // Who waits in a lane is made ready by whoever works on it.
            if inside.is_closed {
                return None;
            }
            inside = self.came.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The lane that a unit from [`take`](Self::take) goes in, to be held until it is done.
    pub(crate) fn lane(&self, task: &Task) -> Option<Lane<'_>> {
        match (task.access, task.work.scope()) {
            (Access::Write, Scope::Tenant(tenant)) => Some(Lane { queue: self, tenant }),
            _ => None,
        }
    }

    /// The unit that wrote to a tenant is done: the next one takes its place behind all who are ready.
    fn leave(&self, tenant: TenantId) {
        let mut inside = self.lock();
        match inside.lanes.get_mut(&tenant).and_then(VecDeque::pop_front) {
            Some(work) => {
                inside.waiting -= 1;
                inside.ready.push_back(Task { work, access: Access::Write });
                self.came.notify_one();
            }
            None => {
                inside.lanes.remove(&tenant);
            }
        }
    }

    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.came.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
