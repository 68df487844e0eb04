//! Taking work out, fairly.
//!
//! Priorities are asked in order. Within one, kinds take turns, and within a kind tenants stand in a circle, where each
//! claim goes on from the last tenant served: a tenant with a hundred thousand jobs gets its turn and then everybody
//! else does, whatever kinds of work they have.
//!
//! A claim takes as many statements for a thousand tenants as for one: one says which work is ready, and for each such
//! kind one finds the next tenants and one takes their jobs.

use std::collections::{HashMap, HashSet};

use munshi_store::{JsonText, PlatformSql, PlatformTx, Row, across_tenants, params};
use munshi_types::{Id, LeaseId, TenantId, Timestamp};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::Result;
use crate::job::{Job, Priority, decode_count};
use crate::lease::JobLease;

/// How many tenants are looked at in one step after only paused ones were found, at least and at most.
const PAUSED_STEP: std::ops::RangeInclusive<usize> = 32..=1024;

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
    /// How many of these in all.
    pub(crate) slots: usize,
    /// Kinds that take no worker.
    pub(crate) beside: Vec<BesideRoom>,
    pub(crate) worker: String,
    pub(crate) lease: LeaseId,
    pub(crate) until: Timestamp,
}

/// A kind that takes no worker, and how much of it there is room for.
pub(crate) struct BesideRoom {
    pub(crate) kind: String,
    pub(crate) room: usize,
    /// At most so many of one tenant,
    pub(crate) tenant_share: usize,
    /// of which it has these.
    pub(crate) busy: HashMap<TenantId, usize>,
}

/// How many more of a kind a tenant may have.
struct TenantRoom {
    share: usize,
    busy: HashMap<TenantId, usize>,
}

impl TenantRoom {
    fn unlimited() -> Self {
        Self { share: usize::MAX, busy: HashMap::new() }
    }

    fn free_for(&self, tenant: TenantId) -> usize {
        self.share.saturating_sub(self.busy.get(&tenant).copied().unwrap_or_default())
    }

    fn take(&mut self, claimed: &[Job]) {
        for job in claimed.iter().filter(|_| self.share < usize::MAX) {
            *self.busy.entry(job.tenant).or_default() += 1;
        }
    }
}

/// Claims up to `wanted.slots` jobs, beside those that take no worker, and moves the turns on.
pub(crate) fn claim(
    tx: &mut PlatformTx<'_>,
    wanted: &ClaimRequest,
    turns: &mut ClaimRotation,
) -> Result<Vec<Job>> {
    let ready = list_ready_work(tx)?;
    let is_ready = |kind: &str| ready.iter().any(|work| work.kind == kind);
    let mut kinds: Vec<(&str, usize)> = wanted
        .kinds
        .iter()
        .filter(|(kind, _)| is_ready(kind))
        .map(|(kind, free)| (kind.as_str(), *free))
        .collect();
    let start = turns.first_kind % kinds.len().max(1);
    kinds.rotate_left(start);
    turns.first_kind = turns.first_kind.wrapping_add(1);
    let mut claimed = Vec::new();
    for priority in Priority::ALL {
        let has_work =
            |kind: &str| ready.iter().any(|work| work.kind == kind && work.priority_rank == priority.rank());
        let mut with_work: Vec<(&str, &mut usize)> =
            kinds.iter_mut().filter(|(kind, _)| has_work(kind)).map(|(kind, room)| (*kind, room)).collect();
        claim_priority(tx, wanted, priority, &mut with_work, turns, &mut claimed)?;
    }
    claimed.extend(claim_beside(tx, wanted, &ready, turns)?);
    Ok(claimed)
}

