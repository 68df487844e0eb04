//! What keeps the queue moving: jobs whose time has come, jobs whose worker died, jobs long done.

use munshi_store::{PlatformTx, across_tenants, params};
use munshi_types::Timestamp;
use serde::Serialize;

use crate::error::Result;

/// At most this many rows a step, so that no step holds the writer for long.
pub(crate) const STEP: u64 = 1000;
const LIMIT: i64 = 1000;

/// Lets jobs whose time has come be claimed.
pub(crate) fn promote(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<u64> {
    let text = (
        "UPDATE jobs SET state = 'ready' WHERE id IN
           (SELECT id FROM jobs WHERE state = 'scheduled' AND run_at <= $1 ORDER BY run_at LIMIT $2)",
        "WITH picked AS MATERIALIZED (
           SELECT id FROM jobs WHERE state = 'scheduled' AND run_at <= $1 ORDER BY run_at LIMIT $2
           FOR UPDATE SKIP LOCKED)
         UPDATE jobs SET state = 'ready' FROM picked WHERE jobs.id = picked.id",
    );
    Ok(tx.execute(across_tenants(text), params![now, LIMIT])?)
}

/// Takes jobs back whose worker stopped renewing its lease. The try counts, so that a job which kills its worker
/// every time ends among the dead letters.
pub(crate) fn reclaim(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<u64> {
    let text = (
        "UPDATE jobs SET state = CASE WHEN attempt >= max_attempts THEN 'dead' ELSE 'ready' END,
                finished_at = CASE WHEN attempt >= max_attempts THEN $1 END,
                last_error = 'the worker stopped without finishing', lease = NULL, lease_until = NULL, worker = NULL
         WHERE id IN (SELECT id FROM jobs WHERE state = 'running' AND lease_until <= $1 LIMIT $2)",
        "WITH picked AS MATERIALIZED (
           SELECT id FROM jobs WHERE state = 'running' AND lease_until <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
         UPDATE jobs SET state = CASE WHEN attempt >= max_attempts THEN 'dead' ELSE 'ready' END,
                finished_at = CASE WHEN attempt >= max_attempts THEN $1::timestamptz END,
                last_error = 'the worker stopped without finishing', lease = NULL, lease_until = NULL, worker = NULL
         FROM picked WHERE jobs.id = picked.id",
    );
    Ok(tx.execute(across_tenants(text), params![now, LIMIT])?)
}

/// Removes jobs that were done before `before`. Dead ones stay until somebody runs them again.
pub(crate) fn sweep(tx: &mut PlatformTx<'_>, before: Timestamp) -> Result<u64> {
    let text = (
        "DELETE FROM jobs WHERE id IN
           (SELECT id FROM jobs WHERE state = 'done' AND finished_at < $1 ORDER BY finished_at LIMIT $2)",
        "WITH picked AS MATERIALIZED (
           SELECT id FROM jobs WHERE state = 'done' AND finished_at < $1 ORDER BY finished_at LIMIT $2
           FOR UPDATE SKIP LOCKED)
         DELETE FROM jobs USING picked WHERE jobs.id = picked.id",
    );
    Ok(tx.execute(across_tenants(text), params![before, LIMIT])?)
}

/// How full the queue is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueDepth {
    pub scheduled: i64,
    pub ready: i64,
    pub running: i64,
    pub dead: i64,
}

pub fn load_queue_depth(tx: &mut PlatformTx<'_>) -> Result<QueueDepth> {
    let rows = tx.all(
        across_tenants("SELECT state, count(*) FROM jobs WHERE state <> 'done' GROUP BY state"),
        &[],
        |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?)),
    )?;
    let count = |state: &str| rows.iter().find(|(name, _)| name == state).map_or(0, |(_, count)| *count);
    Ok(QueueDepth {
        scheduled: count("scheduled"),
        ready: count("ready"),
        running: count("running"),
        dead: count("dead"),
    })
}
