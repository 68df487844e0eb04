//! What the audit is still to be told.

use munshi_store::Tx;
use munshi_types::{IdGenerator, Timestamp};

use super::office::ActServices;
use crate::audit::{self, NewAuditEntry};
use crate::error::Result;

/// Entries of a transaction, told at its end: the audit comes last in the order of locks, so that whoever else writes
/// in the same transaction (a run's journal, a tool's own tables) does so before.
#[derive(Debug, Default)]
#[must_use = "what happened has to be told in the same transaction"]
pub struct DeferredAuditEntries(Vec<NewAuditEntry>);

impl DeferredAuditEntries {
    pub(crate) fn of(entry: NewAuditEntry) -> Self {
        Self(vec![entry])
    }

    pub fn and(mut self, later: Self) -> Self {
        self.0.extend(later.0);
        self
    }

    pub fn tell(self, tx: &mut Tx<'_>, office: &ActServices, now: Timestamp) -> Result<()> {
        self.tell_with(tx, &office.ids, now)
    }

    /// The same for those who have no office at hand.
    pub fn tell_with(self, tx: &mut Tx<'_>, ids: &IdGenerator, now: Timestamp) -> Result<()> {
        audit::append_all(tx, &self.0, now, ids)
    }
}