/// As many of each kind that takes no worker as there is room for, by priority.
fn claim_beside(
    tx: &mut PlatformTx<'_>,
    wanted: &ClaimRequest,
    ready: &[ReadyWork],
    turns: &mut ClaimRotation,
) -> Result<Vec<Job>> {
    let mut claimed = Vec::new();
    for BesideRoom { kind, room, tenant_share, busy } in &wanted.beside {
        let mut left = *room;
        let mut tenants = TenantRoom { share: *tenant_share, busy: busy.clone() };
        for priority in Priority::ALL {
            let has_work =
                ready.iter().any(|work| work.kind == *kind && work.priority_rank == priority.rank());
            if has_work && left > 0 {
                let taken = claim_for_kind(tx, wanted, (kind, priority), (left, &mut tenants), turns)?;
                left = left.saturating_sub(taken.len());
                claimed.extend(taken);
            }
        }
    }
    Ok(claimed)
}

/// A kind that has work of a priority ready.
struct ReadyWork {
    kind: String,
    priority_rank: i64,
}

/// What has work ready, each a step in the index: most kinds are idle most of the time. SQLite has to be told which
/// index, or it takes one by state and sorts the whole backlog; Postgres is told by an order, or it reads the whole table
/// to find that a priority has none.
fn list_ready_work(tx: &mut PlatformTx<'_>) -> Result<Vec<ReadyWork>> {
    let text = (
        "WITH RECURSIVE busy (kind) AS (
           SELECT (SELECT kind FROM jobs INDEXED BY jobs_ready WHERE state = 'ready' ORDER BY kind LIMIT 1)
           UNION ALL
           SELECT (SELECT jobs.kind FROM jobs INDEXED BY jobs_ready
                   WHERE jobs.state = 'ready' AND jobs.kind > busy.kind ORDER BY jobs.kind LIMIT 1)
           FROM busy WHERE busy.kind IS NOT NULL
         ), ranks (priority) AS (VALUES (0), (1), (2))
         SELECT busy.kind, ranks.priority FROM busy, ranks
         WHERE busy.kind IS NOT NULL AND EXISTS (
           SELECT 1 FROM jobs INDEXED BY jobs_ready
           WHERE jobs.state = 'ready' AND jobs.kind = busy.kind AND jobs.priority = ranks.priority)",
        "WITH RECURSIVE busy (kind) AS (
           SELECT (SELECT kind FROM jobs WHERE state = 'ready' ORDER BY kind LIMIT 1)
           UNION ALL
           SELECT (SELECT jobs.kind FROM jobs
                   WHERE jobs.state = 'ready' AND jobs.kind > busy.kind ORDER BY jobs.kind LIMIT 1)
           FROM busy WHERE busy.kind IS NOT NULL
         ), ranks (priority) AS (VALUES (0), (1), (2))
         SELECT busy.kind, ranks.priority::bigint AS priority FROM busy CROSS JOIN ranks CROSS JOIN LATERAL (
           SELECT 1 FROM jobs
           WHERE jobs.state = 'ready' AND jobs.kind = busy.kind AND jobs.priority = ranks.priority
           ORDER BY jobs.tenant_id LIMIT 1) AS one
         WHERE busy.kind IS NOT NULL",
    );
    let read = |row: &Row<'_>| Ok(ReadyWork { kind: row.get("kind")?, priority_rank: row.get("priority")? });
    Ok(tx.all(across_tenants(text), &[], read)?)
}

/// Goes round the kinds, an equal share each, until there is no room or nothing of this priority left.
fn claim_priority(
    tx: &mut PlatformTx<'_>,
    wanted: &ClaimRequest,
    priority: Priority,
    kinds: &mut [(&str, &mut usize)],
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
            let limit = share.min(**room).min(wanted.slots.saturating_sub(claimed.len()));
            let of_tenants = &mut TenantRoom::unlimited();
            let taken = claim_for_kind(tx, wanted, (kind, priority), (limit, of_tenants), turns)?;
            **room -= taken.len().min(**room);
            *open = limit > 0 && taken.len() == limit;
            claimed.extend(taken);
        }
    }
}

