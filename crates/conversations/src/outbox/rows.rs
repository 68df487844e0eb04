//! The outbox as the store keeps it.

use std::str::FromStr;

use munshi_jobs::JobQueue;
use munshi_store::{
    Cursor, Page, PageRequest, Result, Row, SealedBy, SealedColumn, Tx, params, sql_in_both_orders,
};
use munshi_types::tier::Channel;
use munshi_types::{Id, JobId, MessageId, OutboundMessage, PersonId, SessionId, Timestamp};
use serde::Serialize;

use super::delivery_job::enqueue_job;
use crate::columns::{read_count, read_enum, read_sealed_json};
use crate::sealing::{seal_by_owner, seal_optional};

pub(crate) const BODY: SealedColumn = SealedColumn::new("outbox", "body");
pub(crate) const DETAIL: SealedColumn = SealedColumn::new("outbox", "detail").forgotten_as_null();
pub const OUTSIDE_ID: SealedColumn = SealedColumn::new("outbox", "outside_id").forgotten_as_null();

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboxState {
    Waiting,
    Sending,
    Sent,
    /// It may have been sent, and sending it again might double it.
    Unknown,
    Failed,
}

impl OutboxState {
    pub const ALL: [Self; 5] = [Self::Waiting, Self::Sending, Self::Sent, Self::Unknown, Self::Failed];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
        }
    }
}

impl FromStr for OutboxState {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| format!("unknown outbox state `{text}`"))
    }
}

/// A message on its way out, as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutboxView {
    pub message: MessageId,
    pub session: SessionId,
    pub channel: Channel,
    pub state: OutboxState,
    pub attempts: u32,
    /// Why it is not sent yet, or what is not known.
    pub detail: Option<String>,
    pub outside_id: Option<String>,
    pub made_at: Timestamp,
    pub sent_at: Option<Timestamp>,
}

/// Writes a message down to be sent, and the job that does it. Its address stands in the sealed body, and nothing reads it
/// anywhere else: its own column stays empty.
pub fn enqueue(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    (session, by): (SessionId, SealedBy),
    outbound: &OutboundMessage,
    now: Timestamp,
) -> crate::Result<()> {
    let body = tx.seal_json(by, BODY.cell(outbound.id), outbound)?;
    tx.execute(
        "INSERT INTO outbox (tenant_id, message_id, session_id, channel, address, body, state, attempts, made_at)
         VALUES ($1, $2, $3, $4, '', $5, 'waiting', 0, $6)",
        params![outbound.id, session, outbound.to.channel.as_str(), body, now],
    )?;
    enqueue_job(tx, queue, outbound.id)
}

pub fn find(tx: &mut Tx<'_>, message: MessageId) -> Result<Option<OutboxView>> {
    tx.optional(
        "SELECT message_id, session_id, channel, state, attempts, detail, outside_id, made_at, sent_at FROM outbox
         WHERE tenant_id = $1 AND message_id = $2",
        params![message],
        read,
    )
}

/// What has not been sent, for whatever reason, newest first or the other way round.
pub fn list_unsent(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<OutboxView>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT message_id, session_id, channel, state, attempts, detail, outside_id, made_at, sent_at FROM outbox
             WHERE tenant_id = $1 AND state <> 'sent' AND (made_at, message_id) < ($2, $3)
             ORDER BY made_at DESC, message_id DESC LIMIT $4"
        )),
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |row| Cursor { time: row.made_at, id: row.message.as_uuid() }))
}

fn read(row: &Row<'_>) -> Result<OutboxView> {
    let message: MessageId = row.get("message_id")?;
    Ok(OutboxView {
        message,
        session: row.get("session_id")?,
        channel: read_enum(row, "channel")?,
        state: read_enum(row, "state")?,
        attempts: read_count(row, "attempts")?,
        detail: row.get_sealed("detail", DETAIL.cell(message))?,
        outside_id: row.get_sealed("outside_id", OUTSIDE_ID.cell(message))?,
        made_at: row.get("made_at")?,
        sent_at: row.get("sent_at")?,
    })
}

/// The oldest unsent message of a session.
pub(super) struct OutboxHead {
    pub message: MessageId,
    /// Whom it is sent to.
    pub person: Option<PersonId>,
    pub state: OutboxState,
    /// The job that was at it last.
    pub job: Option<JobId>,
    pub outbound: OutboundMessage,
}

/// What is unsent in a message's session, in the order it was said. Held until the transaction ends, so that whoever is
/// just done with one of them is waited for.
pub(super) fn lock_session_queue(tx: &mut Tx<'_>, message: MessageId) -> Result<Vec<OutboxHead>> {
    tx.all(
        (
            "SELECT o.message_id, o.state, o.job, o.body, s.person_id FROM outbox o
             JOIN messages m ON m.tenant_id = $1 AND m.id = o.message_id
             LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = o.session_id
             WHERE o.tenant_id = $1 AND o.state IN ('waiting', 'sending') AND o.session_id = (
               SELECT mine.session_id FROM outbox mine WHERE mine.tenant_id = $1 AND mine.message_id = $2)
             ORDER BY m.number",
            "SELECT o.message_id, o.state, o.job, o.body, s.person_id FROM outbox o
             JOIN messages m ON m.tenant_id = $1 AND m.id = o.message_id
             LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = o.session_id
             WHERE o.tenant_id = $1 AND o.state IN ('waiting', 'sending') AND o.session_id = (
               SELECT mine.session_id FROM outbox mine WHERE mine.tenant_id = $1 AND mine.message_id = $2)
             ORDER BY m.number FOR UPDATE OF o",
        ),
        params![message],
        |row| {
            let message: MessageId = row.get(0)?;
            Ok(OutboxHead {
                message,
                person: row.get(4)?,
                state: read_enum(row, 1)?,
                job: row.get(2)?,
                outbound: read_sealed_json(row, 3, BODY.cell(message))?,
            })
        },
    )
}

/// Says which job is at a message now.
pub(super) fn mark_sending(tx: &mut Tx<'_>, message: MessageId, job: JobId) -> Result<()> {
    tx.execute(
        "UPDATE outbox SET state = 'sending', job = $3, attempts = attempts + 1
         WHERE tenant_id = $1 AND message_id = $2",
        params![message, job],
    )?;
    Ok(())
}

/// Where a message stands after a try.
pub(super) struct OutboxUpdate<'a> {
    /// Whom the message is sent to.
    pub person: Option<PersonId>,
    pub state: OutboxState,
    pub detail: Option<&'a str>,
    pub outside_id: Option<&'a str>,
    pub now: Timestamp,
}

/// False where another job has come to another end meanwhile.
pub(super) fn set(tx: &mut Tx<'_>, message: MessageId, job: JobId, after: &OutboxUpdate<'_>) -> Result<bool> {
    let sent_at = (after.state == OutboxState::Sent).then_some(after.now);
    let by = seal_by_owner(tx, after.person)?;
    let detail = seal_optional(tx, by, DETAIL.cell(message), after.detail)?;
    let outside_id = seal_optional(tx, by, OUTSIDE_ID.cell(message), after.outside_id)?;
    let changed = tx.execute(
        "UPDATE outbox SET state = $4, detail = $5, outside_id = $6, sent_at = $7
         WHERE tenant_id = $1 AND message_id = $2 AND job = $3 AND state = 'sending'",
        params![message, job, after.state.as_str(), detail, outside_id, sent_at],
    )?;
    Ok(changed == 1)
}
