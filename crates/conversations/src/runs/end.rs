//! The end of a run, and the beginning of the one behind it.

use munshi_store::{JsonText, SealedBy, SealedText, Tx, params};
use munshi_types::{MessageId, RunId, SessionId, Timestamp};
use serde_json::json;

use super::{LEASE, LeaseTerms, REASON, RunLease, SNAPSHOT};
use crate::error::{Error, Result};
use crate::sealing::seal_optional;
use crate::snapshot::RunSnapshot;
use crate::state::{HaltReason, RunState};

/// How a run is left.
pub(crate) struct RunEndUpdate {
    /// Done, halted, or waiting for a person.
    pub state: RunState,
    pub reason: Option<HaltReason>,
    pub left: LeftSnapshot,
    pub reply: Option<MessageId>,
    /// Whether its reservation is settled with this.
    pub is_settled: bool,
}

/// What stays of what a run carried.
pub(crate) enum LeftSnapshot {
    /// Of one that has ended: whether a pack read its message by itself.
    Ended { is_read: bool },
    /// Of one that waits.
    Whole(Box<RunSnapshot>),
}

/// What came of ending a run.
pub(crate) struct EndedRun {
    /// The number of its last step so far.
    pub last_step: i64,
    /// The next of its session, where it was taken up.
    pub next: Option<RunLease>,
}

/// Ends or pauses a run, and takes up the next of its session where nobody else is at work there: one statement for
/// both. Where `takes_next` is false the next is left for whoever gives out places. The session is held by the caller, so that no message comes in between. `lease_until` goes by `nullif`, which
/// has the column's type on both engines; `number > 0` holds for all and leads SQLite to the index of what is open.
pub(crate) fn end(
    tx: &mut Tx<'_>,
    (lease, by): (RunLease, SealedBy),
    session: SessionId,
    end: &RunEndUpdate,
    (terms, takes_next): (LeaseTerms, bool),
) -> Result<EndedRun> {
    let LeaseTerms { now, holder } = terms;
    let ended_at = end.state.has_ended().then_some(now);
    let (reason, snapshot) = seal_end(tx, (lease.run, by), end)?;
    let touched: Vec<(RunId, i64, i64)> = tx.all(
        "UPDATE runs SET state = CASE WHEN id = $2 THEN $5 ELSE state END,
                reason = CASE WHEN id = $2 THEN $6 ELSE reason END,
                snapshot = CASE WHEN id = $2 THEN $7 ELSE snapshot END,
                reply_id = CASE WHEN id = $2 THEN coalesce($8, reply_id) ELSE reply_id END,
                reservation = CASE WHEN id = $2 AND $9 THEN nullif(reservation, reservation) ELSE reservation END,
                ended_at = CASE WHEN id = $2 THEN $10 ELSE ended_at END,
                epoch = CASE WHEN id = $2 THEN epoch ELSE epoch + 1 END,
                lease_until = CASE WHEN id = $2 THEN nullif(lease_until, lease_until) ELSE $11 END,
                holder = CASE WHEN id = $2 THEN nullif(holder, holder) ELSE $12 END
         WHERE tenant_id = $1 AND ((id = $2 AND epoch = $3 AND ended_at IS NULL AND lease_until IS NOT NULL) OR ($13 AND id = (
           SELECT q.id FROM runs q WHERE q.tenant_id = $1 AND q.session_id = $4 AND q.number > 0 AND q.ended_at IS NULL
             AND q.state = 'created' AND q.lease_until IS NULL AND q.id <> $2
             AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.tenant_id = $1 AND o.session_id = $4 AND o.number > 0
                               AND o.ended_at IS NULL AND o.lease_until IS NOT NULL AND o.id <> $2)
           ORDER BY q.number LIMIT 1)))
         RETURNING id, epoch,
           (SELECT coalesce(max(s.number), 0) FROM run_steps s WHERE s.tenant_id = $1 AND s.run_id = $2)",
        params![
            lease.run,
            lease.epoch,
            session,
            end.state.as_str(),
            reason,
            snapshot,
            end.reply,
            end.is_settled,
            ended_at,
            now.plus(LEASE),
            holder,
            takes_next
        ],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let own = touched.iter().find(|(id, ..)| *id == lease.run);
    let last_step = own.map(|(.., number)| *number).ok_or(Error::LostRun(lease.run))?;
    let next = touched.into_iter().find(|(id, ..)| *id != lease.run);
    let until = now.plus(LEASE);
    let next = next.map(|(run, epoch, _)| RunLease { tenant: lease.tenant, run, epoch, until });
    Ok(EndedRun { last_step, next })
}

/// Why it ended and what stays of what it carried, as they are stored.
fn seal_end(
    tx: &Tx<'_>,
    (run, by): (RunId, SealedBy),
    end: &RunEndUpdate,
) -> munshi_store::Result<(Option<SealedText>, JsonText)> {
    let reason = end.reason.as_ref().map(JsonText::of).transpose()?;
    let reason = seal_optional(tx, by, REASON.cell(run), reason.as_ref().map(JsonText::as_str))?;
    let cell = SNAPSHOT.cell(run);
    let snapshot = match &end.left {
        LeftSnapshot::Ended { is_read: true } => tx.seal_json(by, cell, &json!({ "is_read": true }))?,
        LeftSnapshot::Ended { is_read: false } => JsonText::of(&json!({}))?,
        LeftSnapshot::Whole(snapshot) => tx.seal_json(by, cell, snapshot)?,
    };
    Ok((reason, snapshot))
}

/// The run that an earlier [`end`] at that very moment took up, where it was not known whether it came to pass.
pub fn find_next_claimed(
    tx: &mut Tx<'_>,
    ended: RunId,
    now: Timestamp,
) -> munshi_store::Result<Option<RunLease>> {
    let tenant = tx.tenant();
    tx.optional(
        "SELECT n.id, n.epoch FROM runs r JOIN runs n ON n.tenant_id = $1 AND n.session_id = r.session_id AND n.number > 0
           AND n.ended_at IS NULL AND n.state = 'created' AND n.lease_until = $3
         WHERE r.tenant_id = $1 AND r.id = $2",
        params![ended, now.plus(LEASE)],
        |row| Ok(RunLease { tenant, run: row.get(0)?, epoch: row.get(1)?, until: now.plus(LEASE) }),
    )
}
