//! Taking a run up, keeping it, and giving it away.

use std::time::Duration;

use munshi_store::{PlatformTx, Result as StoreResult, SealedBy, Tx, across_tenants, params};
use munshi_types::{HolderId, Id, RunId, TenantId, Timestamp};

use super::{LEASE, LeaseTerms, Run, RunLease, SNAPSHOT, read};
use crate::error::{Error, Result};
use crate::snapshot::RunSnapshot;
use crate::state::RunState;

/// What a holder learns when it renews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLeaseRenewal {
    pub cancel_asked: bool,
    pub lease_until: Timestamp,
}

/// Goes on holding. [`Error::LostRun`] where somebody else has taken the run up.
pub fn renew(tx: &mut Tx<'_>, lease: RunLease, now: Timestamp) -> Result<RunLeaseRenewal> {
    let lease_until = now.plus(LEASE);
    let asked = tx.optional(
        "UPDATE runs SET lease_until = $4 WHERE tenant_id = $1 AND id = $2 AND epoch = $3 AND lease_until IS NOT NULL
         RETURNING cancel_asked",
        params![lease.run, lease.epoch, lease_until],
        |row| row.get(0),
    )?;
    let cancel_asked = asked.ok_or(Error::LostRun(lease.run))?;
    Ok(RunLeaseRenewal { cancel_asked, lease_until })
}

/// Claims a run that nobody works on: its lease has expired, or it waits. None if it is held or has ended. A run that
/// waited for a person becomes `acting`, so later runs of its session wait for it. Don't call this for a run that waits
/// for an earlier turn: its reply would come out of order.
pub fn claim(tx: &mut Tx<'_>, id: RunId, terms: impl Into<LeaseTerms>) -> StoreResult<Option<Run>> {
    let LeaseTerms { now, holder } = terms.into();
    tx.optional(
        "UPDATE runs SET epoch = epoch + 1, lease_until = $4, holder = $5,
                state = CASE WHEN state IN ('waiting_approval', 'waiting_child', 'waiting_timer') THEN 'acting' ELSE state END, due_at = NULL
         WHERE tenant_id = $1 AND id = $2 AND ended_at IS NULL AND (lease_until IS NULL OR lease_until <= $3)
         RETURNING id, session_id, number, binding_id, person_id, message_id, kind, channel, reply_to, state, reason,
                   epoch, lease_until, snapshot, reservation, reply_id, cancel_asked, began_at, ended_at, key_use,
                   cause, parent_id, principal, lane",
        params![id, now, now.plus(LEASE), holder],
        read,
    )
}

/// As [`claim`], without reading what the run carries: for one that can't be worked on, to end it.
pub fn claim_bare(tx: &mut Tx<'_>, id: RunId, terms: LeaseTerms) -> StoreResult<Option<RunLease>> {
    let LeaseTerms { now, holder } = terms;
    let (tenant, until) = (tx.tenant(), now.plus(LEASE));
    tx.optional(
        "UPDATE runs SET epoch = epoch + 1, lease_until = $4, holder = $5
         WHERE tenant_id = $1 AND id = $2 AND ended_at IS NULL AND (lease_until IS NULL OR lease_until <= $3)
         RETURNING epoch",
        params![id, now, until, holder],
        |row| Ok(RunLease { tenant, run: id, epoch: row.get(0)?, until }),
    )
}

/// Takes a run from a process that is known to be dead, whatever its lease says. None where somebody else was quicker.
pub fn claim_from_dead(tx: &mut Tx<'_>, lease: RunLease, terms: LeaseTerms) -> StoreResult<Option<Run>> {
    let LeaseTerms { now, holder } = terms;
    tx.optional(
        "UPDATE runs SET epoch = epoch + 1, lease_until = $4, holder = $5
         WHERE tenant_id = $1 AND id = $2 AND epoch = $3 AND ended_at IS NULL AND lease_until IS NOT NULL
         RETURNING id, session_id, number, binding_id, person_id, message_id, kind, channel, reply_to, state, reason,
                   epoch, lease_until, snapshot, reservation, reply_id, cancel_asked, began_at, ended_at, key_use,
                   cause, parent_id, principal, lane",
        params![lease.run, lease.epoch, now.plus(LEASE), holder],
        read,
    )
}

