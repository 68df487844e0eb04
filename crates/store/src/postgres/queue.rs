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
use crate::unit::{UnitOfWork, UnitScope};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitAccess {
    Read,
    Write,
}

pub(crate) struct QueuedUnit {
    pub(crate) work: UnitOfWork,
    pub(crate) access: UnitAccess,
}

/// Units that may wait for one tenant: beyond that its callers are told at once, and the others still find room.
const MOST_BEHIND: usize = QUEUE_LENGTH / 8;

pub(crate) struct PostgresQueue {
    inside: Mutex<Inside>,
    /// One for each thread.
    bells: Vec<Condvar>,
}

#[derive(Default)]
struct Inside {
    ready: VecDeque<QueuedUnit>,
    /// The tenants that are written to, and who waits for that.
    seats: HashMap<TenantId, VecDeque<UnitOfWork>>,
    /// How many wait for any of them.
    waiting: usize,
    /// Threads with nothing to do. The last one to rest is called first: its connection has its statements prepared and its
    /// server process is warm, where in turn each of them would have to become so.
    resting: Vec<usize>,
    is_closed: bool,
}

/// Kept by whoever writes to a tenant; however that ends, the next one is let in.
pub(crate) struct TenantWriteGuard<'q> {
    queue: &'q PostgresQueue,
    tenant: TenantId,
}

impl Drop for TenantWriteGuard<'_> {
    fn drop(&mut self) {
        self.queue.release_tenant(self.tenant);
    }
}

impl PostgresQueue {
    pub(crate) fn new(threads: usize) -> Self {
        Self { inside: Mutex::default(), bells: (0..threads).map(|_| Condvar::new()).collect() }
    }

    /// Takes a unit in, or gives it back where too many wait.
    pub(crate) fn push(&self, task: QueuedUnit) -> Result<(), UnitOfWork> {
        let mut inside = self.lock();
        if inside.is_closed || inside.ready.len() + inside.waiting >= QUEUE_LENGTH {
            return Err(task.work);
        }
        if let (UnitAccess::Write, UnitScope::Tenant(tenant)) = (task.access, task.work.scope()) {
            match inside.seats.entry(tenant) {
                Entry::Occupied(mut seat) => {
                    let behind = seat.get_mut();
                    if behind.len() >= MOST_BEHIND {
                        return Err(task.work);
                    }
                    behind.push_back(task.work);
                    inside.waiting += 1;
                    return Ok(());
                }
                Entry::Vacant(seat) => {
                    seat.insert(VecDeque::new());
                }
            }
        }
        inside.ready.push_back(task);
        self.wake_one(&mut inside);
        Ok(())
    }

    /// The next unit for a thread, as soon as there is one; none when the end has come and all are done.
    pub(crate) fn pop(&self, thread: usize) -> Option<QueuedUnit> {
        let mut inside = self.lock();
        loop {
            if let Some(task) = inside.ready.pop_front() {
                return Some(task);
            }
            // Who waits for a seat is made ready by whoever has it.
            let bell = self.bells.get(thread).filter(|_| !inside.is_closed)?;
            inside.resting.push(thread);
            inside = bell.wait(inside).unwrap_or_else(PoisonError::into_inner);
            inside.resting.retain(|resting| *resting != thread);
        }
    }

    /// The seat of a unit from [`pop`](Self::take), to be held until it is done.
    pub(crate) fn write_guard(&self, task: &QueuedUnit) -> Option<TenantWriteGuard<'_>> {
        match (task.access, task.work.scope()) {
            (UnitAccess::Write, UnitScope::Tenant(tenant)) => Some(TenantWriteGuard { queue: self, tenant }),
            _ => None,
        }
    }

    /// The unit that wrote to a tenant is done: the next one that somebody still waits for takes its place behind all who
    /// are ready.
    fn release_tenant(&self, tenant: TenantId) {
        let mut inside = self.lock();
        let Inside { seats, waiting, ready, .. } = &mut *inside;
        let Some(behind) = seats.get_mut(&tenant) else { return };
        let before = behind.len();
        let next = std::iter::from_fn(|| behind.pop_front()).find(UnitOfWork::is_wanted);
        *waiting -= before - behind.len();
        match next {
            Some(work) => {
                ready.push_back(QueuedUnit { work, access: UnitAccess::Write });
                self.wake_one(&mut inside);
            }
            None => {
                seats.remove(&tenant);
            }
        }
    }

    fn wake_one(&self, inside: &mut Inside) {
        if let Some(bell) = inside.resting.pop().and_then(|thread| self.bells.get(thread)) {
            bell.notify_one();
        }
    }

    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.bells.iter().for_each(Condvar::notify_all);
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use tokio::sync::oneshot;
    use uuid::Uuid;

    use super::*;
    use crate::error::{Error, Result as StoreResult};
    use crate::session::UnitSession;
    use crate::unit::{UnitAnswer, UnitHandle, UnitOfWork, erase_types};

    type Held = (oneshot::Receiver<StoreResult<UnitAnswer>>, UnitHandle);

    fn write(tenant: u128) -> (QueuedUnit, Held) {
        let scope = UnitScope::Tenant(TenantId::from_uuid(Uuid::from_u128(tenant)));
        let act = erase_types::<(), Error>(|_: &mut UnitSession| Ok(()));
        let (work, answer, claim) = UnitOfWork::new(scope, act);
        (QueuedUnit { work, access: UnitAccess::Write }, (answer, claim))
    }

    fn put(queue: &PostgresQueue, tenant: u128) -> Held {
        let (task, held) = write(tenant);
        assert!(queue.push(task).is_ok());
        held
    }

    #[test]
    fn those_who_have_gone_keep_nobody_waiting() {
        let queue = PostgresQueue::new(1);
        let _first = put(&queue, 1);
        let task = queue.pop(0).unwrap();
        let gone: Vec<Held> = (0..3).map(|_| put(&queue, 1)).collect();
        let _living = put(&queue, 1);
        let _other = put(&queue, 2);
        drop(gone);
        let seat = queue.write_guard(&task);
        drop(seat);
        assert_eq!(queue.lock().waiting, 0);
        let next = [queue.pop(0).unwrap(), queue.pop(0).unwrap()];
        assert!(
            next.iter().all(|task| task.work.is_wanted()),
            "the one behind the dead comes right after the other"
        );
        next.iter().for_each(|task| drop(queue.write_guard(task)));
        assert!(queue.lock().seats.is_empty());
    }

    #[test]
    fn one_tenant_leaves_room_for_the_others() {
        let queue = PostgresQueue::new(1);
        let _first = put(&queue, 1);
        let _held: Vec<Held> = (0..MOST_BEHIND).map(|_| put(&queue, 1)).collect();
        assert!(queue.push(write(1).0).is_err());
        let _other = put(&queue, 2);
    }
}
