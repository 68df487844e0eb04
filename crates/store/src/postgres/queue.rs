//! Units on their way to the threads. Those that write to one tenant go one after another: they would only wait for each
//! other's locks at the server, which costs it far more than the work.
//!
//! Each still has a transaction of its own. In a shared one, locks of units that know nothing of each other would pile up,
//! and two nodes would wait for each other in a ring.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use munshi_types::TenantId;

use crate::lane::{LaneQueue, UnitLane};
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

/// Of how many connections one at a time works for the background.
const BACKGROUND_SHARE: usize = 4;

pub(crate) struct PostgresQueue {
    inside: Mutex<Inside>,
    /// One for each thread.
    bells: Vec<Condvar>,
    /// So many connections at most work for the background at once.
    most_in_background: usize,
}

#[derive(Default)]
struct Inside {
    ready: LaneQueue<QueuedUnit>,
    /// The tenants that are written to, and who waits for that.
    seats: HashMap<TenantId, WriteSeat>,
    /// How many wait for any of them.
    waiting: usize,
    /// Connections that work for the background.
    in_background: usize,
    /// Threads with nothing to do. The last one to rest is called first: its connection has its statements prepared and its
    /// server process is warm, where in turn each of them would have to become so.
    resting: Vec<usize>,
    is_closed: bool,
}

/// The right to write to a tenant: of the unit that has it, which may still wait for a connection, and those behind it.
struct WriteSeat {
    lane: UnitLane,
    has_begun: bool,
    behind: LaneQueue<UnitOfWork>,
}

/// Kept by whoever works on a unit; however that ends, those who wait for it are let in.
pub(crate) struct UnitGuard<'q> {
    queue: &'q PostgresQueue,
    /// The one that is written to.
    tenant: Option<TenantId>,
    lane: UnitLane,
}

impl Drop for UnitGuard<'_> {
    fn drop(&mut self) {
        self.queue.release(self.tenant, self.lane);
    }
}

impl Inside {
    fn put_behind(&mut self, tenant: TenantId, lane: UnitLane, work: UnitOfWork) {
        if let Some(seat) = self.seats.get_mut(&tenant) {
            seat.behind.push(lane, work);
            self.waiting += 1;
        }
    }

    /// A unit of the background that has a tenant's seat and waits for a connection goes behind: otherwise everybody who writes to the
    /// tenant would wait with it. False where it is not found waiting.
    fn give_seat_to_people(&mut self, tenant: TenantId) -> bool {
        let writes_there = |task: &QueuedUnit| {
            task.access == UnitAccess::Write
                && matches!(task.work.scope(), UnitScope::Tenant(its) if its == tenant)
        };
        let Some((since, task)) = self.ready.take_background(writes_there) else { return false };
        let Some(seat) = self.seats.get_mut(&tenant) else { return false };
        (seat.lane, seat.has_begun) = (UnitLane::People, false);
        seat.behind.push_since(since, UnitLane::Background, task.work);
        self.waiting += 1;
        true
    }
}

impl PostgresQueue {
    pub(crate) fn new(threads: usize) -> Self {
        let bells = (0..threads).map(|_| Condvar::new()).collect();
        Self { inside: Mutex::default(), bells, most_in_background: (threads / BACKGROUND_SHARE).max(1) }
    }

    /// Takes a unit in, or gives it back where too many wait.
    pub(crate) fn push(&self, task: QueuedUnit) -> Result<(), Box<UnitOfWork>> {
        let mut inside = self.lock();
        if inside.is_closed || inside.ready.len() + inside.waiting >= QUEUE_LENGTH {
            return Err(Box::new(task.work));
        }
        let lane = task.work.lane();
        if let (UnitAccess::Write, UnitScope::Tenant(tenant)) = (task.access, task.work.scope()) {
            match inside.seats.get(&tenant) {
                Some(seat) if seat.behind.len() >= MOST_BEHIND => return Err(Box::new(task.work)),
                Some(seat) => {
                    let is_in_the_way =
                        lane == UnitLane::People && seat.lane == UnitLane::Background && !seat.has_begun;
                    if !is_in_the_way || !inside.give_seat_to_people(tenant) {
                        inside.put_behind(tenant, lane, task.work);
                        return Ok(());
                    }
                }
                None => {
                    let seat = WriteSeat { lane, has_begun: false, behind: LaneQueue::default() };
                    inside.seats.insert(tenant, seat);
                }
            }
        }
        inside.ready.push(lane, task);
        self.wake_one(&mut inside);
        Ok(())
    }

    /// The next unit for a thread, as soon as there is one, with the guard to be held until it is done; none when the end has
    /// come and all are done.
    pub(crate) fn pop(&self, thread: usize) -> Option<(QueuedUnit, UnitGuard<'_>)> {
        let mut inside = self.lock();
        loop {
            let may_begin_background = inside.in_background < self.most_in_background;
            if let Some((_, lane, task)) = inside.ready.pop(may_begin_background) {
                if lane == UnitLane::Background {
                    inside.in_background += 1;
                }
                let tenant = match (task.access, task.work.scope()) {
                    (UnitAccess::Write, UnitScope::Tenant(tenant)) => Some(tenant),
                    _ => None,
                };
                if let Some(seat) = tenant.and_then(|tenant| inside.seats.get_mut(&tenant)) {
                    seat.has_begun = true;
                }
                return Some((task, UnitGuard { queue: self, tenant, lane }));
            }
            // Who waits for a seat, or for a connection of the background, is let in by whoever has it.
            let bell = self.bells.get(thread).filter(|_| !inside.is_closed)?;
            inside.resting.push(thread);
            inside = bell.wait(inside).unwrap_or_else(PoisonError::into_inner);
            inside.resting.retain(|resting| *resting != thread);
        }
    }