/// Ends a run that waits for a person, since another run goes on with what it wanted. None where it does not wait.
pub fn supersede(tx: &mut Tx<'_>, id: RunId, now: Timestamp) -> StoreResult<Option<Run>> {
    let ended = tx.optional(
        "UPDATE runs SET epoch = epoch + 1, state = 'done', ended_at = $3
         WHERE tenant_id = $1 AND id = $2 AND state = 'waiting_approval' AND lease_until IS NULL AND ended_at IS NULL
         RETURNING id, session_id, number, binding_id, person_id, message_id, kind, channel, reply_to, state, reason,
                   epoch, lease_until, snapshot, reservation, reply_id, cancel_asked, began_at, ended_at, key_use,
                   cause, parent_id, principal, lane",
        params![id, now],
        read,
    )?;
    if let Some(session) = ended.as_ref().and_then(Run::session) {
        tx.announce(session.as_uuid());
    }
    Ok(ended)
}

/// What came of asking a run to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelRequestOutcome {
    NoRun,
    /// Too late.
    Ended,
    /// Whoever holds it will see it at its next step.
    Noted,
    /// Nobody works on it: whoever asked takes it up and ends it.
    Unheld,
}

pub fn request_cancel(tx: &mut Tx<'_>, id: RunId, now: Timestamp) -> StoreResult<CancelRequestOutcome> {
    let lease: Option<Option<Timestamp>> = tx.optional(
        "UPDATE runs SET cancel_asked = TRUE WHERE tenant_id = $1 AND id = $2 AND ended_at IS NULL
         RETURNING lease_until",
        params![id],
        |row| row.get(0),
    )?;
    match lease {
        Some(Some(until)) if until > now => return Ok(CancelRequestOutcome::Noted),
        Some(_) => return Ok(CancelRequestOutcome::Unheld),
        None => {}
    }
    let found =
        tx.optional("SELECT 1 FROM runs WHERE tenant_id = $1 AND id = $2", params![id], |_| Ok(()))?;
    Ok(if found.is_some() { CancelRequestOutcome::Ended } else { CancelRequestOutcome::NoRun })
}

/// Whose runs are taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunRecoveryScope {
    /// Those whose lease has passed.
    Lapsed,
    /// All runs held by another process: for SQLite, whose only process has just started. Leases taken after `since` are
    /// its own.
    All { since: Timestamp },
}

impl RunRecoveryScope {
    /// A lease taken before `since` ends by the first. One that ends after the second was taken by a clock that ran ahead.
    fn bounds(self, now: Timestamp) -> (Timestamp, Timestamp) {
        match self {
            Self::Lapsed => (now, Timestamp::MAX),
            Self::All { since } => {
                let latest = since.min(now).plus(LEASE).minus(Duration::from_micros(1));
                (latest, now.plus(LEASE))
            }
        }
    }
}

