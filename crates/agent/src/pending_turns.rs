//! Turns that were queued here and have not begun: what is known of them already, and that one more has come.
//!
//! A turn under way asks for those of its own session, and waits for the next: nobody looks through those of others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use munshi_tiers::BindingResolution;
use munshi_types::{PersonId, RunId, SessionId};
use tokio::sync::Notify;

/// More are not remembered; what is forgotten is looked up.
const MOST: usize = 10_000;

/// What is known of a turn before it begins.
#[derive(Clone)]
pub(crate) struct PendingTurn {
    pub(crate) binding: Arc<BindingResolution>,
    pub(crate) person: PersonId,
    pub(crate) session: SessionId,
    pub(crate) ingest: Duration,
}

#[derive(Default)]
pub(crate) struct PendingTurns(Mutex<PendingTurnTable>);

#[derive(Default)]
struct PendingTurnTable {
    turns: HashMap<RunId, PendingTurn>,
    by_session: HashMap<SessionId, Vec<RunId>>,
    /// Of sessions whose turn waits for what may come.
    watched: HashMap<SessionId, Arc<Notify>>,
}

impl PendingTurns {
    /// Remembers it, and tells the turn of its session that waits for more.
    pub(crate) fn remember(&self, run: RunId, waiting: PendingTurn) {
        let session = waiting.session;
        let mut table = self.lock();
        // Those that another node took up are never asked for.
        if table.turns.len() >= MOST {
            table.turns.clear();
            table.by_session.clear();
        }
        if table.turns.insert(run, waiting).is_none() {
            table.by_session.entry(session).or_default().push(run);
        }
        if let Some(watch) = table.watched.get(&session) {
            watch.notify_waiters();
        }
    }

    /// Takes it out: it begins, or has ended and is not to be begun.
    pub(crate) fn take(&self, run: RunId) -> Option<PendingTurn> {
        let mut table = self.lock();
        let taken = table.turns.remove(&run)?;
        if let Some(runs) = table.by_session.get_mut(&taken.session) {
            runs.retain(|known| *known != run);
            if runs.is_empty() {
                table.by_session.remove(&taken.session);
            }
        }
        Some(taken)
    }

    /// Those of a session.
    pub(crate) fn list(&self, session: SessionId) -> Vec<RunId> {
        self.lock().by_session.get(&session).cloned().unwrap_or_default()
    }

    /// Hears of those that come in a session, as long as it is held.
    pub(crate) fn watch(&self, session: SessionId) -> PendingTurnWatch<'_> {
        let arrived = self.lock().watched.entry(session).or_default().clone();
        PendingTurnWatch { turns: self, session, arrived }
    }

    fn lock(&self) -> MutexGuard<'_, PendingTurnTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a turn waits with for the next message of its session.
pub(crate) struct PendingTurnWatch<'a> {
    turns: &'a PendingTurns,
    session: SessionId,
    pub(crate) arrived: Arc<Notify>,
}

impl Drop for PendingTurnWatch<'_> {
    fn drop(&mut self) {
        let mut table = self.turns.lock();
        // One is the table's, and one this one's.
        if Arc::strong_count(&self.arrived) <= 2 {
            table.watched.remove(&self.session);
        }
    }
}
