//! What the audit is still to be told.

use munshi_store::Tx;
use munshi_types::{Ids, Timestamp};

use super::office::Office;
use crate::audit::{self, NewEntry};
use crate::error::Result;

/// Entries of a transaction, told at its end: the audit comes last in the order of locks, so that whoever else writes
/// in the same transaction (a run's journal, a tool's own tables) does so before.
#[derive(Debug, Default)]
#[must_use = "what happened has to be told in the same transaction"]
pub struct Untold(Vec<NewEntry>);

impl Untold {
    pub(crate) fn of(entry: NewEntry) -> Self {
        Self(vec![entry])
    }

    pub fn and(mut self, later: Self) -> Self {
        self.0.extend(later.0);
        self
    }

    pub fn tell(self, tx: &mut Tx<'_>, office: &Office, now: Timestamp) -> Result<()> {
        self.tell_with(tx, &office.ids, now)
    }

    /// The same for those who have no office at hand.
    pub fn tell_with(self, tx: &mut Tx<'_>, ids: &Ids, now: Timestamp) -> Result<()> {
        audit::append_all(tx, &self.0, now, ids)
    }
}
