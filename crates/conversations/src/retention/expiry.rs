//! What a tenant keeps no longer: messages with what their conversations and runs knew, files, acts. A batch is one transaction, and
//! done again it goes on.

use std::collections::BTreeSet;
use std::time::Duration;

use munshi_safety::acts::{self, ActExpiry};
use munshi_safety::policy::RetentionPeriods;
use munshi_store::{Db, Tx, params};
use munshi_types::{Id, MessageId, RunId, TenantId, Timestamp};

use super::archive::{clear_idle_sessions, collect_messages, remove};
use crate::erasure::erase_runs;
use crate::error::Result;
use crate::search::remove_from_index;
use crate::{human_requests, outbox, stored_prompts};

const BATCH: u32 = 500;
const DAY: Duration = Duration::from_secs(86_400);

/// How much was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpiryReport {
    pub messages: u64,
    pub runs: u64,
    pub files: u64,
    pub acts: u64,
    pub prompts: u64,
}

/// When the older of something ends.
pub(super) fn find_end(days: Option<u32>, now: Timestamp) -> Option<Timestamp> {
    days.map(|days| now.minus(DAY * days))
}

/// Deletes what is past its time in the database. The archive's files are looked through [apart](super::expire_files).
pub async fn expire(
    db: &Db,
    tenant: TenantId,
    periods: &RetentionPeriods,
    now: Timestamp,
) -> Result<ExpiryReport> {
    let mut report = ExpiryReport::default();
    if let Some(before) = find_end(periods.messages_days, now) {
        report.messages = expire_messages(db, tenant, before).await?;
        report.messages +=
            repeat(db, tenant, move |tx| Ok(outbox::expire_notices(tx, before, BATCH)?)).await?;
        report.runs = repeat(db, tenant, move |tx| expire_runs(tx, before)).await?;
        let clear = move |tx: &mut Tx<'_>| -> Result<()> {
            clear_idle_sessions(tx, before)?;
            Ok(human_requests::expire_before(tx, before)?)
        };
        db.write(tenant, clear).await?;
    }
    if let Some(before) = find_end(periods.files_days, now) {
        report.files = repeat(db, tenant, move |tx| Ok(munshi_blobs::expire(tx, before, BATCH)?)).await?;
    }
    if let Some(before) = find_end(periods.acts_days, now) {
        report.acts = repeat(db, tenant, move |tx| expire_acts(tx, before, now)).await?;
    }
    if let Some(before) = find_end(periods.prompts_days, now) {
        report.prompts = repeat(db, tenant, move |tx| Ok(stored_prompts::expire(tx, before, BATCH)?)).await?;
    }
    Ok(report)
}

/// Deletes the prompts of a tenant that stores none any more. That hangs on no clock.
pub(super) async fn remove_prompts(db: &Db, tenant: TenantId) -> Result<u64> {
    repeat(db, tenant, |tx| Ok(stored_prompts::remove_some(tx, BATCH)?)).await
}

/// Until nothing more is found.
async fn repeat<F>(db: &Db, tenant: TenantId, batch: F) -> Result<u64>
where
    F: Fn(&mut Tx<'_>) -> Result<u64> + Clone + Send + 'static,
{
    let mut all = 0;
    loop {
        let batch = batch.clone();
        match db.write(tenant, move |tx| batch(tx)).await? {
            0 => return Ok(all),
            count => all += count,
        }
    }
}

/// Each batch leaves the index before it goes.
async fn expire_messages(db: &Db, tenant: TenantId, before: Timestamp) -> Result<u64> {
    let mut all = 0;
    loop {
        let found = db.read(tenant, move |tx| list_expired(tx, before)).await?;
        remove_from_index(db, tenant, collect_messages(&found)).await?;
        match db.write(tenant, move |tx| expire_batch(tx, before)).await? {
            0 => return Ok(all),
            count => all += count,
        }
    }
}

/// Messages of runs that have ended, and that nobody is about to send.
fn list_expired(tx: &mut Tx<'_>, before: Timestamp) -> munshi_store::Result<Vec<(MessageId, RunId)>> {
    tx.all(
        "SELECT m.id, m.run_id FROM messages m
         JOIN runs r ON r.tenant_id = $1 AND r.id = m.run_id
         LEFT JOIN outbox o ON o.tenant_id = $1 AND o.message_id = m.id
         WHERE m.tenant_id = $1 AND m.said_at < $2 AND r.ended_at IS NOT NULL
           AND (o.state IS NULL OR o.state NOT IN ('waiting', 'sending'))
         ORDER BY m.said_at, m.id LIMIT $3",
        params![before, BATCH],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Some messages, with the steps of their runs.
fn expire_batch(tx: &mut Tx<'_>, before: Timestamp) -> Result<u64> {
    let found = list_expired(tx, before)?;
    // Held before anything else, as by everybody who removes messages: nobody waits for another in a ring.
    munshi_index::remove(tx, &collect_messages(&found))?;
    for (message, _) in &found {
        munshi_blobs::release(tx, munshi_blobs::BlobHolder::Message(*message))?;
    }
    let runs: BTreeSet<RunId> = found.iter().map(|(_, run)| *run).collect();
    let runs: Vec<_> = runs.into_iter().map(Id::as_uuid).collect();
    erase_runs(tx, &runs)?;
    remove(tx, &found)?;
    Ok(found.len() as u64)
}

/// What runs without a message have left, and those whose messages went to the archive.
fn expire_runs(tx: &mut Tx<'_>, before: Timestamp) -> Result<u64> {
    let found = tx.all(
        "SELECT id FROM runs WHERE tenant_id = $1 AND NOT emptied AND began_at < $2 AND ended_at < $2
         ORDER BY began_at, id LIMIT $3",
        params![before, BATCH],
        |row| row.get(0),
    )?;
    erase_runs(tx, &found)?;
    Ok(found.len() as u64)
}

fn expire_acts(tx: &mut Tx<'_>, before: Timestamp, now: Timestamp) -> Result<u64> {
    let open_runs = tx.all(
        "SELECT id FROM runs WHERE tenant_id = $1 AND ended_at IS NULL AND began_at < $2",
        params![before],
        |row| row.get(0),
    )?;
    Ok(acts::expire(tx, &ActExpiry { before, now, open_runs }, BATCH)?)
}
