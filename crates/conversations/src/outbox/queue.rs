//! A lane of the outbox, and where a message stands after a try.

use munshi_safety::consents;
use munshi_store::{Result, Row, Tx, params};
use munshi_types::{Id, JobId, MessageId, OutboundMessage, OutboundPurpose, PersonId, SessionId, Timestamp};
use uuid::Uuid;

use super::receipts;
use super::recipient::hash_outside_id;
use super::rows::{DETAIL, OUTSIDE_ID, OutboxHold, OutboxState};
use crate::columns::{read_count, read_enum, read_optional_enum};
use crate::messages;
use crate::sealing::{seal_by_owner, seal_optional};

/// A message that has not left, without its words.
#[derive(Clone, Debug)]
pub(super) struct LaneEntry {
    pub message: MessageId,
    pub lane: Uuid,
    /// None for what leaves outside of a conversation.
    pub session: Option<SessionId>,
    /// Whom it is sent to.
    pub person: Option<PersonId>,
    pub purpose: OutboundPurpose,
    pub recipient: Option<Uuid>,
    pub about: Option<Uuid>,
    pub state: OutboxState,
    pub attempts: u32,
    pub not_before: Option<Timestamp>,
    pub waits_for: Option<OutboxHold>,
    /// By which account it was tried last.
    pub account: Option<String>,
    /// The job that was at it last.
    pub job: Option<JobId>,
    pub made_at: Timestamp,
    /// The channel has said so before we knew that it was sent.
    pub delivered_at: Option<Timestamp>,
    /// Of one that a channel sends in several, how many have left.
    pub parts_sent: u32,
}

impl LaneEntry {
    /// Whether a time was asked for that is not yet come: nothing waits behind it.
    fn is_scheduled(&self, now: Timestamp) -> bool {
        self.waits_for == Some(OutboxHold::Time) && self.is_held(now)
    }

    /// Whether nothing but time lets it go.
    pub(super) fn is_held(&self, now: Timestamp) -> bool {
        self.state == OutboxState::Waiting
            && self.waits_for != Some(OutboxHold::Hours)
            && self.not_before.is_some_and(|time| time > now)
    }
}

/// The first that may leave.
pub(super) fn find_head(lane: &[LaneEntry], now: Timestamp) -> Option<&LaneEntry> {
    lane.iter().find(|entry| !entry.is_scheduled(now))
}

/// Which lane a message is in. None where there is no such message.
pub(super) fn find_lane(tx: &mut Tx<'_>, message: MessageId) -> Result<Option<Uuid>> {
    tx.optional("SELECT lane FROM outbox WHERE tenant_id = $1 AND message_id = $2", params![message], |row| {
        row.get(0)
    })
}

/// What is unsent in a lane, in its order. Held until the transaction ends, so that whoever is just done with one of them is waited for. Every
/// transaction that changes what is unsent holds the lane first: none waits for another in a ring.
pub(super) fn lock_lane(tx: &mut Tx<'_>, lane: Uuid) -> Result<Vec<LaneEntry>> {
    tx.all(
        (
            "SELECT o.message_id, o.lane, o.session_id, COALESCE(s.person_id, o.person_id) AS person_id, o.purpose, o.recipient, o.about, o.state,
                    o.attempts, o.not_before, o.waits_for, o.account, o.job, o.made_at, o.delivered_at, o.parts_sent FROM outbox o
             LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = o.session_id
             WHERE o.tenant_id = $1 AND o.lane = $2 AND o.state IN ('waiting', 'sending')
             ORDER BY o.number, o.message_id",
            "SELECT o.message_id, o.lane, o.session_id, COALESCE(s.person_id, o.person_id) AS person_id, o.purpose, o.recipient, o.about, o.state,
                    o.attempts, o.not_before, o.waits_for, o.account, o.job, o.made_at, o.delivered_at, o.parts_sent FROM outbox o
             LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = o.session_id
             WHERE o.tenant_id = $1 AND o.lane = $2 AND o.state IN ('waiting', 'sending')
             ORDER BY o.number, o.message_id FOR UPDATE OF o",
        ),
        params![lane],
        read,
    )
}

fn read(row: &Row<'_>) -> Result<LaneEntry> {
    Ok(LaneEntry {
        message: row.get("message_id")?,
        lane: row.get("lane")?,
        session: row.get("session_id")?,
        person: row.get("person_id")?,
        purpose: read_enum(row, "purpose")?,
        recipient: row.get("recipient")?,
        about: row.get("about")?,
        state: read_enum(row, "state")?,
        attempts: read_count(row, "attempts")?,
        not_before: row.get("not_before")?,
        waits_for: read_optional_enum(row, "waits_for")?,
        account: row.get("account")?,
        job: row.get("job")?,
        made_at: row.get("made_at")?,
        delivered_at: row.get("delivered_at")?,
        parts_sent: read_count(row, "parts_sent")?,
    })
}

/// Says which job is at a message now, and by which account it leaves.
pub(super) fn mark_sending(
    tx: &mut Tx<'_>,
    message: MessageId,
    (job, now): (JobId, Timestamp),
    account: Option<&str>,
) -> Result<()> {
    tx.execute(
        "UPDATE outbox SET state = 'sending', job = $3, attempts = attempts + 1, account = $4, sending_at = $5,
                not_before = NULL, waits_for = NULL
         WHERE tenant_id = $1 AND message_id = $2",
        params![message, job, account, now],
    )?;
    Ok(())
}

