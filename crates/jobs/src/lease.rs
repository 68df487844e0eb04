//! The proof that one worker has a job, and what it allows.
//!
//! A job's effect and its end belong in one transaction: call [`JobLease::complete`] last in the unit that writes the effect.
//! If the lease was lost meanwhile, the unit rolls back, so that the effect happens once whoever finishes first.

use munshi_store::{PlatformTx, SealedBy, Tx, across_tenants, params};
use munshi_types::{JobId, LeaseId, TenantId, Timestamp};

use crate::error::{Error, Result};
use crate::job::LAST_ERROR;

/// What is kept of a try's end where its words can't be sealed.
const NO_WORDS: &str = "the keys were not available when this try ended: see the log";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobLease {
    pub(crate) job: JobId,
    pub(crate) tenant: TenantId,
    pub(crate) id: LeaseId,
}

impl JobLease {
    /// Finishes the job in this transaction.
    pub fn complete(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
        let changed = tx.execute(
            "UPDATE jobs SET state = 'done', finished_at = $4, lease = NULL, lease_until = NULL, last_error = NULL
             WHERE tenant_id = $1 AND id = $2 AND lease = $3 AND state = 'running'",
            params![self.job, self.id, now],
        )?;
        if changed == 1 { Ok(()) } else { Err(Error::LeaseLost(self.job)) }
    }

    /// Refuses where the job is no longer this worker's, and keeps it so until the transaction ends: for a handler that writes
    /// in several transactions.
    pub fn verify(&self, tx: &mut Tx<'_>) -> Result<()> {
        let text = (
            "SELECT 1 FROM jobs WHERE tenant_id = $1 AND id = $2 AND lease = $3 AND state = 'running'",
            "SELECT 1 FROM jobs WHERE tenant_id = $1 AND id = $2 AND lease = $3 AND state = 'running' FOR SHARE",
        );
        let held = tx.optional(text, params![self.job, self.id], |_| Ok(()))?;
        held.ok_or(Error::LeaseLost(self.job))
    }

    /// Whether the handler has finished the job itself.
    pub(crate) fn is_done(&self, tx: &mut Tx<'_>) -> Result<bool> {
        let done = tx.optional(
            "SELECT 1 FROM jobs WHERE tenant_id = $1 AND id = $2 AND state = 'done'",
            params![self.job],
            |_| Ok(()),
        )?;
        Ok(done.is_some())
    }

    /// Lets the job wait for its next try; false when the lease is no longer ours.
    pub(crate) fn retry(&self, tx: &mut Tx<'_>, at: Timestamp, why: &str) -> Result<bool> {
        let why = self.seal_reason(tx, why)?;
        let changed = tx.execute(
            "UPDATE jobs SET state = 'scheduled', run_at = $4, last_error = $5, lease = NULL, lease_until = NULL
             WHERE tenant_id = $1 AND id = $2 AND lease = $3 AND state = 'running'",
            params![self.job, self.id, at, why],
        )?;
        Ok(changed == 1)
    }

    /// As [`retry`](Self::retry), without counting this try.
    pub(crate) fn put_off(&self, tx: &mut Tx<'_>, at: Timestamp, why: &str) -> Result<bool> {
        let why = self.seal_reason(tx, why)?;
        let changed = tx.execute(
            "UPDATE jobs SET state = 'scheduled', run_at = $4, last_error = $5, attempt = attempt - 1, lease = NULL,
                    lease_until = NULL
             WHERE tenant_id = $1 AND id = $2 AND lease = $3 AND state = 'running'",
            params![self.job, self.id, at, why],
        )?;
        Ok(changed == 1)
    }

    /// Lets the job be claimed again at once; a try that was cut short is not counted. False when the lease is no
    /// longer ours.
    pub(crate) fn requeue(&self, tx: &mut Tx<'_>) -> Result<bool> {
        let changed = tx.execute(
            "UPDATE jobs SET state = 'ready', attempt = attempt - 1, lease = NULL, lease_until = NULL
             WHERE tenant_id = $1 AND id = $2 AND lease = $3 AND state = 'running'",
            params![self.job, self.id],
        )?;
        Ok(changed == 1)
    }

    /// Gives the job up; false when the lease is no longer ours.
    pub(crate) fn mark_dead(&self, tx: &mut Tx<'_>, now: Timestamp, why: &str) -> Result<bool> {
        let why = self.seal_reason(tx, why)?;
        let changed = tx.execute(
            "UPDATE jobs SET state = 'dead', finished_at = $4, last_error = $5, lease = NULL, lease_until = NULL
             WHERE tenant_id = $1 AND id = $2 AND lease = $3 AND state = 'running'",
            params![self.job, self.id, now, why],
        )?;
        Ok(changed == 1)
    }

    /// A job's end is written down whether or not its words can be: it may have failed since the keys are away.
    fn seal_reason(&self, tx: &Tx<'_>, why: &str) -> Result<String> {
        match tx.seal(SealedBy::Tenant, LAST_ERROR.cell(self.job), why) {
            Err(error) if error.is_outage() => Ok(NO_WORDS.to_owned()),
            sealed => Ok(sealed?.into_text()),
        }
    }
}

/// Extends these leases and says which of them are lost. A job whose claim was never answered is under none of them,
/// so it comes back when its time is up.
pub(crate) fn renew(tx: &mut PlatformTx<'_>, leases: &[JobLease], until: Timestamp) -> Result<Vec<JobLease>> {
    let mut lost = Vec::new();
    // In one order: whoever else changes several jobs goes by their ids, too, and neither waits for the other in a ring.
    let mut ordered: Vec<&JobLease> = leases.iter().collect();
    ordered.sort_by_key(|lease| lease.job);
    for lease in ordered {
        let renewed = tx.execute(
            across_tenants(
                "UPDATE jobs SET lease_until = $3 WHERE id = $1 AND lease = $2 AND state = 'running'",
            ),
            params![lease.job, lease.id, until],
        )?;
        // A handler may have ended its job and still be at something that needs no lease.
        if renewed == 0 && !is_done(tx, lease.job)? {
            lost.push(*lease);
        }
    }
    Ok(lost)
}

fn is_done(tx: &mut PlatformTx<'_>, job: JobId) -> Result<bool> {
    let sql = across_tenants("SELECT 1 FROM jobs WHERE id = $1 AND state = 'done'");
    Ok(tx.optional(sql, params![job], |_| Ok(()))?.is_some())
}

/// Puts back what a stopping worker's jobs did not put back themselves.
pub(crate) fn release(tx: &mut PlatformTx<'_>, worker: &str) -> Result<u64> {
    Ok(tx.execute(
        across_tenants(
            "UPDATE jobs SET state = 'ready', attempt = attempt - 1, lease = NULL, lease_until = NULL, worker = NULL
             WHERE worker = $1 AND state = 'running'",
        ),
        params![worker],
    )?)
}