/// Walks round the circle of tenants that have this work ready, until `free` are claimed or there is no work left.
fn claim_for_kind(
    tx: &mut PlatformTx<'_>,
    wanted: &ClaimRequest,
    (kind, priority): (&str, Priority),
    (free, tenants): (usize, &mut TenantRoom),
    turns: &mut ClaimRotation,
) -> Result<Vec<Job>> {
    let key = (kind.to_owned(), priority);
    let mut claimed = Vec::new();
    let mut passed_by = HashSet::new();
    let mut paused_step = 0;
    while claimed.len() < free {
        let left = free - claimed.len();
        let look = left.max(paused_step);
        let circle = list_next_tenants(tx, kind, priority, turns.tenants.get(&key).copied(), look)?;
        let is_whole = circle.len() < look;
        // Those who may have work done, as many as there is room for.
        let may = |id: &TenantId| tenants.free_for(*id) > 0;
        let active = circle.iter().filter(|(id, active)| *active && may(id)).map(|(id, _)| *id);
        let active: Vec<TenantId> = active.take(left).collect();
        let Some(last) = active.last().copied().or_else(|| circle.last().map(|(id, _)| *id)) else { break };
        let is_fresh = circle.iter().fold(false, |fresh, (id, _)| passed_by.insert(*id) || fresh);
        turns.tenants.insert(key.clone(), last);
        paused_step =
            if active.is_empty() { (look * 4).clamp(*PAUSED_STEP.start(), *PAUSED_STEP.end()) } else { 0 };
        let least = active.iter().map(|id| tenants.free_for(*id)).min().unwrap_or_default();
        let share = (left / active.len().max(1)).max(1).min(least);
        let taken = claim_for_tenants(tx, wanted, kind, priority, &active, share)?;
        // On Postgres, rows that another node is just claiming are passed by once, as paused tenants are.
        if taken.is_empty() && (is_whole || !is_fresh) {
            break;
        }
        tenants.take(&taken);
        claimed.extend(taken);
    }
    Ok(claimed)
}

/// The tenants with this work ready after the one served last, going on from the beginning at the end of the circle, and
/// whether each may have work done now. Each is one step in the index, however many jobs it has and however many tenants there
/// are: a join would read all of them.
fn list_next_tenants(
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
            "WITH RECURSIVE beginning (tenant_id) AS MATERIALIZED (
               SELECT coalesce(
                 (SELECT tenant_id FROM jobs WHERE state = 'ready' AND kind = $1 AND priority = $2 AND tenant_id >= $3
                  ORDER BY tenant_id LIMIT 1),
                 (SELECT tenant_id FROM jobs WHERE state = 'ready' AND kind = $1 AND priority = $2
                  ORDER BY tenant_id LIMIT 1))
             ), waiting (tenant_id, first_id, place) AS (
               SELECT tenant_id, tenant_id, 1 FROM beginning
               UNION ALL
               SELECT nullif(coalesce(
                   (SELECT jobs.tenant_id FROM jobs
                    WHERE jobs.state = 'ready' AND jobs.kind = $1 AND jobs.priority = $2
                      AND jobs.tenant_id > waiting.tenant_id
                    ORDER BY jobs.tenant_id LIMIT 1),
                   (SELECT jobs.tenant_id FROM jobs
                    WHERE jobs.state = 'ready' AND jobs.kind = $1 AND jobs.priority = $2
                    ORDER BY jobs.tenant_id LIMIT 1)), waiting.first_id), waiting.first_id, place + 1
               FROM waiting WHERE waiting.tenant_id IS NOT NULL AND place < $4
             )
             SELECT waiting.tenant_id,
                    coalesce((SELECT status FROM tenants WHERE tenants.id = waiting.tenant_id), 'active') = 'active' AS active
             FROM waiting WHERE waiting.tenant_id IS NOT NULL ORDER BY place",
        ),
        params![kind, priority.rank(), from, i64::try_from(count).unwrap_or(i64::MAX)],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?)
}

/// The id right after this one: both engines compare ids byte by byte.
fn successor(tenant: TenantId) -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(tenant.as_uuid().as_u128().wrapping_add(1)))
}

