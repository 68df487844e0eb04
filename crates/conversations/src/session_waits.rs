//! Who waits for an answer: since when, for whom, and what the agent proposes to whoever should give it.
//!
//! Whoever writes waits until our side says something. While a colleague has the conversation in hand it is theirs to answer what came
//! since: what the agent still finishes of what came before ends no such wait. Taking over somebody who waits in the line takes their
//! wait over.

use std::collections::BTreeMap;

use munshi_identity::persons::seal_by_person;
use munshi_jobs::{JobLease, JobQueue, NewJob};
use munshi_store::{JsonText, Result, Row, SealedColumn, Tx, params};
use munshi_types::{HoldId, Id, PersonId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::sessions::{self, Session};
use crate::unanswered_holds;

pub(crate) const DRAFT: SealedColumn = SealedColumn::new("sessions", "draft").forgotten_as_null();

/// The job that makes a draft for whoever has a conversation in hand, where its team wants that.
pub const DRAFT_KIND: &str = "holds.draft";
/// What is written in several messages is answered by one draft.
const DRAFT_AFTER: std::time::Duration = std::time::Duration::from_secs(1);

/// A conversation in somebody's hand, as a job is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldConversation {
    pub session: SessionId,
    pub hold: HoldId,
}

impl HeldConversation {
    pub(crate) fn of(session: &Session) -> Option<Self> {
        session.hold.map(|hold| Self { session: session.id, hold: hold.id })
    }
}

/// What a job does for a conversation in somebody's hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldWork {
    /// Proposes an answer.
    Draft,
    /// Looks whether somebody is left waiting.
    Look,
}

/// Somebody waits for the colleague who has their conversation in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldWait {
    pub session: SessionId,
    pub colleague: PersonId,
    pub held_at: Timestamp,
    pub since: Timestamp,
    /// How much was said in it.
    pub messages: i64,
}

/// What the agent proposes to whoever has a conversation in hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldDraft {
    pub text: String,
    /// The number of the message behind which it would stand.
    pub after: i64,
}

/// What a session wants of whoever looks at all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionAttention {
    /// Since when its person waits for an answer, or for somebody to come.
    pub waiting_since: Option<Timestamp>,
    /// How many of its person's messages the reader has not read, no more than 100; none where nobody reads.
    pub unread: Option<i64>,
}

/// Somebody has written to the colleague who has the conversation in hand, or is waiting for them since a time before that. What was
/// proposed to be said before is so no more.
pub(crate) fn begin(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    held: HeldConversation,
    (since, now): (Timestamp, Timestamp),
) -> crate::Result<()> {
    let begun = tx.execute(
        "UPDATE sessions SET waiting_since = CASE WHEN awaits_colleague THEN waiting_since ELSE $4 END,
                awaits_colleague = TRUE, draft = NULL, draft_after = NULL
         WHERE tenant_id = $1 AND id = $2 AND hold_id = $3",
        params![held.session, held.hold, since],
    )?;
    if begun > 0 {
        unanswered_holds::enqueue_look(tx, queue, held, now)?;
    }
    Ok(())
}

/// Takes over what nobody is about to answer: without a turn under way, whoever waits does for the colleague.
pub(crate) fn take_over(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    held: HeldConversation,
    now: Timestamp,
) -> crate::Result<()> {
    let waits = tx.execute(
        "UPDATE sessions SET awaits_colleague = TRUE
         WHERE tenant_id = $1 AND id = $2 AND hold_id = $3 AND waiting_since IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.tenant_id = $1 AND r.session_id = $2 AND r.number > 0
                             AND r.ended_at IS NULL)",
        params![held.session, held.hold],
    )?;
    if waits > 0 {
        unanswered_holds::enqueue_look(tx, queue, held, now)?;
    }
    Ok(())
}

/// The wait for whoever has a conversation in hand. None where they have answered, or have it in hand no more.
pub fn find(tx: &mut Tx<'_>, held: HeldConversation) -> Result<Option<HeldWait>> {
    tx.optional(
        "SELECT id, held_by, held_at, waiting_since, messages FROM sessions
         WHERE tenant_id = $1 AND id = $2 AND hold_id = $3 AND awaits_colleague AND waiting_since IS NOT NULL",
        params![held.session, held.hold],
        read_wait,
    )
}

/// The same in the session as it is by now, in which nobody writes until the transaction ends.
pub fn lock(tx: &mut Tx<'_>, held: HeldConversation) -> Result<(HeldConversation, Option<HeldWait>)> {
    let mut held = held;
    // Whoever waited for a merge finds what the session has become part of.
    while let Some(session) = sessions::find_current(tx, held.session)? {
        held.session = session.id;
        let locked = tx.execute(
            "UPDATE sessions SET awaits_colleague = awaits_colleague
             WHERE tenant_id = $1 AND id = $2 AND merged_into IS NULL",
            params![held.session],
        )?;
        if locked > 0 {
            return Ok((held, find(tx, held)?));
        }
    }
    Ok((held, None))
}

/// Ends a job that found nothing to do. Behind the session, as whoever stores a message: what comes from here on finds no job under way,
/// and what came since the job looked, when so much had been `said` where somebody waited, has another one made.
pub fn end_job(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    (lease, held): (JobLease, HeldConversation),
    (work, said): (HeldWork, Option<i64>),
    now: Timestamp,
) -> crate::Result<()> {
    let (held, wait) = lock(tx, held)?;
    lease.complete(tx, now)?;
    if wait.is_none_or(|wait| Some(wait.messages) == said) {
        return Ok(());
    }
    match work {
        HeldWork::Draft => enqueue_draft(tx, queue, held, now),
        HeldWork::Look => unanswered_holds::enqueue_look(tx, queue, held, now),
    }
}