    /// A unit is done: the next one of its lane may begin, and the next one that somebody still waits for to write to its tenant.
    fn release(&self, tenant: Option<TenantId>, lane: UnitLane) {
        let mut inside = self.lock();
        if lane == UnitLane::Background {
            inside.in_background -= 1;
            if inside.ready.len() > 0 {
                self.wake_one(&mut inside);
            }
        }
        if let Some(tenant) = tenant {
            self.release_tenant(&mut inside, tenant);
        }
    }

    fn release_tenant(&self, inside: &mut Inside, tenant: TenantId) {
        let Inside { seats, waiting, ready, .. } = &mut *inside;
        let Some(seat) = seats.get_mut(&tenant) else { return };
        let before = seat.behind.len();
        let next = std::iter::from_fn(|| seat.behind.pop(true)).find(|(_, _, work)| work.is_wanted());
        *waiting -= before - seat.behind.len();
        match next {
            Some((since, lane, work)) => {
                (seat.lane, seat.has_begun) = (lane, false);
                ready.push_since(since, lane, QueuedUnit { work, access: UnitAccess::Write });
                self.wake_one(inside);
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

    use munshi_types::Id;
    use tokio::sync::oneshot;
    use uuid::Uuid;

    use super::*;
    use crate::announcement::Announcer;
    use crate::error::{Error, Result as StoreResult};
    use crate::session::UnitSession;
    use crate::unit::{UnitAnswer, UnitHandle, UnitOfWork, erase_types};

    type Held = (oneshot::Receiver<StoreResult<UnitAnswer>>, UnitHandle);

    fn write(tenant: u128) -> (QueuedUnit, Held) {
        write_in(tenant, UnitLane::People)
    }

    fn write_in(tenant: u128, lane: UnitLane) -> (QueuedUnit, Held) {
        let scope = UnitScope::Tenant(TenantId::from_uuid(Uuid::from_u128(tenant)));
        let act = erase_types::<(), Error>(|_: &mut UnitSession| Ok(()));
        let (work, answer, claim) = UnitOfWork::new((scope, lane), act, Announcer::default());
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
        let (_task, guard) = queue.pop(0).unwrap();
        let gone: Vec<Held> = (0..3).map(|_| put(&queue, 1)).collect();
        let _living = put(&queue, 1);
        let _other = put(&queue, 2);
        drop(gone);
        drop(guard);
        assert_eq!(queue.lock().waiting, 0);
        let next = [queue.pop(0).unwrap(), queue.pop(0).unwrap()];
        assert!(
            next.iter().all(|(task, _)| task.work.is_wanted()),
            "the one behind the dead comes right after the other"
        );
        drop(next);
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

    fn tenant_of(next: &(QueuedUnit, UnitGuard<'_>)) -> u128 {
        match next.0.work.scope() {
            UnitScope::Tenant(tenant) => tenant.as_uuid().as_u128(),
            UnitScope::Platform(_) => 0,
        }
    }

    #[test]
    fn the_background_has_a_share_of_the_connections_and_people_the_rest() {
        let queue = PostgresQueue::new(8);
        let runs = [1, 2, 3].map(|tenant| write_in(tenant, UnitLane::Background));
        let _runs = runs.map(|(task, held)| (queue.push(task).is_ok(), held));
        let _person = put(&queue, 4);
        let mut begun: Vec<_> = (0..3).map(|thread| queue.pop(thread).unwrap()).collect();
        assert_eq!(begun.iter().map(tenant_of).collect::<Vec<_>>(), [4, 1, 2], "a quarter of eight");
        assert!(queue.lock().ready.pop(false).is_none(), "the third run waits");
        begun.pop();
        assert_eq!(tenant_of(&queue.pop(2).unwrap()), 3);
    }

    #[test]
    fn a_run_that_waits_for_a_connection_keeps_nobody_from_its_tenant() {
        let queue = PostgresQueue::new(4);
        let (first, _first) = write_in(1, UnitLane::Background);
        let (second, _second) = write_in(2, UnitLane::Background);
        assert!(queue.push(first).is_ok() && queue.push(second).is_ok());
        let begun = queue.pop(0).unwrap();
        assert_eq!(tenant_of(&begun), 1, "one of four connections is the background's");
        let _person = put(&queue, 2);
        let person = queue.pop(1).unwrap();
        assert_eq!((tenant_of(&person), person.1.lane), (2, UnitLane::People));
        drop(begun);
        drop(person);
        let last = queue.pop(0).unwrap();
        assert_eq!((tenant_of(&last), last.1.lane), (2, UnitLane::Background), "it comes after that");
        drop(last);
        assert!(queue.lock().seats.is_empty() && queue.lock().waiting == 0);
    }

    #[test]
    fn who_writes_for_a_person_passes_the_runs_of_the_same_tenant() {
        let queue = PostgresQueue::new(4);
        let _first = put(&queue, 1);
        let first = queue.pop(0).unwrap();
        let (run, _run) = write_in(1, UnitLane::Background);
        assert!(queue.push(run).is_ok());
        let _person = put(&queue, 1);
        drop(first);
        let next = queue.pop(0).unwrap();
        assert_eq!(next.1.lane, UnitLane::People);
        drop(next);
        assert_eq!(queue.pop(0).unwrap().1.lane, UnitLane::Background);
    }
}
