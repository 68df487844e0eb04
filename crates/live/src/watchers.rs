//! Who waits for which change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use munshi_conversations::session_changes::ChangedSession;
use munshi_types::{Id, TenantId};
use tokio::sync::watch;
use uuid::Uuid;

/// What is watched: one subject of a tenant, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WatchKey {
    pub(crate) tenant: TenantId,
    pub(crate) subject: Option<Uuid>,
}

/// What has changed of each since it is watched. An entry goes with its last watcher.
#[derive(Clone, Default)]
pub(crate) struct Watchers(Arc<Mutex<HashMap<WatchKey, watch::Sender<WatchSignal>>>>);

/// What is known of a subject's changes.
#[derive(Clone, Debug, Default)]
struct WatchSignal {
    /// How often this process has said that something changed.
    announced: u64,
    /// How often the database was found changed, which it is by this process, too.
    looks: u64,
    /// As which sessions it was found the last time.
    found: Vec<ChangedSession>,
}

/// Wakes when its subject changes; a change that came since it was made, or since it woke last, is never missed.
pub struct ChangeWatch {
    watchers: Watchers,
    key: WatchKey,
    /// Given back under the lock when it is dropped.
    receiver: Option<watch::Receiver<WatchSignal>>,
    /// How far it has heard.
    announced: u64,
    looks: u64,
}

impl Watchers {
    pub(crate) fn watch(&self, key: WatchKey) -> ChangeWatch {
        let mut entries = self.lock();
        let sender = entries.entry(key).or_insert_with(|| watch::Sender::new(WatchSignal::default()));
        let receiver = sender.subscribe();
        let (announced, looks) = {
            let signal = receiver.borrow();
            (signal.announced, signal.looks)
        };
        ChangeWatch { watchers: self.clone(), key, receiver: Some(receiver), announced, looks }
    }

    /// Wakes those who watch a subject, and those who watch all of its tenant.
    pub(crate) fn wake(&self, tenant: TenantId, subject: Uuid) {
        let entries = self.lock();
        for subject in [Some(subject), None] {
            if let Some(sender) = entries.get(&WatchKey { tenant, subject }) {
                announce(sender);
            }
        }
    }

    /// Wakes those who watch one of the sessions, or their tenant, and have not read it so far.
    pub(crate) fn wake_found(&self, changed: &[ChangedSession]) {
        let mut found: HashMap<WatchKey, Vec<ChangedSession>> = HashMap::new();
        for one in changed {
            for subject in [Some(one.session.as_uuid()), None] {
                found.entry(WatchKey { tenant: one.tenant, subject }).or_default().push(*one);
            }
        }
        let entries = self.lock();
        for (key, sessions) in found {
            let Some(sender) = entries.get(&key) else { continue };
            sender.send_modify(|signal| {
                signal.looks = signal.looks.wrapping_add(1);
                signal.found = sessions;
            });
        }
    }

    /// For when it is not known what has changed.
    pub(crate) fn wake_all(&self) {
        self.lock().values().for_each(announce);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WatchKey, watch::Sender<WatchSignal>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn announce(sender: &watch::Sender<WatchSignal>) {
    sender.send_modify(|signal| signal.announced = signal.announced.wrapping_add(1));
}

impl ChangeWatch {
    /// Waits for the next change. A wait that is given up loses none. What the database was found to have, and `is_known` has as well,
    /// is none: every change of this process is found there once more, after it was announced.
    pub async fn changed(&mut self, is_known: impl Fn(&ChangedSession) -> bool) {
        while let Some(receiver) = &mut self.receiver {
            // The sending end goes with the last watcher, so it is there.
            if receiver.changed().await.is_err() {
                break;
            }
            let signal = receiver.borrow_and_update();
            let is_announced = std::mem::replace(&mut self.announced, signal.announced) != signal.announced;
            let heard = std::mem::replace(&mut self.looks, signal.looks);
            let has_missed = signal.looks.wrapping_sub(heard) > 1;
            if is_announced || has_missed || !signal.found.iter().all(&is_known) {
                return;
            }
        }
        std::future::pending::<()>().await;
    }
}

impl Drop for ChangeWatch {
    fn drop(&mut self) {
        let mut entries = self.watchers.lock();
        drop(self.receiver.take());
        if entries.get(&self.key).is_some_and(|sender| sender.receiver_count() == 0) {
            entries.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::{IdGenerator, SessionId, Timestamp};
    use std::time::Duration;

    async fn wakes(watch: &mut ChangeWatch) -> bool {
        tokio::time::timeout(Duration::from_millis(20), watch.changed(|_| false)).await.is_ok()
    }

    #[tokio::test]
    async fn a_watch_hears_what_changed_since_it_was_made_once() {
        let (watchers, tenant) = (Watchers::default(), IdGenerator::system().next::<TenantId>());
        let subject = Uuid::from_u128(1);
        watchers.wake(tenant, subject);
        let mut one = watchers.watch(WatchKey { tenant, subject: Some(subject) });
        let mut all = watchers.watch(WatchKey { tenant, subject: None });
        let mut other = watchers.watch(WatchKey { tenant, subject: Some(Uuid::from_u128(2)) });
        assert!(!wakes(&mut one).await, "from before");
        watchers.wake(tenant, subject);
        watchers.wake(tenant, subject);
        assert!(wakes(&mut one).await && wakes(&mut all).await, "though nobody waited yet");
        assert!(!wakes(&mut one).await && !wakes(&mut other).await, "two at once are one");
        watchers.wake_all();
        assert!(wakes(&mut one).await && wakes(&mut other).await);
    }

    #[tokio::test]
    async fn what_was_read_already_wakes_nobody_a_second_time() {
        let (watchers, ids) = (Watchers::default(), IdGenerator::system());
        let (tenant, session): (TenantId, SessionId) = (ids.next(), ids.next());
        let first = ChangedSession { tenant, session, changed_at: Timestamp::EPOCH, messages: 1 };
        let second = ChangedSession { messages: 2, ..first };
        for subject in [Some(session.as_uuid()), None] {
            let mut watch = watchers.watch(WatchKey { tenant, subject });
            let hears = async |watch: &mut ChangeWatch, read: ChangedSession| {
                let change = watch.changed(|found| *found == read);
                tokio::time::timeout(Duration::from_millis(20), change).await.is_ok()
            };
            watchers.wake(tenant, session.as_uuid());
            assert!(hears(&mut watch, first).await, "it was announced here");
            watchers.wake_found(&[first]);
            assert!(!hears(&mut watch, first).await, "and read since");
            watchers.wake_found(&[second]);
            assert!(hears(&mut watch, first).await, "another process was there");
            watchers.wake_found(&[second]);
            watchers.wake_found(&[first]);
            assert!(hears(&mut watch, first).await, "what was found between is not known any more");
            watchers.wake_found(&[ChangedSession { session: ids.next(), ..first }]);
            assert_eq!(hears(&mut watch, first).await, subject.is_none(), "another session is its tenant's");
        }
    }

    #[tokio::test]
    async fn nothing_stays_of_those_who_left() {
        let (watchers, tenant) = (Watchers::default(), IdGenerator::system().next::<TenantId>());
        let key = WatchKey { tenant, subject: Some(Uuid::from_u128(1)) };
        let (one, mut two) = (watchers.watch(key), watchers.watch(key));
        drop(one);
        watchers.wake(tenant, Uuid::from_u128(1));
        assert!(wakes(&mut two).await, "the other still listens");
        drop(two);
        assert!(watchers.is_empty());
    }
}
