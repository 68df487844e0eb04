//! How the store is opened.

use std::sync::Arc;
use std::time::Duration;

use crate::sealing::Keyring;

/// Every field has a default that suits one machine; `munshi-wiring` fills them from its configuration.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// SQLite: threads that read.
    pub readers: usize,
    /// Postgres: connections, each with its thread.
    pub connections: usize,
    /// How long a unit's statements may run before they are stopped.
    pub statement_timeout: Duration,
    /// Postgres: how long a transaction may stand still between two statements before the server undoes it. A unit waits for nothing
    /// but the database, so one that says nothing for so long is of a process that was stopped or cut off, and others wait for its
    /// locks. Shorter than they wait for a lock: they get it.
    pub idle_timeout: Duration,
    /// How long a unit may wait for its turn before it is given up, not having run.
    pub queue_timeout: Duration,
    /// SQLite: how long to wait for another program that holds the file's lock.
    pub busy_timeout: Duration,
    /// Postgres: how long connecting and logging in may take.
    pub connect_timeout: Duration,
    /// SQLite: whether what is removed is overwritten with zeros at once.
    pub wipes_removed: bool,
    /// What seals and opens text at rest. Without one a unit that wants either is refused.
    pub keyring: Option<Arc<dyn Keyring>>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            readers: 4,
            connections: 16,
            statement_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(10),
            queue_timeout: Duration::from_secs(30),
            busy_timeout: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(10),
            wipes_removed: false,
            keyring: None,
        }
    }
}
