//! Brings what was committed from the log into the file, beside the writer: by itself SQLite does this at the end of some
//! unlucky unit's commit, which then takes many times as long.

use std::path::Path;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::connection::SqliteConnection;
use super::errors::translate;
use crate::error::Result;

/// A log this long is no longer waited for: the writer sees to it itself. In pages.
pub(super) const LONGEST_LOG: u32 = 16_000;

/// What is committed in this time is brought over together.
const PAUSE: Duration = Duration::from_millis(500);

/// How the writer says that something was committed. When it is dropped, the tidier ends.
pub(super) struct CheckpointSignal(Sender<()>);

impl CheckpointSignal {
    pub(super) fn notify(&self) {
        // Rung already, and not heard yet: once is enough.
        let _full = self.0.try_send(());
    }
}

pub(super) struct Checkpointer {
    connection: SqliteConnection,
    rung: Receiver<()>,
}

impl Checkpointer {
    pub(super) fn new(path: &Path, busy: Duration) -> Result<(Self, CheckpointSignal)> {
        let (bell, rung) = bounded(1);
        Ok((Self { connection: SqliteConnection::open_writer(path, busy)?, rung }, CheckpointSignal(bell)))
    }

    pub(super) fn run(self) {
        while self.rung.recv().is_ok() && self.wait() {
            if let Err(error) = self.checkpoint() {
                tracing::warn!(%error, "WAL checkpoint failed; retrying later");
            }
        }
    }

    /// False when the end has come: closing the file brings over what is left.
    fn wait(&self) -> bool {
        let until = Instant::now() + PAUSE;
        loop {
            match self.rung.recv_deadline(until) {
                Ok(()) => {}
                Err(error) => return error.is_timeout(),
            }
        }
    }

    /// As far as nobody is in the way; nobody waits for it either.
    fn checkpoint(&self) -> Result<()> {
        self.connection.raw.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).map_err(translate)
    }
}