fn read_wait(row: &Row<'_>) -> Result<HeldWait> {
    Ok(HeldWait {
        session: row.get("id")?,
        colleague: row.get("held_by")?,
        held_at: row.get("held_at")?,
        since: row.get("waiting_since")?,
        messages: row.get("messages")?,
    })
}

/// Of two conversations that become one, whoever has waited longest does in the one that stays. Its hold is settled by then.
pub(crate) fn move_session(tx: &mut Tx<'_>, gone: SessionId, stays: SessionId) -> Result<()> {
    tx.execute(
        "UPDATE sessions SET
           waiting_since = (SELECT min(b.waiting_since) FROM sessions b WHERE b.tenant_id = $1 AND b.id IN ($2, $3)),
           awaits_colleague = hold_id IS NOT NULL AND EXISTS (
             SELECT 1 FROM sessions b WHERE b.tenant_id = $1 AND b.id IN ($2, $3) AND b.awaits_colleague),
           draft = NULL, draft_after = NULL
         WHERE tenant_id = $1 AND id = $2",
        params![stays, gone],
    )?;
    tx.execute(
        "UPDATE sessions SET waiting_since = NULL, awaits_colleague = FALSE, draft = NULL, draft_after = NULL
         WHERE tenant_id = $1 AND id = $2",
        params![gone],
    )?;
    Ok(())
}

/// Has a draft made for whoever has a conversation in hand. One is made at a time: what comes meanwhile has another made after it.
pub fn enqueue_draft(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    held: HeldConversation,
    now: Timestamp,
) -> crate::Result<()> {
    let job = NewJob::new(DRAFT_KIND, &held)?.run_at(now.plus(DRAFT_AFTER));
    queue.enqueue(tx, &job.unique(held.hold.to_string()))?;
    Ok(())
}

/// Keeps a draft for whoever has the conversation in hand, in place of the one before. False where something was said since it was
/// begun: `said` is how much had been by then.
pub fn keep_draft(
    tx: &mut Tx<'_>,
    (session, held): (&Session, HeldConversation),
    draft: &HeldDraft,
    (said, now): (i64, Timestamp),
) -> Result<bool> {
    let by = seal_by_person(tx, session.person)?;
    let text = tx.seal(by, DRAFT.cell(session.id), &draft.text)?;
    let kept = tx.execute(
        "UPDATE sessions SET draft = $4, draft_after = $5, changed_at = $6
         WHERE tenant_id = $1 AND id = $2 AND hold_id = $3 AND awaits_colleague AND messages = $7 AND merged_into IS NULL",
        params![session.id, held.hold, text, draft.after, now, said],
    )?;
    tx.announce(session.id.as_uuid());
    Ok(kept > 0)
}

/// What the agent proposes in a conversation that somebody has in hand.
pub fn find_draft(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<HeldDraft>> {
    let found = tx.optional(
        "SELECT draft, draft_after FROM sessions
         WHERE tenant_id = $1 AND id = $2 AND draft IS NOT NULL AND held_by IS NOT NULL",
        params![session],
        |row| Ok((row.get_sealed::<Option<String>>("draft", DRAFT.cell(session))?, row.get("draft_after")?)),
    )?;
    Ok(found.and_then(|(text, after)| Some(HeldDraft { text: text?, after })))
}

/// Who waits in some sessions and since when, and how much of each a reader has not read.
pub fn load_attention(
    tx: &mut Tx<'_>,
    reader: Option<PersonId>,
    sessions: &[SessionId],
) -> Result<BTreeMap<SessionId, SessionAttention>> {
    if sessions.is_empty() {
        return Ok(BTreeMap::new());
    }
    let ids = sessions.iter().map(|id| id.as_uuid().simple().to_string()).collect::<Vec<_>>();
    let found = tx.all(
        (
            "SELECT s.id, s.waiting_since,
               (SELECT h.asked_at FROM human_requests h
                WHERE h.tenant_id = $1 AND h.session_id = s.id AND h.state IN ('waiting', 'callback')) AS asked_at,
               (SELECT count(*) FROM (
                  SELECT 1 FROM messages m WHERE m.tenant_id = $1 AND m.session_id = s.id AND m.speaker = 'person'
                    AND m.number > coalesce((SELECT r.number FROM session_reads r
                                             WHERE r.tenant_id = $1 AND r.session_id = s.id AND r.person_id = $3), 0)
                  LIMIT 100) AS fresh) AS unread
             FROM sessions s WHERE s.tenant_id = $1 AND s.id IN (SELECT unhex(value) FROM json_each($2))",
            "SELECT s.id, s.waiting_since,
               (SELECT h.asked_at FROM human_requests h
                WHERE h.tenant_id = $1 AND h.session_id = s.id AND h.state IN ('waiting', 'callback')) AS asked_at,
               (SELECT count(*) FROM (
                  SELECT 1 FROM messages m WHERE m.tenant_id = $1 AND m.session_id = s.id AND m.speaker = 'person'
                    AND m.number > coalesce((SELECT r.number FROM session_reads r
                                             WHERE r.tenant_id = $1 AND r.session_id = s.id AND r.person_id = $3), 0)
                  LIMIT 100) AS fresh) AS unread
             FROM sessions s
             WHERE s.tenant_id = $1 AND s.id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![JsonText::of(&ids)?, reader],
        |row| {
            let (waits, asked): (Option<Timestamp>, Option<Timestamp>) =
                (row.get("waiting_since")?, row.get("asked_at")?);
            let unread: i64 = row.get("unread")?;
            let attention = SessionAttention {
                waiting_since: waits.into_iter().chain(asked).min(),
                unread: reader.map(|_| unread),
            };
            Ok((row.get("id")?, attention))
        },
    )?;
    Ok(found.into_iter().collect())
}
