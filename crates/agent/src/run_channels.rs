//! Who follows a run that is under way here, and what they have not seen yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use munshi_conversations::runs::RunLease;
use munshi_conversations::{EventId, RunEvent};
use munshi_types::{RunId, TenantId, Timestamp};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Runs that ended stay for those who come back, this long.
const KEPT: Duration = Duration::from_secs(180);
/// So many are kept without a look at them, and beyond that they are looked at so often.
const FEW: usize = 64;
const PRUNE: Duration = Duration::from_secs(1);
/// More of them are not kept: what is gone is read from the store.
const MOST_ENDED: usize = 4_096;

/// Whose run it is, and which: nobody finds another tenant's.
type Key = (TenantId, RunId);

/// The runs this node works on, and those that ended here lately.
#[derive(Debug, Default)]
pub(crate) struct RunChannels {
    channels: Mutex<HashMap<Key, Arc<RunChannel>>>,
    /// When channels of old runs were last let go.
    pruned: Mutex<Option<Timestamp>>,
}

impl RunChannels {
    /// The channel of a run that is worked on here from now on.
    pub(crate) fn open(&self, lease: RunLease, now: Timestamp) -> Arc<RunChannel> {
        let mut channels = lock(&self.channels);
        let mut pruned = lock(&self.pruned);
        if channels.len() >= FEW && pruned.is_none_or(|last| now < last || now.since(last) >= PRUNE) {
            prune(&mut channels, now);
            *pruned = Some(now);
        }
        drop(pruned);
        let run_channel = channels.entry((lease.tenant, lease.run)).or_default().clone();
        {
            // What it said before it ended or waited is not the beginning of what comes.
            let mut log = lock(&run_channel.log);
            if log.ended.take().is_some() {
                *log = Log::default();
                *lock(&run_channel.stop) = CancellationToken::new();
            }
        }
        run_channel
    }

    pub(crate) fn find(&self, tenant: TenantId, run: RunId) -> Option<Arc<RunChannel>> {
        lock(&self.channels).get(&(tenant, run)).cloned()
    }

    /// Which number a beginning of a reply has that comes after all that were told here under this take-up.
    pub(crate) fn next_generation(&self, lease: RunLease, first: u32) -> u32 {
        self.find(lease.tenant, lease.run).map_or(first, |run_channel| run_channel.next_generation(first))
    }

    /// Nobody here works on it any more, and what it said so far leads nowhere.
    pub(crate) fn forget(&self, lease: RunLease) {
        if let Some(run_channel) = lock(&self.channels).remove(&(lease.tenant, lease.run)) {
            lock(&run_channel.log).gone = true;
            run_channel.changed.notify_waiters();
        }
    }

    /// How many runs are under way here.
    pub(crate) fn count_live(&self) -> usize {
        lock(&self.channels).values().filter(|run_channel| lock(&run_channel.log).ended.is_none()).count()
    }
}

fn prune(channels: &mut HashMap<Key, Arc<RunChannel>>, now: Timestamp) {
    let is_old =
        |run_channel: &RunChannel| lock(&run_channel.log).ended.is_some_and(|at| now.since(at) >= KEPT);
    channels.retain(|_, channel| !is_old(channel));
    let mut ended: Vec<(Timestamp, Key)> =
        channels.iter().filter_map(|(key, channel)| Some((lock(&channel.log).ended?, *key))).collect();
    if ended.len() > MOST_ENDED {
        ended.sort_unstable();
        ended.truncate(ended.len() - MOST_ENDED / 2);
        ended.iter().for_each(|(_, key)| drop(channels.remove(key)));
    }
}

/// One run's events since its reply last began.
#[derive(Debug, Default)]
pub(crate) struct RunChannel {
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
    events: Vec<(EventId, RunEvent)>,
    ended: Option<Timestamp>,
    gone: bool,
}

/// What a follower finds.
#[derive(Debug, PartialEq)]
pub(crate) enum NextRunEvent {
    Event(EventId, RunEvent),
    /// Nothing yet.
    Wait,
    /// This node has no more of it.
    Gone,
}

impl RunChannel {
    /// The reply begins, or begins again.
    pub(crate) fn begin(&self, generation: u32, why: &str) {
        *lock(&self.log) = Log { generation, why: why.to_owned(), ..Log::default() };
        self.changed.notify_waiters();
    }

    /// The first number of a take-up, or the one behind the last that followers have seen.
    pub(crate) fn next_generation(&self, first: u32) -> u32 {
        first.max(lock(&self.log).generation.saturating_add(1))
    }

    pub(crate) fn push(&self, id: EventId, event: RunEvent) {
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
    pub(crate) fn next_after(&self, after: Option<EventId>) -> NextRunEvent {
        let log = lock(&self.log);
        match (log.gone, log.generation) {
            (true, _) => return NextRunEvent::Gone,
            (false, 0) => return NextRunEvent::Wait,
            _ => {}
        }
        let same = after.filter(|after| after.generation == log.generation);
        if after.is_some() && same.is_none() {
            let id = EventId { generation: log.generation, number: 0, offset: 0 };
            return NextRunEvent::Event(id, RunEvent::Reset { why: log.why.clone() });
        }
        let seen = same.map_or(0, |after| after.number);
        let from = log.events.partition_point(|(id, _)| id.number <= seen);
        match log.events.get(from) {
            Some((id, event)) => NextRunEvent::Event(*id, event.clone()),
            // It has ended behind what the follower saw: the store knows how.
            None if log.ended.is_some() => NextRunEvent::Gone,
            None => NextRunEvent::Wait,
        }
    }

    /// Waits until something has changed since `look` was called; `look` says whether there is anything.
    pub(crate) async fn wait_for_change<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
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

    /// The token of this take-up: cancelled by a `stop` from the moment the channel was opened, also one that came before
    /// anybody worked on the run.
    pub(crate) fn stop_token(&self) -> CancellationToken {
        lock(&self.stop).clone()
    }

    pub(crate) fn stop(&self) {
        lock(&self.stop).cancel();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_before_anybody_works_on_the_run_reaches_who_does() {
        let now = Timestamp::EPOCH;
        let lease = RunLease {
            tenant: TenantId::PLATFORM,
            run: RunId::from_uuid(uuid::Uuid::nil()),
            epoch: 1,
            until: now,
        };
        let channels = RunChannels::default();
        channels.open(lease, now).stop();
        let taken_up = channels.open(lease, now);
        assert!(taken_up.stop_token().is_cancelled());

        taken_up.end(now);
        assert!(
            !channels.open(lease, now).stop_token().is_cancelled(),
            "what follows an end is another take-up"
        );
    }
}
