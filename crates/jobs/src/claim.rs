//! Taking work out, fairly.
//!
//! Kinds with room are asked in order of priority. Within a kind and priority tenants stand in a circle, and each claim
//! goes on where the last one stopped: a tenant with a hundred thousand jobs gets its turn and then everybody else does.

use std::collections::{HashMap, HashSet};

use munshi_store::{PlatformTx, across_tenants, params};
use munshi_types::{Id, LeaseId, TenantId, Timestamp};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::Result;
use crate::job::{Job, Priority, small};
use crate::lease::Lease;

/// Where each circle of tenants stopped. Kept by one runner, in memory: losing it costs nobody more than a turn.
pub(crate) type Circles = HashMap<(String, Priority), TenantId>;

/// What a runner asks for.
pub(crate) struct Wanted {
    /// Kinds with room, and how many of each.
    pub(crate) kinds: Vec<(String, usize)>,
    /// How many in all.
    pub(crate) slots: usize,
    pub(crate) worker: String,
    pub(crate) lease: LeaseId,
    pub(crate) until: Timestamp,
}

/// Claims up to `wanted.slots` jobs and moves the circles on.
pub(crate) fn claim(tx: &mut PlatformTx<'_>, wanted: &Wanted, circles: &mut Circles) -> Result<Vec<Job>> {
    let mut claimed = Vec::new();
    let mut room: HashMap<&str, usize> =
        wanted.kinds.iter().map(|(kind, free)| (kind.as_str(), *free)).collect();
    for priority in Priority::ALL {
        for (kind, _) in &wanted.kinds {
            let left = wanted.slots.saturating_sub(claimed.len());
            let free = room.get(kind.as_str()).copied().unwrap_or(0).min(left);
            if free == 0 {
                continue;
            }
            let taken = go_round(tx, wanted, kind, priority, free, circles)?;
            if let Some(rest) = room.get_mut(kind.as_str()) {
                *rest = rest.saturating_sub(taken.len());
            }
            claimed.extend(taken);
        }
    }
    Ok(claimed)
}

/// Walks round the circle of tenants that have this work ready, until there is no room or no work left.
fn go_round(
    tx: &mut PlatformTx<'_>,
    wanted: &Wanted,
    kind: &str,
    priority: Priority,
    free: usize,
    circles: &mut Circles,
) -> Result<Vec<Job>> {
    let key = (kind.to_owned(), priority);
    let mut claimed = Vec::new();
    let mut passed_by = HashSet::new();
    while claimed.len() < free {
        let left = free - claimed.len();
        let circle = next_in_circle(tx, kind, priority, circles.get(&key).copied(), left)?;
        let Some((last, _)) = circle.last() else { break };
        circles.insert(key.clone(), *last);
        let active: Vec<TenantId> = circle.iter().filter(|(_, active)| *active).map(|(id, _)| *id).collect();
        let share = left.div_ceil(active.len().max(1));
        let before = claimed.len();
        for tenant in active {
            let limit = share.min(free - claimed.len());
            claimed.extend(take(tx, wanted, kind, priority, tenant, limit)?);
        }
        // Paused tenants, and on Postgres rows that another node is just claiming, are passed by once.
        let fresh = circle.iter().filter(|(id, _)| passed_by.insert(*id)).count();
        if claimed.len() == before && fresh == 0 {
            break;
        }
    }
    Ok(claimed)
}

/// Up to `count` tenants after the one served last, going on from the beginning at the end of the circle.
fn next_in_circle(
    tx: &mut PlatformTx<'_>,
    kind: &str,
    priority: Priority,
    after: Option<TenantId>,
    count: usize,
) -> Result<Vec<(TenantId, bool)>> {
    let mut circle = waiting(tx, kind, priority, after, count)?;
    if after.is_some() && circle.len() < count {
        let rest = waiting(tx, kind, priority, None, count - circle.len())?;
        let known: HashSet<TenantId> = circle.iter().map(|(id, _)| *id).collect();
        circle.extend(rest.into_iter().filter(|(id, _)| !known.contains(id)));
    }
    Ok(circle)
}

/// Tenants with this work ready, by id, and whether each may have work done now. Each is one step in the index,
/// however many jobs it has.
fn waiting(
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

fn take(
    tx: &mut PlatformTx<'_>,
    wanted: &Wanted,
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
            attempt: small(row.get("attempt")?)?,
            max_attempts: small(row.get("max_attempts")?)?,
            lease: Lease { job: id, tenant, id: lease },
            cancelled: CancellationToken::new(),
        })
    })?)
}
