//! What is stored of work that nobody typed: that somebody should go on with it, that it waits, how it ended.

use std::time::Duration;

use munshi_identity::persons::check_not_forgotten;
use munshi_jobs::{JobQueue, NewJob, Priority};
use munshi_llm::calls;
use munshi_pack::ChildOutcome;
use munshi_safety::budget::RunUse;
use munshi_safety::pipeline::Taint;
use munshi_store::{JsonText, PlatformTx, Row, SealedBy, Tx, across_tenants, params};
use munshi_types::{Id, ReservationId, RunId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::columns::read_optional_sealed_json;
use crate::error::{Error, Result};
use crate::runs::{REASON, RESULT, Run, RunCause, RunLane, RunLease, SNAPSHOT, ServicePrincipal};
use crate::sealing::{seal_by_owner, seal_optional};
use crate::snapshot::{RunSnapshot, sum};
use crate::state::{HaltReason, RunState};

/// The kind of job that works on a run.
pub const RUN_JOB: &str = "agent.run";
/// Whoever renews every few seconds is not held for dead so soon after the end of its lease.
const LAPSED: Duration = Duration::from_secs(5);
/// What should have begun or gone on for so long has lost its job.
const OVERDUE: Duration = Duration::from_secs(600);
/// A run that somebody else holds is looked at again until its lease has passed, and some more.
const ATTEMPTS: u32 = 40;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RunJobPayload {
    pub run: RunId,
}

/// Has somebody go on with a run. `reason` is part of what the job is known by: two reasons are two jobs, so that neither is
/// lost while the other is worked on.
pub fn enqueue_run(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    run: RunId,
    reason: &str,
    at: Option<Timestamp>,
) -> Result<()> {
    let job = NewJob::new(RUN_JOB, &RunJobPayload { run })?
        .priority(Priority::Background)
        .attempts(ATTEMPTS)
        .unique(format!("{run}/{reason}"));
    let job = match at {
        Some(at) => job.run_at(at),
        None => job,
    };
    queue.enqueue(tx, &job)?;
    Ok(())
}

/// A run to be stored that nobody typed.
pub struct NewBackgroundRow<'a> {
    pub kind: &'a str,
    pub cause: RunCause,
    pub cause_key: Option<&'a str>,
    pub parent: Option<RunId>,
    pub principal: &'a ServicePrincipal,
    pub snapshot: &'a RunSnapshot,
    pub reservation: Option<ReservationId>,
    pub now: Timestamp,
}

/// False where the cause has made one already. Refused for somebody who was forgotten.
pub fn add(tx: &mut Tx<'_>, id: RunId, new: &NewBackgroundRow<'_>) -> Result<bool> {
    let delegator = new.principal.delegator.as_ref();
    if let Some(by) = delegator {
        check_not_forgotten(tx, by.person)?;
    }
    let by = seal_by_owner(tx, delegator.map(|by| by.person))?;
    let snapshot = tx.seal_json(by, SNAPSHOT.cell(id), new.snapshot)?;
    let added = tx.execute(
        "INSERT INTO runs (tenant_id, id, kind, cause, cause_key, parent_id, principal, lane, state, epoch, snapshot,
           cancel_asked, began_at, reservation, person_id, binding_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'created', 0, $9, FALSE, $10, $11, $12, $13)
         ON CONFLICT (tenant_id, kind, cause_key) WHERE cause_key IS NOT NULL DO NOTHING",
        params![
            id,
            new.kind,
            new.cause.as_str(),
            new.cause_key,
            new.parent,
            JsonText::of(new.principal)?,
            RunLane::Background.as_str(),
            snapshot,
            new.now,
            new.reservation,
            delegator.map(|by| by.person),
            delegator.and_then(|by| by.binding)
        ],
    )?;
    Ok(added == 1)
}

pub fn find_by_cause(tx: &mut Tx<'_>, kind: &str, key: &str) -> Result<Option<RunId>> {
    Ok(tx.optional(
        "SELECT id FROM runs WHERE tenant_id = $1 AND kind = $2 AND cause_key = $3",
        params![kind, key],
        |row| row.get(0),
    )?)
}

