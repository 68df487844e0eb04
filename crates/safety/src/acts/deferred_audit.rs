//! What the audit is still to be told.

use munshi_store::Tx;
use munshi_types::{IdGenerator, Timestamp};

use super::services::ActServices;
use crate::audit::{self, NewAuditEntry};
use crate::error::Result;

/// Entries of a transaction, told at its end: the audit comes last in the order of locks, so that whoever else writes
/// in the same transaction (a run's journal, a tool's own tables) does so before.
#[derive(Debug, Default)]
#[must_use = "audit entries must be written in the same transaction"]
pub struct DeferredAuditEntries(Vec<NewAuditEntry>);

impl DeferredAuditEntries {
    pub(crate) fn from_entry(entry: NewAuditEntry) -> Self {
        Self(vec![entry])
    }

    pub fn merge(mut self, later: Self) -> Self {
        self.0.extend(later.0);
        self
    }

    pub fn record(self, tx: &mut Tx<'_>, act_services: &ActServices, now: Timestamp) -> Result<()> {
        self.record_with_ids(tx, &act_services.ids, now)
    }

    /// The same for those who have no act services at hand.
    pub fn record_with_ids(self, tx: &mut Tx<'_>, ids: &IdGenerator, now: Timestamp) -> Result<()> {
        audit::append_all(tx, &self.0, now, ids)
    }
}
