//! Looking at jobs, and running the dead ones again.

use munshi_store::{
    Cursor, Page, PageRequest, PlatformAdminTx, PlatformTx, across_tenants, params, sql_in_both_orders,
};
use munshi_types::{Id, JobId, TenantId, Timestamp};

use crate::error::{Error, Result};
use crate::job::{JobState, JobView};

/// Jobs in one state, newest first or the other way round, of one tenant or of all.
pub fn list(
    tx: &mut PlatformTx<'_>,
    state: JobState,
    tenant: Option<TenantId>,
    request: &PageRequest,
) -> Result<Page<JobView>> {
    let anyone = tenant.is_none();
    let tenant = tenant.unwrap_or(TenantId::PLATFORM);
    let rows = tx.all(
        across_tenants(request.choose(sql_in_both_orders!(
            "SELECT id, tenant_id, kind, priority, state, run_at, attempt, max_attempts, last_error, created_at,
                    finished_at
             FROM jobs WHERE state = $1 AND (created_at, id) < ($2, $3) AND (tenant_id = $4 OR $5)
             ORDER BY created_at DESC, id DESC LIMIT $6"
        ))),
        params![state.as_str(), request.after.time, request.after.id, tenant, anyone, request.fetch_limit()],
        JobView::read,
    )?;
    Ok(Page::from_rows(rows, request, |job| Cursor { time: job.created_at, id: job.id.as_uuid() }))
}

pub fn find(tx: &mut PlatformTx<'_>, id: JobId) -> Result<Option<JobView>> {
    Ok(tx.optional(
        across_tenants(
            "SELECT id, tenant_id, kind, priority, state, run_at, attempt, max_attempts, last_error, created_at,
                    finished_at
             FROM jobs WHERE id = $1",
        ),
        params![id],
        JobView::read,
    )?)
}

/// Gives a dead job all its tries again; false when there is no dead job with this id.
pub fn retry(tx: &mut PlatformAdminTx<'_, '_>, id: JobId, now: Timestamp) -> Result<bool> {
    let changed = tx.execute(
        across_tenants(
            "UPDATE jobs SET state = 'ready', attempt = 0, run_at = $2, finished_at = NULL
             WHERE id = $1 AND state = 'dead'",
        ),
        params![id, now],
    );
    match changed {
        Ok(count) => Ok(count == 1),
        Err(munshi_store::Error::Conflict { .. }) => Err(Error::AlreadyQueued(id)),
        Err(error) => Err(error.into()),
    }
}

/// Gives up to a thousand dead jobs of a kind (or of all kinds) their tries again; those whose work is queued already
/// stay where they are.
pub fn retry_all(tx: &mut PlatformAdminTx<'_, '_>, kind: Option<&str>, now: Timestamp) -> Result<u64> {
    let (any, kind) = (kind.is_none(), kind.unwrap_or_default());
    Ok(tx.execute(
        across_tenants(
            "UPDATE jobs SET state = 'ready', attempt = 0, run_at = $3, finished_at = NULL
             WHERE id IN (
               SELECT min_id FROM (
                 SELECT id AS min_id, row_number() OVER (
                   PARTITION BY tenant_id, kind, coalesce(unique_key, CAST(id AS TEXT)) ORDER BY created_at DESC, id DESC
                 ) AS place
                 FROM jobs dead WHERE state = 'dead' AND (kind = $1 OR $2) AND NOT EXISTS (
                   SELECT 1 FROM jobs alive WHERE alive.tenant_id = dead.tenant_id AND alive.kind = dead.kind
                     AND alive.unique_key = dead.unique_key AND alive.state IN ('scheduled', 'ready', 'running'))
               ) AS candidates WHERE place = 1 LIMIT 1000)",
        ),
        params![kind, any, now],
    )?)
}
