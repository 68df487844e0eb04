//! Which processes hold runs, as others can tell them apart.

use munshi_store::{PlatformTx, Result as StoreResult, Row, across_tenants, params};
use munshi_types::{HolderId, Timestamp};

pub use crate::process_identity::{DeathProof, ProcessIdentity};

/// Stores a process, and forgets those that hold nothing any more.
pub fn add(
    tx: &mut PlatformTx<'_>,
    id: HolderId,
    process: &ProcessIdentity,
    now: Timestamp,
) -> StoreResult<()> {
    tx.execute(
        across_tenants(
            "DELETE FROM run_holders WHERE NOT EXISTS (
               SELECT 1 FROM runs WHERE runs.lease_until IS NOT NULL AND runs.holder = run_holders.id)
             AND since < $1",
        ),
        params![now.minus(std::time::Duration::from_secs(7 * 24 * 3600))],
    )?;
    tx.execute(
        across_tenants(
            "INSERT INTO run_holders (id, node, machine, pid, started, since) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (id) DO UPDATE SET since = excluded.since",
        ),
        params![id, process.node, process.machine, i64::from(process.pid), process.started, now],
    )?;
    Ok(())
}

/// The other processes that hold runs now.
pub fn list_others(tx: &mut PlatformTx<'_>, me: HolderId) -> StoreResult<Vec<(HolderId, ProcessIdentity)>> {
    tx.all(
        across_tenants(
            "SELECT id, node, machine, pid, started FROM run_holders WHERE id <> $1 AND id IN (
               SELECT holder FROM runs WHERE lease_until IS NOT NULL AND holder IS NOT NULL)",
        ),
        params![me],
        read,
    )
}

fn read(row: &Row<'_>) -> StoreResult<(HolderId, ProcessIdentity)> {
    let pid: i64 = row.get(3)?;
    let process = ProcessIdentity {
        node: row.get(1)?,
        machine: row.get(2)?,
        pid: u32::try_from(pid).unwrap_or(u32::MAX),
        started: row.get(4)?,
    };
    Ok((row.get(0)?, process))
}
