//! Runs that wait: turns that found no free place, and which of them comes next, whichever node has one; and those whose
//! question somebody has to answer.
//!
//! Fair among tenants: of two that wait, the one comes first whose tenant has fewer turns under way and waiting before it,
//! so that a tenant with a thousand messages delays the others by one turn each.

use munshi_store::{PlatformTx, Result as StoreResult, across_tenants, params};
use munshi_types::{RunId, TenantId, Timestamp};
use uuid::Uuid;

use super::lease::to_limit;
use super::{LEASE, LeaseTerms, RunLease};

/// Those that come next, of all tenants that are not at rest.
pub fn list_waiting(tx: &mut PlatformTx<'_>, limit: usize) -> StoreResult<Vec<(TenantId, RunId)>> {
    tx.all(
        across_tenants(
            "WITH waiting AS (
               SELECT q.tenant_id, q.id, q.began_at,
                      row_number() OVER (PARTITION BY q.tenant_id ORDER BY q.began_at, q.id) AS position
               FROM runs q JOIN tenants t ON t.id = q.tenant_id AND t.status = 'active'
               WHERE q.state = 'created' AND q.lease_until IS NULL AND q.lane = 'chat' AND NOT EXISTS (
                 SELECT 1 FROM runs o WHERE o.tenant_id = q.tenant_id AND o.session_id = q.session_id
                   AND o.number > 0 AND o.ended_at IS NULL AND o.id <> q.id
                   AND (o.lease_until IS NOT NULL OR (o.state = 'created' AND o.number < q.number)))),
             busy AS (SELECT tenant_id, count(*) AS turns FROM runs WHERE lease_until IS NOT NULL AND lane = 'chat'
                      GROUP BY tenant_id)
             SELECT w.tenant_id, w.id FROM waiting w LEFT JOIN busy b ON b.tenant_id = w.tenant_id
             ORDER BY w.position + coalesce(b.turns, 0), w.began_at, w.id LIMIT $1",
        ),
        params![to_limit(limit)],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Takes up those of them that still wait; what another node is taking up right now is left to it.
pub fn claim_waiting(
    tx: &mut PlatformTx<'_>,
    found: &[(TenantId, RunId)],
    terms: LeaseTerms,
) -> StoreResult<Vec<RunLease>> {
    let mut taken = Vec::new();
    for (tenant, run) in found {
        taken.extend(claim_one(tx, *tenant, *run, terms)?);
    }
    Ok(taken)
}

fn claim_one(
    tx: &mut PlatformTx<'_>,
    tenant: TenantId,
    run: RunId,
    terms: LeaseTerms,
) -> StoreResult<Option<RunLease>> {
    let (until, holder) = (terms.now.plus(LEASE), terms.holder);
    tx.optional(
        across_tenants((
            "UPDATE runs SET epoch = epoch + 1, lease_until = $3, holder = $4
             WHERE tenant_id = $1 AND id = $2 AND state = 'created' AND lease_until IS NULL AND ended_at IS NULL
               AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.tenant_id = runs.tenant_id AND o.session_id = runs.session_id
                 AND o.number > 0 AND o.ended_at IS NULL AND o.lease_until IS NOT NULL)
             RETURNING epoch",
            "WITH picked AS MATERIALIZED (
               SELECT q.tenant_id, q.id FROM runs q WHERE q.tenant_id = $1 AND q.id = $2 AND q.state = 'created'
                 AND q.lease_until IS NULL AND q.ended_at IS NULL AND NOT EXISTS (
                   SELECT 1 FROM runs o WHERE o.tenant_id = q.tenant_id AND o.session_id = q.session_id
                     AND o.number > 0 AND o.ended_at IS NULL AND o.lease_until IS NOT NULL)
               FOR UPDATE OF q SKIP LOCKED)
             UPDATE runs SET epoch = epoch + 1, lease_until = $3, holder = $4 FROM picked
             WHERE runs.tenant_id = picked.tenant_id AND runs.id = picked.id
             RETURNING runs.epoch",
        )),
        params![tenant, run, until, holder],
        |row| Ok(RunLease { tenant, run, epoch: row.get(0)?, until }),
    )
}

/// A page of those of all tenants that wait for a person, the longest first: behind the run that is named, and from the first
/// one where none is.
pub fn list_waiting_for_person(
    tx: &mut PlatformTx<'_>,
    after: Option<(Timestamp, RunId)>,
    limit: u32,
) -> StoreResult<Vec<(TenantId, RunId, Timestamp)>> {
    let (began_at, run) = after.unwrap_or((Timestamp::EPOCH, RunId::from_uuid(Uuid::nil())));
    tx.all(
        across_tenants(
            "SELECT tenant_id, id, began_at FROM runs WHERE state = 'waiting_approval' AND (began_at, id) > ($1, $2)
             ORDER BY began_at, id LIMIT $3",
        ),
        params![began_at, run, i64::from(limit)],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )
}