/// Says that one more part of it has left. False where the message is no longer this job's to send.
pub(super) fn mark_part_sent(tx: &mut Tx<'_>, message: MessageId, job: JobId, parts: u32) -> Result<bool> {
    let marked = tx.execute(
        "UPDATE outbox SET parts_sent = $4
         WHERE tenant_id = $1 AND message_id = $2 AND job = $3 AND state = 'sending'",
        params![message, job, i64::from(parts)],
    )?;
    Ok(marked == 1)
}

/// Keeps on whose consent something goes that nobody asked for.
pub(super) fn note_consent(tx: &mut Tx<'_>, entry: &LaneEntry, now: Timestamp) -> Result<()> {
    let is_unasked =
        !matches!(entry.purpose, OutboundPurpose::Reply | OutboundPurpose::Code | OutboundPurpose::Colleague);
    let Some(recipient) = entry.recipient.filter(|_| is_unasked) else { return Ok(()) };
    let Some(consent) = consents::find_messages(tx, recipient, now)? else { return Ok(()) };
    tx.send(
        "UPDATE outbox SET consent_id = $3 WHERE tenant_id = $1 AND message_id = $2",
        params![entry.message, consent],
    )
}

/// How far a colleague's words have come is shown to whoever follows their conversation. Those on other nodes look by themselves.
fn announce(tx: &mut Tx<'_>, entry: &LaneEntry) {
    if let Some(session) = entry.session
        && entry.purpose == OutboundPurpose::Colleague
    {
        tx.announce(session.as_uuid());
    }
}

/// Lets a message wait, with why. What was refused by a limit was no attempt.
pub(super) fn hold(
    tx: &mut Tx<'_>,
    entry: &LaneEntry,
    (hold, until): (OutboxHold, Timestamp),
    why: &str,
) -> Result<()> {
    let by = seal_by_owner(tx, entry.person)?;
    let detail = seal_optional(tx, by, DETAIL.cell(entry.message), Some(why))?;
    tx.execute(
        "UPDATE outbox SET state = 'waiting', not_before = $3, waits_for = $4, detail = $5, attempts = $6
         WHERE tenant_id = $1 AND message_id = $2",
        params![entry.message, until, hold.as_str(), detail, entry.attempts],
    )?;
    announce(tx, entry);
    Ok(())
}

/// Where a message stands after a try.
#[derive(Clone, Debug)]
pub(super) struct OutboxUpdate<'a> {
    pub state: OutboxState,
    pub detail: Option<&'a str>,
    pub outside_id: Option<&'a str>,
    pub now: Timestamp,
}

/// Whoever calls holds the lane, and the message is being sent by a job of theirs. What the channel called it the last time stays where it
/// says nothing this time: it may still tell of that. True where the channel had said something of it before.
pub(super) fn settle(
    tx: &mut Tx<'_>,
    outbound: &OutboundMessage,
    entry: &LaneEntry,
    after: &OutboxUpdate<'_>,
) -> Result<bool> {
    let message = outbound.id;
    let sent_at = (after.state == OutboxState::Sent).then_some(after.now);
    let by = seal_by_owner(tx, entry.person)?;
    let detail = seal_optional(tx, by, DETAIL.cell(message), after.detail)?;
    let outside_id = seal_optional(tx, by, OUTSIDE_ID.cell(message), after.outside_id)?;
    let hash = |id: &str| hash_outside_id(tx, outbound.to.channel, id);
    let receipt_key = after.outside_id.map(hash).transpose()?;
    tx.execute(
        "UPDATE outbox SET state = $3, detail = $4, outside_id = COALESCE($5, outside_id),
                receipt_key = COALESCE($6, receipt_key), sent_at = COALESCE($7, sent_at)
         WHERE tenant_id = $1 AND message_id = $2",
        params![message, after.state.as_str(), detail, outside_id, receipt_key, sent_at],
    )?;
    announce(tx, entry);
    match receipt_key {
        Some(key) => receipts::apply_early(tx, (message, entry.person), key),
        None => Ok(false),
    }
}

/// Ends a message that a rule refuses, before anything is sent.
pub(super) fn refuse(tx: &mut Tx<'_>, entry: &LaneEntry, why: &str) -> Result<()> {
    let by = seal_by_owner(tx, entry.person)?;
    let detail = seal_optional(tx, by, DETAIL.cell(entry.message), Some(why))?;
    tx.execute(
        "UPDATE outbox SET state = 'failed', not_before = NULL, waits_for = NULL, detail = $3
         WHERE tenant_id = $1 AND message_id = $2",
        params![entry.message, detail],
    )?;
    announce(tx, entry);
    Ok(())
}

/// What the channel calls the message that a reply answers, for channels that show which.
pub(super) fn find_answered(tx: &mut Tx<'_>, message: MessageId) -> Result<Option<String>> {
    let found = tx.optional(
        "SELECT q.id, q.outside_id FROM messages m
         JOIN messages q ON q.tenant_id = $1 AND q.run_id = m.run_id AND q.speaker = 'person' AND q.channel = m.channel
         WHERE m.tenant_id = $1 AND m.id = $2 ORDER BY q.number DESC LIMIT 1",
        params![message],
        |row| {
            let id: MessageId = row.get(0)?;
            row.get_sealed("outside_id", messages::OUTSIDE_ID.cell(id))
        },
    )?;
    Ok(found.flatten())
}
