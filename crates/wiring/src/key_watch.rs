//! Letting go of keys that other nodes have destroyed, and what the looks for them say about the store of keys: readiness asks here, and
//! the store is asked by nobody else for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use munshi_store::{Db, Error};
use munshi_types::{Clock, Timestamp};
use tokio_util::sync::CancellationToken;

/// How soon a node lets go of a key that another has destroyed.
const LOOK: Duration = Duration::from_secs(1);
/// A look that did not end for so long is stuck: by itself it is given up after a few seconds.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Looks for destroyed keys each second while the server runs. Clones are the same watch.
#[derive(Clone)]
pub struct KeyStoreWatch {
    db: Db,
    clock: Arc<dyn Clock>,
    last: Arc<Mutex<LastLook>>,
}

#[derive(Clone, Copy)]
struct LastLook {
    state: KeyStoreState,
    ended_at: Timestamp,
}

/// What the store of keys said when it was asked last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStoreState {
    Answering,
    /// It can't be reached, is not there, or gives this node no keys.
    Unavailable,
    /// It was reached, and what it said is of no use.
    Failing,
    /// It was asked so many seconds ago for the last time.
    Stuck {
        seconds: u64,
    },
}

impl KeyStoreWatch {
    /// Whoever makes it has opened the store of keys: it answers until the first look.
    pub fn new(db: Db, clock: Arc<dyn Clock>) -> Self {
        let last = LastLook { state: KeyStoreState::Answering, ended_at: clock.now() };
        Self { db, clock, last: Arc::new(Mutex::new(last)) }
    }

    /// Waits for nothing.
    pub fn state(&self) -> KeyStoreState {
        let last = *self.last();
        let quiet = self.clock.now().since(last.ended_at);
        if quiet <= TIMEOUT { last.state } else { KeyStoreState::Stuck { seconds: quiet.as_secs() } }
    }

    /// Looks until it is told to stop.
    pub async fn run(self, stop: CancellationToken) {
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = looks.tick() => {}
            }
            self.look().await;
        }
    }

    /// One look. It waits for the store of keys, and for a few seconds at most.
    pub async fn look(&self) {
        let looked = match self.db.keyring() {
            Ok(keyring) => tokio::task::spawn_blocking(move || keyring.drop_destroyed()).await,
            Err(error) => Ok(Err(error)),
        };
        let state = match looked {
            Ok(Ok(_)) => KeyStoreState::Answering,
            Ok(Err(error)) => {
                tracing::warn!(%error, "destroyed keys can't be looked for; retrying");
                to_state(&error)
            }
            Err(error) => {
                tracing::warn!(%error, "looking for destroyed keys was stopped");
                KeyStoreState::Failing
            }
        };
        *self.last() = LastLook { state, ended_at: self.clock.now() };
    }

    fn last(&self) -> MutexGuard<'_, LastLook> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn to_state(error: &Error) -> KeyStoreState {
    match error.is_outage() || error.is_retryable() {
        true => KeyStoreState::Unavailable,
        false => KeyStoreState::Failing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_store::StoreOptions;
    use munshi_test_support::memory_keys::unreachable_keyring;
    use munshi_test_support::on_both_engines;

    on_both_engines! {
        with [munshi_store::MIGRATIONS];

        async fn a_store_of_keys_that_does_not_answer_is_told(test: TestDb) {
            let well = KeyStoreWatch::new(test.db.clone(), test.clock.clone());
            well.look().await;
            assert_eq!(well.state(), KeyStoreState::Answering);
            let options = StoreOptions { keyring: Some(unreachable_keyring()), ..test.options.clone() };
            let cut = Db::open(&test.address, &options, &test.migrations).await.unwrap();
            let cut = KeyStoreWatch::new(cut, test.clock.clone());
            assert_eq!(cut.state(), KeyStoreState::Answering, "it was opened before anything is served");
            cut.look().await;
            assert_eq!(cut.state(), KeyStoreState::Unavailable);
        }

        async fn a_look_that_never_ends_is_told(test: TestDb) {
            let watch = KeyStoreWatch::new(test.db.clone(), test.clock.clone());
            test.clock.advance(TIMEOUT);
            assert_eq!(watch.state(), KeyStoreState::Answering);
            test.clock.advance(Duration::from_secs(1));
            assert_eq!(watch.state(), KeyStoreState::Stuck { seconds: 31 });
        }
    }
}
