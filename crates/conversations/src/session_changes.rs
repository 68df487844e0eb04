//! What those who follow a session read of it: how far it has come, what was said behind a number, and which sessions have
//! changed.
//!
//! A statement that changes what they see sets `changed_at` itself and announces the session, so that this costs a turn no
//! statement more. See [`crate::sessions::touch`] for what else changes in one.

use munshi_store::{PlatformTx, Result, Row, Tx, across_tenants, params};
use munshi_types::{BindingId, PersonId, RunId, SessionId, TenantId, Timestamp};

use crate::columns::read_optional_enum;
use crate::human_requests::HumanRequestState;
use crate::messages::{self, Message};
use crate::session_waits::SessionAttention;

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPulse {
    pub binding: BindingId,
    pub person: PersonId,
    /// The number of the last message.
    pub messages: i64,
    /// How often its messages got new numbers: a number from before means another message now.
    pub renumbered: i64,
    pub merged_into: Option<SessionId>,
    /// Who of the business has it in hand.
    pub held_by: Option<PersonId>,
    /// Behind which message the agent proposes something to whoever has it in hand.
    pub draft_after: Option<i64>,
    /// How much was whispered to its agent that no turn was told.
    pub whispers: i64,
    pub changed_at: Option<Timestamp>,
}

impl SessionPulse {
    /// Whether a change that was found is one of those that this was read after.
    pub fn has_read(&self, found: &ChangedSession) -> bool {
        self.changed_at == Some(found.changed_at) && self.messages == found.messages
    }
}

/// A session that has changed, as a node finds it that asks for all tenants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedSession {
    pub tenant: TenantId,
    pub session: SessionId,
    pub changed_at: Timestamp,
    pub messages: i64,
}

/// A turn of a session that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRun {
    pub id: RunId,
    /// A person is asked; else somebody works on it, or it waits for the turn before it.
    pub is_waiting: bool,
}

/// A session of a tenant that has changed, for whoever watches all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionNews {
    pub session: SessionId,
    pub pulse: SessionPulse,
    /// How it stands in the line for a person; none where it is in none.
    pub line: Option<HumanRequestState>,
    pub changed_at: Timestamp,
    /// What it wants of whoever watches, where that was looked up.
    pub attention: SessionAttention,
}

pub fn find_pulse(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<SessionPulse>> {
    tx.optional(
        "SELECT binding_id, person_id, messages, renumbered, merged_into, held_by, whispers, draft_after, changed_at
         FROM sessions WHERE tenant_id = $1 AND id = $2",
        params![session],
        read_pulse,
    )
}

/// What was said in a session behind a number, the oldest first. Numbers are given under the session's row, and each message
/// is stored with its own: none is missing between two that are seen.
pub fn list_messages_after(
    tx: &mut Tx<'_>,
    session: SessionId,
    number: i64,
    limit: u32,
) -> Result<Vec<Message>> {
    tx.all(
        "SELECT id, session_id, number, run_id, binding_id, speaker, colleague_id, channel, outside_id, text, attached, language,
                tokens, standing, generation, marks, suggestions, said_at
         FROM messages WHERE tenant_id = $1 AND session_id = $2 AND number > $3 ORDER BY number LIMIT $4",
        params![session, number, limit],
        messages::read,
    )
}

/// Turns of a session that have not ended, the oldest first.
pub fn list_open_runs(tx: &mut Tx<'_>, session: SessionId) -> Result<Vec<OpenRun>> {
    tx.all(
        "SELECT id, state = 'waiting_approval' AS is_waiting FROM runs
         WHERE tenant_id = $1 AND session_id = $2 AND number > 0 AND ended_at IS NULL ORDER BY number",
        params![session],
        |row| Ok(OpenRun { id: row.get("id")?, is_waiting: row.get("is_waiting")? }),
    )
}

/// The sessions of all tenants that have changed since a time, the oldest change first.
pub fn list_changed(tx: &mut PlatformTx<'_>, since: Timestamp) -> Result<Vec<ChangedSession>> {
    tx.all(
        across_tenants(
            "SELECT tenant_id, id, changed_at, messages FROM sessions WHERE changed_at > $1 ORDER BY changed_at",
        ),
        params![since],
        |row| {
            Ok(ChangedSession {
                tenant: row.get(0)?,
                session: row.get(1)?,
                changed_at: row.get(2)?,
                messages: row.get(3)?,
            })
        },
    )
}

/// The sessions of this tenant that have changed behind a change, the oldest first. Several may have changed at one moment.
pub fn list_news(
    tx: &mut Tx<'_>,
    (since, session): (Timestamp, SessionId),
    limit: u32,
) -> Result<Vec<SessionNews>> {
    tx.all(
        "SELECT id, binding_id, person_id, messages, renumbered, merged_into, held_by, whispers, draft_after, changed_at,
                (SELECT h.state FROM human_requests h WHERE h.tenant_id = $1 AND h.session_id = sessions.id
                   AND h.state IN ('waiting', 'callback', 'held')) AS line
         FROM sessions WHERE tenant_id = $1 AND changed_at >= $2 AND (changed_at, id) > ($2, $3)
         ORDER BY changed_at, id LIMIT $4",
        params![since, session, limit],
        |row| {
            let changed_at = row.get("changed_at")?;
            let (session, pulse) = (row.get("id")?, read_pulse(row)?);
            let (line, attention) = (read_optional_enum(row, "line")?, SessionAttention::default());
            Ok(SessionNews { session, pulse, line, changed_at, attention })
        },
    )
}

fn read_pulse(row: &Row<'_>) -> Result<SessionPulse> {
    Ok(SessionPulse {
        binding: row.get("binding_id")?,
        person: row.get("person_id")?,
        messages: row.get("messages")?,
        renumbered: row.get("renumbered")?,
        merged_into: row.get("merged_into")?,
        held_by: row.get("held_by")?,
        draft_after: row.get("draft_after")?,
        whispers: row.get("whispers")?,
        changed_at: row.get("changed_at")?,
    })
}
