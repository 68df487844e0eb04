//! Taking work out, fairly.
//!
//! Priorities are asked in order. Within one, kinds take turns, and within a kind tenants stand in a circle, where each
//! claim goes on from the last tenant served: a tenant with a hundred thousand jobs gets its turn and then everybody
//! else does, whatever kinds of work they have.

use std::collections::{HashMap, HashSet};

use munshi_store::{PlatformTx, across_tenants, params};
use munshi_types::{Id, LeaseId, TenantId, Timestamp};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::Result;
use crate::job::{Job, Priority, decode_count};
use crate::lease::JobLease;

/// At least this many tenants are looked at in one step, so that paused ones cost little.
const TENANTS_A_STEP: usize = 32;

/// Where the turns stopped. Kept by one runner, in memory: losing it costs nobody more than a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClaimRotation {
    /// The tenant served last, by kind and priority.
    tenants: HashMap<(String, Priority), TenantId>,
    /// Which kind is asked first; another one each time.
    first_kind: usize,
}

/// What a runner asks for.
pub(crate) struct ClaimRequest {
    /// Kinds with room, and how many of each.
    pub(crate) kinds: Vec<(String, usize)>,
    /// How many in all.
    pub(crate) slots: usize,
    pub(crate) worker: String,
    pub(crate) lease: LeaseId,
    pub(crate) until: Timestamp,
}

/// Claims up to `wanted.slots` jobs and moves the turns on.
pub(crate) fn claim(
    tx: &mut PlatformTx<'_>,
    wanted: &ClaimRequest,
    turns: &mut ClaimRotation,
) -> Result<Vec<Job>> {
    let ready = ready_kinds(tx)?;
    let mut kinds: Vec<(&str, usize)> = wanted
        .kinds
        .iter()
        .filter(|(kind, _)| ready.contains(kind))
        .map(|(kind, free)| (kind.as_str(), *free))
        .collect();
    let start = turns.first_kind % kinds.len().max(1);
    kinds.rotate_left(start);
    turns.first_kind = turns.first_kind.wrapping_add(1);
    let mut claimed = Vec::new();
    for priority in Priority::ALL {
        claim_priority(tx, wanted, priority, &mut kinds, turns, &mut claimed)?;
    }
    Ok(claimed)
}

/// The kinds that have work ready, each one step in the index: most kinds are idle most of the time. SQLite has to be
/// told which index, or it takes one by state and sorts the whole backlog.
fn ready_kinds(tx: &mut PlatformTx<'_>) -> Result<HashSet<String>> {
    let text = (
        "WITH RECURSIVE busy (kind) AS (
           SELECT (SELECT kind FROM jobs INDEXED BY jobs_ready WHERE state = 'ready' ORDER BY kind LIMIT 1)
           UNION ALL
           SELECT (SELECT jobs.kind FROM jobs INDEXED BY jobs_ready
                   WHERE jobs.state = 'ready' AND jobs.kind > busy.kind ORDER BY jobs.kind LIMIT 1)
           FROM busy WHERE busy.kind IS NOT NULL
         )
         SELECT kind FROM busy WHERE kind IS NOT NULL",
        "WITH RECURSIVE busy (kind) AS (
           SELECT (SELECT kind FROM jobs WHERE state = 'ready' ORDER BY kind LIMIT 1)
           UNION ALL
           SELECT (SELECT jobs.kind FROM jobs
                   WHERE jobs.state = 'ready' AND jobs.kind > busy.kind ORDER BY jobs.kind LIMIT 1)
           FROM busy WHERE busy.kind IS NOT NULL
         )
         SELECT kind FROM busy WHERE kind IS NOT NULL",
    );
    let kinds = tx.all(across_tenants(text), &[], |row| row.get(0))?;
    Ok(kinds.into_iter().collect())
}

/// Goes round the kinds, an equal share each, until there is no room or nothing of this priority left.
fn claim_priority(
    tx: &mut PlatformTx<'_>,
    wanted: &ClaimRequest,
    priority: Priority,
    kinds: &mut [(&str, usize)],
    turns: &mut ClaimRotation,
    claimed: &mut Vec<Job>,
) -> Result<()> {
    let mut asked: Vec<bool> = vec![true; kinds.len()];
    loop {
        let open = asked.iter().filter(|open| **open).count();
        let left = wanted.slots.saturating_sub(claimed.len());
        if open == 0 || left == 0 {
            return Ok(());
        }
        let share = (left / open).max(1);
        for ((kind, room), open) in kinds.iter_mut().zip(&mut asked).filter(|(_, open)| **open) {
            let limit = share.min(*room).min(wanted.slots.saturating_sub(claimed.len()));
            let taken = claim_for_kind(tx, wanted, kind, priority, limit, turns)?;
            *room -= taken.len().min(*room);
            *open = limit > 0 && taken.len() == limit;
            claimed.extend(taken);
        }
    }
}