/// How many runs stand above this one; no more are counted than `most`.
pub fn count_ancestors(tx: &mut Tx<'_>, run: &Run, most: usize) -> Result<usize> {
    let (mut above, mut next) = (0, run.parent);
    while let Some(parent) = next.filter(|_| above < most) {
        above += 1;
        let found: Option<Option<RunId>> = tx.optional(
            "SELECT parent_id FROM runs WHERE tenant_id = $1 AND id = $2",
            params![parent],
            |row| row.get(0),
        )?;
        next = found.flatten();
    }
    Ok(above)
}

/// A run that somebody should go on with, and why.
pub struct StrandedRun {
    pub tenant: TenantId,
    pub run: RunId,
    pub reason: String,
}

/// Runs of all tenants that nobody goes on with though somebody should: their holder has not renewed, or their job was given up.
/// Under the reason that the job had, no second one is made where it is still there. Those of tenants at rest stand in nobody's way.
pub fn list_stranded(
    tx: &mut PlatformTx<'_>,
    now: Timestamp,
    limit: usize,
) -> munshi_store::Result<Vec<StrandedRun>> {
    let (lapsed, overdue) = (now.minus(LAPSED), now.minus(OVERDUE));
    let mut stranded = Vec::new();
    let lists = [
        (
            across_tenants(
                "SELECT tenant_id, id, 'lapsed' AS reason FROM runs WHERE lease_until <= $1 AND lane = 'background'
                   AND EXISTS (SELECT 1 FROM tenants t WHERE t.id = runs.tenant_id AND t.status = 'active')
                 ORDER BY lease_until LIMIT $2",
            ),
            lapsed,
        ),
        (
            across_tenants(
                "SELECT tenant_id, id, 'begin' AS reason FROM runs WHERE lane = 'background' AND state = 'created'
                   AND lease_until IS NULL AND began_at <= $1
                   AND EXISTS (SELECT 1 FROM tenants t WHERE t.id = runs.tenant_id AND t.status = 'active')
                 LIMIT $2",
            ),
            overdue,
        ),
        (
            across_tenants(
                "SELECT tenant_id, id, 'due/' || epoch AS reason FROM runs WHERE due_at <= $1
                   AND EXISTS (SELECT 1 FROM tenants t WHERE t.id = runs.tenant_id AND t.status = 'active')
                 ORDER BY due_at LIMIT $2",
            ),
            overdue,
        ),
    ];
    for (text, before) in lists {
        stranded.extend(tx.all(text, params![before, i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
            Ok(StrandedRun { tenant: row.get(0)?, run: row.get(1)?, reason: row.get(2)? })
        })?);
    }
    Ok(stranded)
}

/// What a run waits for.
pub struct RunPause {
    pub state: RunState,
    pub due_at: Option<Timestamp>,
}

/// Stores what a run waits for. Says whether somebody has asked meanwhile that it stop.
pub fn pause(
    tx: &mut Tx<'_>,
    (lease, by): (RunLease, SealedBy),
    snapshot: &RunSnapshot,
    pause: &RunPause,
) -> Result<bool> {
    let snapshot = tx.seal_json(by, SNAPSHOT.cell(lease.run), snapshot)?;
    let is_stopped: Option<bool> = tx.optional(
        "UPDATE runs SET state = $4, snapshot = $5, due_at = $6, lease_until = NULL, holder = NULL
         WHERE tenant_id = $1 AND id = $2 AND epoch = $3 AND ended_at IS NULL AND lease_until IS NOT NULL
         RETURNING cancel_asked",
        params![lease.run, lease.epoch, pause.state.as_str(), snapshot, pause.due_at],
        |row| row.get(0),
    )?;
    is_stopped.ok_or(Error::LostRun(lease.run))
}

/// What came of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunResult {
    pub ok: bool,
    pub result: Value,
    /// Whose words stand in it, and what was carried out on the way to it.
    #[serde(default)]
    pub taint: Taint,
    /// What it and those it began have used on models.
    #[serde(default)]
    pub used: RunUse,
}

pub fn end(
    tx: &mut Tx<'_>,
    (lease, by): (RunLease, SealedBy),
    halt: Option<&HaltReason>,
    result: &RunResult,
    now: Timestamp,
) -> Result<()> {
    let state = if halt.is_some() { RunState::Halted } else { RunState::Done };
    let reason = halt.map(JsonText::of).transpose()?;
    let reason = seal_optional(tx, by, REASON.cell(lease.run), reason.as_ref().map(JsonText::as_str))?;
    let result = tx.seal_json(by, RESULT.cell(lease.run), result)?;
    let changed = tx.execute(
        "UPDATE runs SET state = $4, reason = $5, result = $6, ended_at = $7, snapshot = '{}', due_at = NULL,
                lease_until = NULL, holder = NULL
         WHERE tenant_id = $1 AND id = $2 AND epoch = $3 AND ended_at IS NULL AND lease_until IS NOT NULL",
        params![lease.run, lease.epoch, state.as_str(), reason, result, now],
    )?;
    if changed == 1 { Ok(()) } else { Err(Error::LostRun(lease.run)) }
}

