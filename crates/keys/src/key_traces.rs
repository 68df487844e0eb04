//! What keys leave behind in files once their rows are gone or wrapped by another, and how it is cleared away.

use std::time::{Duration, Instant};

use munshi_store::{DatabaseAddress, PlatformTx, VacuumLimits, across_tenants, params};
use munshi_types::Timestamp;

use crate::error::Result;
use crate::key_store::{KEYS, KeyStore};

/// How long emptying the log may hold up whoever wants a key.
const LOG_PATIENCE: Duration = Duration::from_millis(50);

/// The same of Postgres. Whoever wants a key waits meanwhile, so it ends before they give up.
const VACUUM_LIMITS: VacuumLimits =
    VacuumLimits { lock: Duration::from_millis(50), total: Duration::from_secs(2) };

/// Postgres clears removed keys out of their pages no more often than this; whoever wants a key waits meanwhile.
const BETWEEN_VACUUMS: Duration = Duration::from_secs(60);

/// The tables that hold keys.
const TABLES: [&str; 2] = ["data_keys", "tenant_keys"];

/// What may have left traces.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyTraces {
    /// The last that was destroyed.
    pub(crate) destroyed_until: Option<Timestamp>,
    /// When keys were wrapped by another last.
    pub(crate) rewrapped_at: Option<Timestamp>,
}

/// What this process has cleared away.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClearedTraces {
    /// Nothing of keys that were destroyed until then stands in SQLite's log, nor in rows of Postgres that were removed.
    destroyed_until: Option<Timestamp>,
    /// The rewrapping, by its time, of which nothing stands there.
    rewrapped_at: Option<Timestamp>,
    vacuumed_at: Option<Instant>,
}

impl ClearedTraces {
    fn covers(&self, traces: KeyTraces) -> bool {
        let is_rewrapping_cleared = traces.rewrapped_at.is_none() || self.rewrapped_at == traces.rewrapped_at;
        self.destroyed_until >= traces.destroyed_until && is_rewrapping_cleared
    }

    /// After keys were destroyed or wrapped by another here, whatever the clocks of others say.
    pub(crate) fn forget(&mut self) {
        (self.destroyed_until, self.rewrapped_at) = (None, None);
    }
}

impl KeyStore {
    /// Whether there may be anything left of these.
    pub(crate) fn has_traces(&self, traces: KeyTraces) -> bool {
        !self.cleared.covers(traces)
    }

    /// Takes what was destroyed, or wrapped by a key that was replaced, out of SQLite's log too: the file has zeros in its place, and the
    /// log the pages from before. On Postgres, out of the tables' rows; its bytes stand in free parts of their pages until these are written
    /// over, and in the log until that is recycled.
    /// Where somebody reads the store just then, such as for a copy, it is tried again when destroyed keys are next looked for.
    pub(crate) async fn clear_traces(&mut self, traces: KeyTraces) {
        if !self.has_traces(traces)
            || self.cleared.vacuumed_at.is_some_and(|at| at.elapsed() < BETWEEN_VACUUMS)
        {
            return;
        }
        match self.clear_files().await {
            Ok(()) => {
                self.cleared.destroyed_until = self.cleared.destroyed_until.max(traces.destroyed_until);
                self.cleared.rewrapped_at = traces.rewrapped_at.or(self.cleared.rewrapped_at);
            }
            Err(error) => {
                tracing::debug!(%error, "traces of keys were not cleared from the store of keys; retrying later");
            }
        }
    }

    async fn clear_files(&mut self) -> Result<()> {
        match &self.owner {
            DatabaseAddress::Sqlite(_) => self.db.try_empty_log(LOG_PATIENCE).await?,
            DatabaseAddress::Postgres(_) => {
                self.cleared.vacuumed_at = Some(Instant::now());
                for table in TABLES {
                    self.db.vacuum(&self.owner, table, VACUUM_LIMITS).await?;
                }
            }
        }
        Ok(())
    }

    /// When keys were wrapped by another last, by whichever process.
    pub(crate) async fn find_rewrapped(&self) -> Result<Option<Timestamp>> {
        let read = |tx: &mut PlatformTx<'_>| {
            let text = "SELECT rewrapped_at FROM key_store WHERE slot = 1";
            tx.optional(across_tenants(text), &[], |row| row.get::<Option<Timestamp>>(0))
        };
        Ok(self.db.platform(KEYS).read(read).await?.flatten())
    }
}

/// In the transaction that wraps keys by another: whoever looks after the store clears away what the one before wrapped, also where this
/// process dies right after.
pub(crate) fn mark_rewrapped(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<()> {
    tx.execute(across_tenants("UPDATE key_store SET rewrapped_at = $1 WHERE slot = 1"), params![now])?;
    Ok(())
}
