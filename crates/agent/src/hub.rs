//! Who follows a run that is under way here, and what they have not seen yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use munshi_types::{RunId, Timestamp};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::event::{Event, EventId};

/// Runs that ended stay for those who come back, this long.
const KEPT: Duration = Duration::from_secs(180);
/// More of them are not kept: what is gone is read from the store.
const MOST_ENDED: usize = 4_096;

/// The runs this node works on, and those that ended here lately.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    rooms: Mutex<HashMap<RunId, Arc<Room>>>,
}

impl Hub {
    /// The room of a run that is worked on here from now on.
    pub(crate) fn open(&self, run: RunId, now: Timestamp) -> Arc<Room> {
        let mut rooms = lock(&self.rooms);
        prune(&mut rooms, now);
        let room = rooms.entry(run).or_default().clone();
        {
            // What it said before it ended or waited is not the beginning of what comes.
            let mut log = lock(&room.log);
            if log.ended.take().is_some() {
                *log = Log::default();
            }
        }
        room
    }

    pub(crate) fn find(&self, run: RunId) -> Option<Arc<Room>> {
        lock(&self.rooms).get(&run).cloned()
    }

    /// Nobody here works on it any more, and what it said so far leads nowhere.
    pub(crate) fn forget(&self, run: RunId) {
        if let Some(room) = lock(&self.rooms).remove(&run) {
            lock(&room.log).gone = true;
            room.changed.notify_waiters();
        }
    }

    /// How many runs are under way here.
    pub(crate) fn live(&self) -> usize {
        lock(&self.rooms).values().filter(|room| lock(&room.log).ended.is_none()).count()
    }
}

fn prune(rooms: &mut HashMap<RunId, Arc<Room>>, now: Timestamp) {
    if rooms.len() < 64 {
        return;
    }
    let is_old = |room: &Room| lock(&room.log).ended.is_some_and(|at| now.since(at) >= KEPT);
    rooms.retain(|_, room| !is_old(room));
    let mut ended: Vec<(Timestamp, RunId)> =
        rooms.iter().filter_map(|(run, room)| Some((lock(&room.log).ended?, *run))).collect();
    if ended.len() > MOST_ENDED {
        ended.sort_unstable();
        ended.truncate(ended.len() - MOST_ENDED / 2);
        ended.iter().for_each(|(_, run)| drop(rooms.remove(run)));
    }
}

/// One run's events since its reply last began.
#[derive(Debug, Default)]
pub(crate) struct Room {
    log: Mutex<Log>,
    changed: Notify,
    /// Cancelled when somebody wants the run stopped.
    stop: Mutex<CancellationToken>,
}

#[derive(Debug, Default)]
struct Log {
    /// 0 while the reply has not begun here.
    generation: u32,
    /// Why it began anew, where it did.
    why: String,
    events: Vec<(EventId, Event)>,
    ended: Option<Timestamp>,
    gone: bool,
}

/// What a follower finds.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    Event(EventId, Event),
    /// Nothing yet.
    Wait,
    /// This node has no more of it.
    Gone,
}

impl Room {
    /// The reply begins, or begins again.
    pub(crate) fn begin(&self, generation: u32, why: &str) {
        *lock(&self.log) = Log { generation, why: why.to_owned(), ..Log::default() };
        self.changed.notify_waiters();
    }

    pub(crate) fn push(&self, id: EventId, event: Event) {
        lock(&self.log).events.push((id, event));
        self.changed.notify_waiters();
    }

    pub(crate) fn end(&self, now: Timestamp) {
        lock(&self.log).ended = Some(now);
        self.changed.notify_waiters();
    }

    pub(crate) fn has_ended(&self) -> bool {
        let log = lock(&self.log);
        log.ended.is_some() || log.gone
    }

    /// What comes behind `after`. Whoever has seen an earlier beginning is told first that it is void.
    pub(crate) fn after(&self, after: Option<EventId>) -> Next {
        let log = lock(&self.log);
        match (log.gone, log.generation) {
            (true, _) => return Next::Gone,
            (false, 0) => return Next::Wait,
            _ => {}
        }
        let same = after.filter(|after| after.generation == log.generation);
        if after.is_some() && same.is_none() {
            let id = EventId { generation: log.generation, number: 0, offset: 0 };
            return Next::Event(id, Event::Reset { why: log.why.clone() });
        }
        let seen = same.map_or(0, |after| after.number);
        let from = log.events.partition_point(|(id, _)| id.number <= seen);
        match log.events.get(from) {
            Some((id, event)) => Next::Event(*id, event.clone()),
            // It has ended behind what the follower saw: the store knows how.
            None if log.ended.is_some() => Next::Gone,
            None => Next::Wait,
        }
    }

    /// Waits until something has changed since `look` was called; `look` says whether there is anything.
    pub(crate) async fn changed<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = look() {
                return found;
            }
            changed.await;
        }
    }

    /// A fresh token for a new take-up.
    pub(crate) fn arm(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *lock(&self.stop) = token.clone();
        token
    }

    pub(crate) fn stop(&self) {
        lock(&self.stop).cancel();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
