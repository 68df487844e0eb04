//! The outbox as it is read.

use std::str::FromStr;

use munshi_store::{Cursor, Page, PageRequest, Result, Row, SealedColumn, Tx, params, sql_in_both_orders};
use munshi_types::tier::Channel;
use munshi_types::{
    BindingId, ConsentId, Id, MessageId, OutboundMessage, OutboundPurpose, PersonId, SessionId, Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::columns::{read_count, read_enum, read_optional_enum, read_sealed_json};

pub(crate) const BODY: SealedColumn = SealedColumn::new("outbox", "body");
pub(crate) const DETAIL: SealedColumn = SealedColumn::new("outbox", "detail").forgotten_as_null();
pub const OUTSIDE_ID: SealedColumn = SealedColumn::new("outbox", "outside_id").forgotten_as_null();

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboxState {
    Waiting,
    Sending,
    Sent,
    /// It may have been sent, and sending it again might double it.
    Unknown,
    /// Given up, or refused by a rule.
    Failed,
    /// Somebody took it back before it left.
    Cancelled,
}

impl OutboxState {
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Sending, Self::Sent, Self::Unknown, Self::Failed, Self::Cancelled];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
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

/// Why a message does not leave yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboxHold {
    /// A time was asked for. What comes after it in its lane does not wait for it.
    Time,
    /// The channel, or our own limit for it, said when to come back.
    Limit,
    /// Quiet hours. Looked at again as soon as the recipient writes.
    Hours,
}

impl OutboxHold {
    pub const ALL: [Self; 3] = [Self::Time, Self::Limit, Self::Hours];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Limit => "limit",
            Self::Hours => "hours",
        }
    }
}

impl FromStr for OutboxHold {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.into_iter().find(|hold| hold.as_str() == text);
        found.ok_or_else(|| format!("unknown outbox hold `{text}`"))
    }
}

/// A message on its way out, as it is shown. Neither its words nor its address are in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutboxView {
    pub message: MessageId,
    /// None for what leaves outside of a conversation.
    pub session: Option<SessionId>,
    /// Whom it is sent to, as far as they are known.
    pub person: Option<PersonId>,
    pub binding: Option<BindingId>,
    pub channel: Channel,
    pub purpose: OutboundPurpose,
    pub state: OutboxState,
    pub attempts: u32,
    /// When it may leave, and why not sooner.
    pub not_before: Option<Timestamp>,
    pub waits_for: Option<OutboxHold>,
    /// The account that it was, or is being, sent by.
    pub account: Option<String>,
    /// Why it is not sent yet, or what is not known.
    pub detail: Option<String>,
    pub outside_id: Option<String>,
    pub made_at: Timestamp,
    pub sent_at: Option<Timestamp>,
    pub delivered_at: Option<Timestamp>,
    pub read_at: Option<Timestamp>,
    /// On which consent it went, where nobody had asked for it and its recipient had given one.
    pub consent: Option<ConsentId>,
}

pub fn find(tx: &mut Tx<'_>, message: MessageId) -> Result<Option<OutboxView>> {
    tx.optional(
        "SELECT o.message_id, o.session_id, COALESCE(s.person_id, o.person_id) AS person_id, o.binding_id, o.channel,
                o.purpose, o.state, o.attempts, o.not_before, o.waits_for, o.account, o.detail, o.outside_id, o.made_at,
                o.sent_at, o.delivered_at, o.read_at, o.consent_id
         FROM outbox o LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = o.session_id
         WHERE o.tenant_id = $1 AND o.message_id = $2",
        params![message],
        read,
    )
}

/// Of what colleagues wrote in a session behind a number: what has not left, or was refused.
pub fn list_unsent_of_session(tx: &mut Tx<'_>, session: SessionId, behind: i64) -> Result<Vec<OutboxView>> {
    tx.all(
        "SELECT o.message_id, o.session_id, COALESCE(s.person_id, o.person_id) AS person_id, o.binding_id, o.channel,
                o.purpose, o.state, o.attempts, o.not_before, o.waits_for, o.account, o.detail, o.outside_id, o.made_at,
                o.sent_at, o.delivered_at, o.read_at, o.consent_id
         FROM messages m JOIN outbox o ON o.tenant_id = $1 AND o.message_id = m.id
         LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = o.session_id
         WHERE m.tenant_id = $1 AND m.session_id = $2 AND m.number > $3 AND m.colleague_id IS NOT NULL AND o.state <> 'sent'
         ORDER BY m.number",
        params![session, behind],
        read,
    )
}

