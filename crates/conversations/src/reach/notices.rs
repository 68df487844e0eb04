//! Who was told of what, and what became of it.

use std::collections::BTreeMap;

use munshi_store::{Result, Row, Tx, params};
use munshi_types::{MessageId, PersonId, Timestamp};
use uuid::Uuid;

use super::places::{NoticeOutcome, NoticeRecord};
use super::preferences::ReachKind;
use crate::columns::{read_enum, read_optional_enum};
use crate::outbox::{OutboxHold, OutboxState};

/// Somebody was told of something that is not over.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenNotice {
    pub subject: Uuid,
    pub kind: ReachKind,
    pub person: PersonId,
    /// What went there.
    pub message: MessageId,
    /// It has not left.
    pub is_waiting: bool,
    pub told: NoticeRecord,
}

/// Somebody is being told.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewReachNotice {
    pub subject: Uuid,
    pub person: PersonId,
    pub recipient: Uuid,
    pub kind: ReachKind,
    pub message: MessageId,
}

/// How many mails of one kind somebody got lately.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecentMails {
    pub in_hour: usize,
    pub in_day: usize,
}

/// What waits behind a mail that waits for the morning does so too.
pub(super) fn list_open(tx: &mut Tx<'_>) -> Result<Vec<OpenNotice>> {
    tx.all(
        "SELECT n.subject_id, n.kind, n.person_id, n.recipient, n.message_id, o.state,
                CASE WHEN o.state = 'sent' THEN COALESCE(o.sent_at, n.told_at) ELSE n.told_at END AS heard_at,
                COALESCE(o.waits_for, (SELECT MAX(w.waits_for) FROM outbox w
                  WHERE w.tenant_id = $1 AND w.lane = o.lane AND w.state = 'waiting' AND w.waits_for = 'hours')) AS waits_for
         FROM reach_notices n LEFT JOIN outbox o ON o.tenant_id = $1 AND o.message_id = n.message_id
         WHERE n.tenant_id = $1 AND n.ended_at IS NULL ORDER BY n.told_at",
        params![],
        read,
    )
}

fn read(row: &Row<'_>) -> Result<OpenNotice> {
    let state = read_optional_enum::<OutboxState>(row, "state")?;
    let outcome = match (state, read_optional_enum::<OutboxHold>(row, "waits_for")?) {
        (Some(OutboxState::Waiting), Some(OutboxHold::Hours)) => NoticeOutcome::Held,
        (Some(OutboxState::Waiting | OutboxState::Sending | OutboxState::Unknown), _) => NoticeOutcome::Open,
        (Some(OutboxState::Failed), _) => NoticeOutcome::Failed,
        // What is kept no longer had its end, and what somebody took back is not to be said.
        (Some(OutboxState::Sent | OutboxState::Cancelled) | None, _) => NoticeOutcome::Sent,
    };
    let (recipient, at) = (row.get("recipient")?, row.get("heard_at")?);
    Ok(OpenNotice {
        subject: row.get("subject_id")?,
        kind: read_enum(row, "kind")?,
        person: row.get("person_id")?,
        message: row.get("message_id")?,
        is_waiting: state == Some(OutboxState::Waiting),
        told: NoticeRecord { recipient, at, outcome },
    })
}

/// False where they were told of it at this address before. What is told anew after it was over begins again.
pub(super) fn add(tx: &mut Tx<'_>, notice: &NewReachNotice, now: Timestamp) -> Result<bool> {
    let rows = tx.execute(
        "INSERT INTO reach_notices (tenant_id, subject_id, person_id, recipient, kind, message_id, told_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (tenant_id, subject_id, person_id, recipient) DO UPDATE
           SET message_id = excluded.message_id, told_at = excluded.told_at, ended_at = NULL, emptied_at = NULL
           WHERE reach_notices.ended_at IS NOT NULL",
        params![notice.subject, notice.person, notice.recipient, notice.kind.as_str(), notice.message, now],
    )?;
    Ok(rows > 0)
}

/// There is nothing to tell of it any more.
pub(super) fn end(tx: &mut Tx<'_>, subject: Uuid, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE reach_notices SET ended_at = $3 WHERE tenant_id = $1 AND subject_id = $2 AND ended_at IS NULL",
        params![subject, now],
    )?;
    Ok(())
}

/// They were not told after all: it was taken back before it left.
pub(super) fn forget(tx: &mut Tx<'_>, message: MessageId) -> Result<()> {
    tx.execute(
        "DELETE FROM reach_notices WHERE tenant_id = $1 AND message_id = $2 AND ended_at IS NULL",
        params![message],
    )?;
    Ok(())
}

/// How many mails of each kind each got, without those that were taken back.
pub(super) fn count_recent(
    tx: &mut Tx<'_>,
    (hour, day): (Timestamp, Timestamp),
) -> Result<BTreeMap<(PersonId, ReachKind), RecentMails>> {
    let counted = tx.all(
        "SELECT n.person_id, n.kind, COUNT(DISTINCT CASE WHEN n.told_at > $2 THEN n.message_id END) AS in_hour,
                COUNT(DISTINCT n.message_id) AS in_day
         FROM reach_notices n
         WHERE n.tenant_id = $1 AND n.told_at > $3
           AND NOT EXISTS (SELECT 1 FROM outbox o
                           WHERE o.tenant_id = $1 AND o.message_id = n.message_id AND o.state = 'cancelled')
         GROUP BY n.person_id, n.kind",
        params![hour, day],
        |row| {
            let (in_hour, in_day): (i64, i64) = (row.get("in_hour")?, row.get("in_day")?);
            let count = |count: i64| usize::try_from(count).unwrap_or_default();
            let recent = RecentMails { in_hour: count(in_hour), in_day: count(in_day) };
            Ok(((row.get::<PersonId>("person_id")?, read_enum(row, "kind")?), recent))
        },
    )?;
    Ok(counted.into_iter().collect())
}

/// Messages whose words nobody needs any more: they were sent, or what they told is over.
pub(super) fn list_told_out(tx: &mut Tx<'_>, limit: u32) -> Result<Vec<MessageId>> {
    tx.all(
        "SELECT DISTINCT n.message_id FROM reach_notices n
         JOIN outbox o ON o.tenant_id = $1 AND o.message_id = n.message_id
         WHERE n.tenant_id = $1 AND n.emptied_at IS NULL
           AND (o.state = 'sent' OR (o.state IN ('failed', 'unknown', 'cancelled')
             AND NOT EXISTS (SELECT 1 FROM reach_notices s
                             WHERE s.tenant_id = $1 AND s.message_id = n.message_id AND s.ended_at IS NULL)))
         LIMIT $2",
        params![limit],
        |row| row.get(0),
    )
}

pub(super) fn mark_emptied(tx: &mut Tx<'_>, message: MessageId, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE reach_notices SET emptied_at = $3 WHERE tenant_id = $1 AND message_id = $2",
        params![message, now],
    )?;
    Ok(())
}

/// Whether a message told somebody of something.
pub(super) fn is_notice(tx: &mut Tx<'_>, message: MessageId) -> Result<bool> {
    let found = tx.optional(
        "SELECT 1 FROM reach_notices WHERE tenant_id = $1 AND message_id = $2 LIMIT 1",
        params![message],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

/// Deletes what was over before.
pub(super) fn sweep(tx: &mut Tx<'_>, before: Timestamp) -> Result<u64> {
    tx.execute("DELETE FROM reach_notices WHERE tenant_id = $1 AND ended_at < $2", params![before])
}