/// Walks round the circle of tenants that have this work ready, until `free` are claimed or there is no work left.
fn claim_for_kind(
    tx: &mut PlatformTx<'_>,
    wanted: &ClaimRequest,
    kind: &str,
    priority: Priority,
    free: usize,
    turns: &mut ClaimRotation,
) -> Result<Vec<Job>> {
    let key = (kind.to_owned(), priority);
    let mut claimed = Vec::new();
    let mut passed_by = HashSet::new();
    while claimed.len() < free {
        let left = free - claimed.len();
        let circle = list_next_tenants(tx, kind, priority, turns.tenants.get(&key).copied(), left)?;
        let active = circle.iter().filter(|(_, active)| *active).count();
        let share = (left / active.max(1)).max(1);
        let before = claimed.len();
        let mut fresh = false;
        for (tenant, active) in circle {
            if claimed.len() == free {
                break;
            }
            // Paused tenants, and on Postgres rows that another node is just claiming, are passed by once.
            fresh |= passed_by.insert(tenant);
            turns.tenants.insert(key.clone(), tenant);
            if active {
                let limit = share.min(free - claimed.len());
                claimed.extend(claim_for_tenant(tx, wanted, kind, priority, tenant, limit)?);
            }
        }
        if claimed.len() == before && !fresh {
            break;
        }
    }
    Ok(claimed)
}

/// Some tenants after the one served last, going on from the beginning at the end of the circle.
fn list_next_tenants(
    tx: &mut PlatformTx<'_>,
    kind: &str,
    priority: Priority,
    after: Option<TenantId>,
    wanted: usize,
) -> Result<Vec<(TenantId, bool)>> {
    let count = wanted.max(TENANTS_A_STEP);
    let mut circle = list_ready_tenants(tx, kind, priority, after, count)?;
    if after.is_some() && circle.len() < count {
        let rest = list_ready_tenants(tx, kind, priority, None, count - circle.len())?;
        let known: HashSet<TenantId> = circle.iter().map(|(id, _)| *id).collect();
        circle.extend(rest.into_iter().filter(|(id, _)| !known.contains(id)));
    }
    Ok(circle)
}

/// Tenants with this work ready, by id, and whether each may have work done now. Each is one step in the index,
/// however many jobs it has.
fn list_ready_tenants(
    tx: &mut PlatformTx<'_>,
    kind: &str,
    priority: Priority,
    after: Option<TenantId>,
    count: usize,
) -> Result<Vec<(TenantId, bool)>> {
    // The nil id is the installation's own and comes first.
    let from = after.map_or(TenantId::PLATFORM, successor);
    Ok(tx.all(
        across_tenants(
            "WITH RECURSIVE waiting (tenant_id, place) AS (
               SELECT (SELECT tenant_id FROM jobs
                       WHERE state = 'ready' AND kind = $1 AND priority = $2 AND tenant_id >= $3
                       ORDER BY tenant_id LIMIT 1), 1
               UNION ALL
               SELECT (SELECT jobs.tenant_id FROM jobs
                       WHERE jobs.state = 'ready' AND jobs.kind = $1 AND jobs.priority = $2
                         AND jobs.tenant_id > waiting.tenant_id
                       ORDER BY jobs.tenant_id LIMIT 1), place + 1
               FROM waiting WHERE waiting.tenant_id IS NOT NULL AND place < $4
             )
             SELECT waiting.tenant_id, coalesce(tenants.status, 'active') = 'active' AS active
             FROM waiting LEFT JOIN tenants ON tenants.id = waiting.tenant_id
             WHERE waiting.tenant_id IS NOT NULL ORDER BY place",
        ),
        params![kind, priority.rank(), from, i64::try_from(count).unwrap_or(i64::MAX)],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?)
}

/// The id right after this one: both engines compare ids byte by byte.
fn successor(tenant: TenantId) -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(tenant.as_uuid().as_u128().wrapping_add(1)))
}

fn claim_for_tenant(
    tx: &mut PlatformTx<'_>,
    wanted: &ClaimRequest,
    kind: &str,
    priority: Priority,
    tenant: TenantId,
    limit: usize,
) -> Result<Vec<Job>> {
    let text = (
        "UPDATE jobs SET state = 'running', attempt = attempt + 1, lease = $5, lease_until = $6, worker = $7
         WHERE id IN (SELECT id FROM jobs WHERE state = 'ready' AND kind = $1 AND priority = $2 AND tenant_id = $3
                      ORDER BY run_at, id LIMIT $4)
         RETURNING id, tenant_id, kind, payload, attempt, max_attempts",
        "WITH picked AS MATERIALIZED (
           SELECT id FROM jobs WHERE state = 'ready' AND kind = $1 AND priority = $2 AND tenant_id = $3
           ORDER BY run_at, id LIMIT $4 FOR UPDATE SKIP LOCKED)
         UPDATE jobs SET state = 'running', attempt = attempt + 1, lease = $5, lease_until = $6, worker = $7
         FROM picked WHERE jobs.id = picked.id
         RETURNING jobs.id, tenant_id, kind, payload, attempt, max_attempts",
    );
    let (limit, rank) = (i64::try_from(limit).unwrap_or(i64::MAX), priority.rank());
    let params = params![kind, rank, tenant, limit, wanted.lease, wanted.until, wanted.worker];
    let lease = wanted.lease;
    Ok(tx.all(across_tenants(text), params, |row| {
        let (id, tenant) = (row.get("id")?, row.get("tenant_id")?);
        Ok(Job {
            id,
            tenant,
            kind: row.get("kind")?,
            payload: row.get("payload")?,
            attempt: decode_count(row.get("attempt")?)?,
            max_attempts: decode_count(row.get("max_attempts")?)?,
            lease: JobLease { job: id, tenant, id: lease },
            cancelled: CancellationToken::new(),
        })
    })?)
}