/// Whether a message was given up, refused, returned, or taken back before it left. One that is no longer kept has left.
pub fn has_failed(tx: &mut Tx<'_>, message: MessageId) -> Result<bool> {
    let found = tx.optional(
        "SELECT 1 FROM outbox WHERE tenant_id = $1 AND message_id = $2
           AND (state = 'failed' OR (state = 'cancelled' AND sending_at IS NULL))",
        params![message],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

/// What is sent, in words. None where there is no such message.
pub fn find_body(tx: &mut Tx<'_>, message: MessageId) -> Result<Option<OutboundMessage>> {
    tx.optional("SELECT body FROM outbox WHERE tenant_id = $1 AND message_id = $2", params![message], |row| {
        read_sealed_json(row, 0, BODY.cell(message))
    })
}

/// What has not been sent and was not taken back, newest first or the other way round.
pub fn list_unsent(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<OutboxView>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT o.message_id, o.session_id, COALESCE(s.person_id, o.person_id) AS person_id, o.binding_id, o.channel,
                    o.purpose, o.state, o.attempts, o.not_before, o.waits_for, o.account, o.detail, o.outside_id, o.made_at,
                    o.sent_at, o.delivered_at, o.read_at, o.consent_id
             FROM outbox o LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = o.session_id
             WHERE o.tenant_id = $1 AND o.state <> 'sent' AND o.state <> 'cancelled' AND (o.made_at, o.message_id) < ($2, $3)
             ORDER BY o.made_at DESC, o.message_id DESC LIMIT $4"
        )),
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(build_page(rows, request))
}

/// What stands in one state, newest first or the other way round. Of what was sent there is much, and of the rest an index.
pub fn list_in_state(tx: &mut Tx<'_>, state: OutboxState, request: &PageRequest) -> Result<Page<OutboxView>> {
    let sql = match state {
        OutboxState::Sent => request.choose(sql_in_both_orders!(
            "SELECT o.message_id, o.session_id, COALESCE(s.person_id, o.person_id) AS person_id, o.binding_id, o.channel,
                    o.purpose, o.state, o.attempts, o.not_before, o.waits_for, o.account, o.detail, o.outside_id, o.made_at,
                    o.sent_at, o.delivered_at, o.read_at, o.consent_id
             FROM outbox o LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = o.session_id
             WHERE o.tenant_id = $1 AND o.state = $5 AND (o.made_at, o.message_id) < ($2, $3)
             ORDER BY o.made_at DESC, o.message_id DESC LIMIT $4"
        )),
        _ => request.choose(sql_in_both_orders!(
            "SELECT o.message_id, o.session_id, COALESCE(s.person_id, o.person_id) AS person_id, o.binding_id, o.channel,
                    o.purpose, o.state, o.attempts, o.not_before, o.waits_for, o.account, o.detail, o.outside_id, o.made_at,
                    o.sent_at, o.delivered_at, o.read_at, o.consent_id
             FROM outbox o LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = o.session_id
             WHERE o.tenant_id = $1 AND o.state <> 'sent' AND o.state = $5 AND (o.made_at, o.message_id) < ($2, $3)
             ORDER BY o.made_at DESC, o.message_id DESC LIMIT $4"
        )),
    };
    let rows = tx.all(
        sql,
        params![request.after.time, request.after.id, request.fetch_limit(), state.as_str()],
        read,
    )?;
    Ok(build_page(rows, request))
}

fn build_page(rows: Vec<OutboxView>, request: &PageRequest) -> Page<OutboxView> {
    Page::from_rows(rows, request, |row| Cursor { time: row.made_at, id: row.message.as_uuid() })
}

fn read(row: &Row<'_>) -> Result<OutboxView> {
    let message: MessageId = row.get("message_id")?;
    Ok(OutboxView {
        message,
        session: row.get("session_id")?,
        person: row.get("person_id")?,
        binding: row.get("binding_id")?,
        channel: read_enum(row, "channel")?,
        purpose: read_enum(row, "purpose")?,
        state: read_enum(row, "state")?,
        attempts: read_count(row, "attempts")?,
        not_before: row.get("not_before")?,
        waits_for: read_optional_enum(row, "waits_for")?,
        account: row.get("account")?,
        detail: row.get_sealed("detail", DETAIL.cell(message))?,
        outside_id: row.get_sealed("outside_id", OUTSIDE_ID.cell(message))?,
        made_at: row.get("made_at")?,
        sent_at: row.get("sent_at")?,
        delivered_at: row.get("delivered_at")?,
        read_at: row.get("read_at")?,
        consent: row.get("consent_id")?,
    })
}