/// Takes up to $4 jobs of each of the tenants in $3. Those of one alone are found in one go, which on SQLite costs far less than
/// going from each job to the next. Postgres can't guess how many there are, and looks an array of ids up by its index
/// whatever it guesses.
fn choose_claim_statement(tenants: &[TenantId]) -> PlatformSql {
    if tenants.len() == 1 {
        return across_tenants((
            "UPDATE jobs SET state = 'running', attempt = attempt + 1, lease = $5, lease_until = $6, worker = $7
             WHERE id IN (SELECT id FROM jobs INDEXED BY jobs_ready
                          WHERE state = 'ready' AND kind = $1 AND priority = $2
                            AND tenant_id = unhex(json_extract($3, '$[0]'))
                          ORDER BY run_at, id LIMIT $4)
             RETURNING id, tenant_id, kind, payload, attempt, max_attempts",
            "WITH picked AS MATERIALIZED (
               SELECT id FROM jobs
               WHERE state = 'ready' AND kind = $1 AND priority = $2 AND tenant_id = ($3::jsonb ->> 0)::uuid
               ORDER BY run_at, id LIMIT $4 FOR UPDATE SKIP LOCKED)
             UPDATE jobs SET state = 'running', attempt = attempt + 1, lease = $5, lease_until = $6, worker = $7
             WHERE id = ANY (ARRAY(SELECT id FROM picked))
             RETURNING id, tenant_id, kind, payload, attempt, max_attempts",
        ));
    }
    across_tenants((
        "WITH RECURSIVE picked (tenant_id, id, place) AS (
           SELECT unhex(one.value), (SELECT id FROM jobs INDEXED BY jobs_ready
                                     WHERE state = 'ready' AND kind = $1 AND priority = $2
                                       AND tenant_id = unhex(one.value)
                                     ORDER BY run_at, id LIMIT 1), 1
           FROM json_each($3) AS one
           UNION ALL
           SELECT picked.tenant_id, (SELECT later.id FROM jobs AS later INDEXED BY jobs_ready
                                     WHERE later.state = 'ready' AND later.kind = $1 AND later.priority = $2
                                       AND later.tenant_id = picked.tenant_id
                                       AND (later.run_at, later.id)
                                           > ((SELECT run_at FROM jobs WHERE jobs.id = picked.id), picked.id)
                                     ORDER BY later.run_at, later.id LIMIT 1), place + 1
           FROM picked WHERE picked.id IS NOT NULL AND place < $4)
         UPDATE jobs SET state = 'running', attempt = attempt + 1, lease = $5, lease_until = $6, worker = $7
         WHERE id IN (SELECT id FROM picked WHERE id IS NOT NULL)
         RETURNING id, tenant_id, kind, payload, attempt, max_attempts",
        "WITH picked AS MATERIALIZED (
           SELECT next.id FROM jsonb_array_elements_text($3::jsonb) AS one CROSS JOIN LATERAL (
             SELECT id FROM jobs
             WHERE state = 'ready' AND kind = $1 AND priority = $2 AND tenant_id = one.value::uuid
             ORDER BY run_at, id LIMIT $4 FOR UPDATE SKIP LOCKED) AS next)
         UPDATE jobs SET state = 'running', attempt = attempt + 1, lease = $5, lease_until = $6, worker = $7
         WHERE id = ANY (ARRAY(SELECT id FROM picked))
         RETURNING id, tenant_id, kind, payload, attempt, max_attempts",
    ))
}

/// Claims up to `share` jobs of each tenant, the oldest first.
fn claim_for_tenants(
    tx: &mut PlatformTx<'_>,
    wanted: &ClaimRequest,
    kind: &str,
    priority: Priority,
    tenants: &[TenantId],
    share: usize,
) -> Result<Vec<Job>> {
    if tenants.is_empty() {
        return Ok(Vec::new());
    }
    let ids = JsonText::of(&tenants.iter().map(|id| id.as_uuid().simple().to_string()).collect::<Vec<_>>())?;
    let (share, rank) = (i64::try_from(share).unwrap_or(i64::MAX), priority.rank());
    let params = params![kind, rank, ids, share, wanted.lease, wanted.until, wanted.worker];
    let lease = wanted.lease;
    Ok(tx.all(choose_claim_statement(tenants), params, |row| {
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