/// How one has ended.
pub struct EndedChild {
    pub outcome: ChildOutcome,
    /// Whose words stand in what it ended with.
    pub taint: Taint,
}

/// How those that a run began have ended, in their order; none while one of them goes on.
pub fn collect_children(tx: &mut Tx<'_>, children: &[RunId]) -> Result<Option<Vec<EndedChild>>> {
    let mut outcomes = Vec::new();
    for run in children {
        let found: Option<(bool, Option<RunResult>)> = tx.optional(
            "SELECT ended_at IS NOT NULL, result FROM runs WHERE tenant_id = $1 AND id = $2",
            params![run],
            |row| Ok((row.get(0)?, read_optional_sealed_json(row, 1, RESULT.cell(*run))?)),
        )?;
        let RunResult { ok, result, taint, .. } = match found {
            Some((false, _)) => return Ok(None),
            Some((true, Some(result))) => result,
            Some((true, None)) | None => {
                RunResult { result: json!({ "code": "gone" }), ..RunResult::default() }
            }
        };
        outcomes.push(EndedChild { outcome: ChildOutcome { run: *run, ok, result }, taint });
    }
    Ok(Some(outcomes))
}

/// What the runs have used that a run began, on models; of those that go on, all that they may use. One that can't be read has used
/// what its calls sum to.
pub fn sum_use_of_children(tx: &mut Tx<'_>, parent: RunId) -> Result<RunUse> {
    let children: Vec<(RunId, Result<RunUse, munshi_store::Error>)> = tx.all(
        "SELECT id, result, CASE WHEN ended_at IS NULL THEN snapshot END FROM runs WHERE tenant_id = $1 AND parent_id = $2",
        params![parent],
        |row| {
            let child = row.get(0)?;
            Ok((child, read_use(row, child)))
        },
    )?;
    let mut used = RunUse::default();
    for (child, theirs) in children {
        let theirs = match theirs {
            Err(error) if error.is_unreadable() => {
                RunSnapshot::default().use_with_calls(calls::sum_spend_of_run(tx, child.as_uuid())?)
            }
            theirs => theirs?,
        };
        used = sum(used, theirs);
    }
    Ok(used)
}

/// What a run has used, by what it ended with, or may use, by what it carries.
fn read_use(row: &Row<'_>, run: RunId) -> munshi_store::Result<RunUse> {
    let snapshot: Option<RunSnapshot> = read_optional_sealed_json(row, 2, SNAPSHOT.cell(run))?;
    if let Some(snapshot) = snapshot {
        let share = snapshot.work.and_then(|work| work.share);
        return Ok(share
            .map(|share| RunUse::default().with_call(share.tokens, share.money))
            .unwrap_or_default());
    }
    let result: Option<RunResult> = read_optional_sealed_json(row, 1, RESULT.cell(run))?;
    Ok(result.map(|result| result.used).unwrap_or_default())
}

/// A run and all that it began, directly or through others.
pub fn list_with_descendants(tx: &mut Tx<'_>, run: RunId) -> Result<Vec<RunId>> {
    Ok(tx.all(
        "WITH RECURSIVE tree (id) AS (
           SELECT r.id FROM runs r WHERE r.tenant_id = $1 AND r.id = $2
           UNION SELECT c.id FROM runs c JOIN tree ON c.parent_id = tree.id WHERE c.tenant_id = $1)
         SELECT id FROM tree",
        params![run],
        |row| row.get(0),
    )?)
}

/// Those of a run that have not ended.
pub fn list_open_children(tx: &mut Tx<'_>, parent: RunId) -> Result<Vec<RunId>> {
    Ok(tx.all(
        "SELECT id FROM runs WHERE tenant_id = $1 AND parent_id = $2 AND ended_at IS NULL",
        params![parent],
        |row| row.get(0),
    )?)
}