/// Whether there is anything that [`claim_due`] would take up.
pub fn is_any_due(tx: &mut PlatformTx<'_>, due: RunRecoveryScope, now: Timestamp) -> StoreResult<bool> {
    let (latest, longest) = due.bounds(now);
    let found = tx.optional(
        across_tenants(
            "SELECT 1 FROM runs WHERE (lease_until <= $1 OR lease_until > $2) AND lane = 'chat' LIMIT 1",
        ),
        params![latest, longest],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

/// Takes up runs of all tenants that their process left behind, the longest left first; what another node is taking up
/// right now is left to it.
pub fn claim_due(
    tx: &mut PlatformTx<'_>,
    due: RunRecoveryScope,
    terms: impl Into<LeaseTerms>,
    limit: usize,
) -> StoreResult<Vec<RunLease>> {
    let LeaseTerms { now, holder } = terms.into();
    let (latest, longest) = due.bounds(now);
    tx.all(
        across_tenants((
            "UPDATE runs SET epoch = epoch + 1, lease_until = $2, holder = $5 WHERE (tenant_id, id) IN
               (SELECT tenant_id, id FROM runs WHERE (lease_until <= $1 OR lease_until > $4) AND lane = 'chat'
                ORDER BY lease_until LIMIT $3)
             RETURNING tenant_id, id, epoch, lease_until",
            "WITH picked AS MATERIALIZED (
               SELECT tenant_id, id FROM runs WHERE (lease_until <= $1 OR lease_until > $4) AND lane = 'chat'
               ORDER BY lease_until LIMIT $3
               FOR UPDATE SKIP LOCKED)
             UPDATE runs SET epoch = epoch + 1, lease_until = $2, holder = $5 FROM picked
             WHERE runs.tenant_id = picked.tenant_id AND runs.id = picked.id
             RETURNING runs.tenant_id, runs.id, runs.epoch, runs.lease_until",
        )),
        params![latest, now.plus(LEASE), to_limit(limit), longest, holder],
        read_lease,
    )
}

/// Takes up runs of a process that is known to be dead, unless their leases go further than it can have renewed them.
pub fn claim_from_holder(
    tx: &mut PlatformTx<'_>,
    (dead, latest): (HolderId, Timestamp),
    terms: LeaseTerms,
    limit: usize,
) -> StoreResult<Vec<RunLease>> {
    let LeaseTerms { now, holder } = terms;
    tx.all(
        across_tenants((
            "UPDATE runs SET epoch = epoch + 1, lease_until = $2, holder = $4 WHERE (tenant_id, id) IN
               (SELECT tenant_id, id FROM runs WHERE lease_until <= $5 AND holder = $1 AND lane = 'chat'
                ORDER BY lease_until LIMIT $3)
             RETURNING tenant_id, id, epoch, lease_until",
            "WITH picked AS MATERIALIZED (
               SELECT tenant_id, id FROM runs WHERE lease_until <= $5 AND holder = $1 AND lane = 'chat'
               ORDER BY lease_until LIMIT $3
               FOR UPDATE SKIP LOCKED)
             UPDATE runs SET epoch = epoch + 1, lease_until = $2, holder = $4 FROM picked
             WHERE runs.tenant_id = picked.tenant_id AND runs.id = picked.id
             RETURNING runs.tenant_id, runs.id, runs.epoch, runs.lease_until",
        )),
        params![dead, now.plus(LEASE), to_limit(limit), holder, latest],
        read_lease,
    )
}

/// Gives a run back, so that whoever comes next need not wait for the lease to pass.
pub fn release(tx: &mut Tx<'_>, lease: RunLease, now: Timestamp) -> StoreResult<u64> {
    tx.execute(
        "UPDATE runs SET lease_until = $4 WHERE tenant_id = $1 AND id = $2 AND epoch = $3
           AND lease_until IS NOT NULL",
        params![lease.run, lease.epoch, now],
    )
}

/// Gives up the leases on background runs of a process that is known to be dead. Jobs go on with them.
pub fn release_of_holder(
    tx: &mut PlatformTx<'_>,
    (dead, latest): (HolderId, Timestamp),
    now: Timestamp,
) -> StoreResult<Vec<RunLease>> {
    tx.all(
        across_tenants(
            "UPDATE runs SET lease_until = $3, holder = NULL
             WHERE lease_until <= $2 AND holder = $1 AND lane = 'background'
             RETURNING tenant_id, id, epoch, lease_until",
        ),
        params![dead, latest, now],
        read_lease,
    )
}

pub(super) fn to_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn read_lease(row: &munshi_store::Row<'_>) -> StoreResult<RunLease> {
    let tenant: TenantId = row.get(0)?;
    Ok(RunLease { tenant, run: row.get(1)?, epoch: row.get(2)?, until: row.get(3)? })
}

/// Writes where the run is, under the epoch it was taken up with. Gives the number of its last step.
pub(crate) fn advance(
    tx: &mut Tx<'_>,
    (lease, by): (RunLease, SealedBy),
    state: RunState,
    snapshot: &RunSnapshot,
) -> Result<i64> {
    let snapshot = tx.seal_json(by, SNAPSHOT.cell(lease.run), snapshot)?;
    let last_step = tx.optional(
        "UPDATE runs SET state = $4, snapshot = $5
         WHERE tenant_id = $1 AND id = $2 AND epoch = $3 AND ended_at IS NULL AND lease_until IS NOT NULL
         RETURNING (SELECT coalesce(max(s.number), 0) FROM run_steps s WHERE s.tenant_id = $1 AND s.run_id = $2)",
        params![lease.run, lease.epoch, state.as_str(), snapshot],
        |row| row.get(0),
    )?;
    last_step.ok_or(Error::LostRun(lease.run))
}
