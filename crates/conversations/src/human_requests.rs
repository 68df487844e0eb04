//! The line for a human: who asked for somebody of the business, since when, and who came.
//!
//! A session stands in it once. Taking a conversation over claims its place, giving it back ends that; a callback keeps its place until
//! somebody takes the conversation over.

use std::str::FromStr;
use std::time::Duration;

use munshi_identity::persons::seal_by_person;
use munshi_store::{
    Cursor, JsonText, Page, PageRequest, Result, Row, SealedColumn, SealedText, Tx, params,
    sql_in_both_orders,
};
use munshi_types::{HumanRequestId, Id, PersonId, ReplyAddress, RunId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::columns::{read_enum, read_optional_sealed_json};
use crate::sealing::{seal_optional, seal_optional_json};
use crate::sessions::{self, Session};

pub(crate) const REASON: SealedColumn = SealedColumn::new("human_requests", "reason").forgotten_as("");
pub(crate) const CALLBACK_TO: SealedColumn =
    SealedColumn::new("human_requests", "callback_to").forgotten_as_null();
pub(crate) const NOTE: SealedColumn = SealedColumn::new("human_requests", "note").forgotten_as_null();

/// So many of those who came last say how long it takes.
const RECENT: u32 = 20;
const RECENT_FOR: Duration = Duration::from_secs(7 * 86_400);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HumanRequestState {
    Waiting,
    /// Nobody is there now: they are called back.
    Callback,
    /// Somebody has the conversation in hand.
    Held,
    Answered,
    /// Nobody came in time.
    Expired,
    /// The session became part of another that stood in the line, too.
    Merged,
}

impl HumanRequestState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Callback => "callback",
            Self::Held => "held",
            Self::Answered => "answered",
            Self::Expired => "expired",
            Self::Merged => "merged",
        }
    }
}

impl FromStr for HumanRequestState {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let all = [Self::Waiting, Self::Callback, Self::Held, Self::Answered, Self::Expired, Self::Merged];
        let found = all.into_iter().find(|known| known.as_str() == text);
        found.ok_or_else(|| format!("unknown state `{text}` of a request for a human"))
    }
}

/// Somebody's place in the line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HumanRequest {
    pub id: HumanRequestId,
    pub session: SessionId,
    /// The turn that asked; none where somebody else did.
    pub run: Option<RunId>,
    /// The team that they were with.
    pub team: Option<String>,
    /// Why, in a sentence.
    pub reason: String,
    pub state: HumanRequestState,
    pub claimed_by: Option<PersonId>,
    #[serde(skip)]
    pub callback_to: Option<ReplyAddress>,
    pub note: Option<String>,
    pub asked_at: Timestamp,
    pub claimed_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// Somebody asks for a human.
#[derive(Clone, Debug)]
pub struct NewHumanRequest {
    pub id: HumanRequestId,
    pub run: Option<RunId>,
    pub team: Option<String>,
    pub reason: String,
    /// Nobody is there now: they are called back.
    pub is_callback: bool,
    /// Where, if that is known.
    pub callback_to: Option<ReplyAddress>,
    pub note: Option<String>,
    pub now: Timestamp,
}

/// Puts a session in the line, and gives the request that is open from here on. One that waits keeps its place; one that was to be called
/// back waits from now on where somebody is there, and else leaves more. None where somebody has the conversation in hand.
///
/// The session is as it was read behind its lock.
pub fn add(tx: &mut Tx<'_>, session: &Session, new: &NewHumanRequest) -> Result<Option<HumanRequestId>> {
    if session.hold.is_some() {
        return Ok(None);
    }
    if let Some(open) = find_open(tx, session.id)? {
        if open.state == HumanRequestState::Callback {
            update_callback(tx, session, &open, new)?;
        }
        return Ok(Some(open.id));
    }
    let state = if new.is_callback { HumanRequestState::Callback } else { HumanRequestState::Waiting };
    let sealed = seal_words(tx, session, new)?;
    tx.execute(
        "INSERT INTO human_requests (tenant_id, id, session_id, run_id, team, reason, state, is_callback, callback_to, note,
           asked_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (tenant_id, session_id) WHERE state IN ('waiting', 'callback', 'held') DO NOTHING",
        params![
            new.id,
            session.id,
            new.run,
            new.team.as_deref(),
            sealed.reason,
            state.as_str(),
            new.is_callback,
            sealed.callback_to,
            sealed.note,
            new.now
        ],
    )?;
    Ok(find_open(tx, session.id)?.map(|open| open.id))
}

/// What somebody said who asked for a human, as it is stored.
struct SealedWords {
    reason: SealedText,
    callback_to: Option<JsonText>,
    note: Option<SealedText>,
}

fn seal_words(tx: &mut Tx<'_>, session: &Session, new: &NewHumanRequest) -> Result<SealedWords> {
    let id = new.id;
    let by = seal_by_person(tx, session.person)?;
    Ok(SealedWords {
        reason: tx.seal(by, REASON.cell(id), &new.reason)?,
        callback_to: seal_optional_json(tx, by, CALLBACK_TO.cell(id), new.callback_to.as_ref())?,
        note: seal_optional(tx, by, NOTE.cell(id), new.note.as_deref())?,
    })
}

/// Who is asked for again: they wait from now on, or have left more. What they had left before stays where nothing came in its place.
fn update_callback(
    tx: &mut Tx<'_>,
    session: &Session,
    open: &HumanRequest,
    new: &NewHumanRequest,
) -> Result<()> {
    let (state, asked_at) = match new.is_callback {
        true => (HumanRequestState::Callback, open.asked_at),
        false => (HumanRequestState::Waiting, new.now),
    };
    let left = NewHumanRequest {
        id: open.id,
        callback_to: new.callback_to.clone().or_else(|| open.callback_to.clone()),
        note: new.note.clone().or_else(|| open.note.clone()),
        ..new.clone()
    };
    let sealed = seal_words(tx, session, &left)?;
    tx.execute(
        "UPDATE human_requests SET state = $3, is_callback = $4, run_id = $5, team = $6, reason = $7,
           callback_to = $8, note = $9, asked_at = $10
         WHERE tenant_id = $1 AND id = $2 AND state = 'callback'",
        params![
            open.id,
            state.as_str(),
            new.is_callback,
            new.run,
            new.team.as_deref(),
            sealed.reason,
            sealed.callback_to,
            sealed.note,
            asked_at
        ],
    )?;
    Ok(())
}

/// Keeps where somebody is called back who is to be, where that was not known; nothing changes where it was, or nobody calls them back.
pub fn note_callback_address(
    tx: &mut Tx<'_>,
    session: &Session,
    (to, now): (&ReplyAddress, Timestamp),
) -> Result<()> {
    let open = find_open(tx, session.id)?;
    let is_unknown =
        |one: &HumanRequest| one.state == HumanRequestState::Callback && one.callback_to.is_none();
    let Some(request) = open.filter(is_unknown) else { return Ok(()) };
    let by = seal_by_person(tx, session.person)?;
    let sealed = tx.seal_json(by, CALLBACK_TO.cell(request.id), to)?;
    // The session first, as whoever takes the conversation over holds it.
    sessions::touch(tx, session.id, now)?;
    tx.execute(
        "UPDATE human_requests SET callback_to = $3
         WHERE tenant_id = $1 AND id = $2 AND state = 'callback' AND callback_to IS NULL",
        params![request.id, sealed],
    )?;
    Ok(())
}

/// Somebody has taken the conversation over. Since when its person has waited for that; none for who did not, or was to be called back.
pub(crate) fn claim(
    tx: &mut Tx<'_>,
    session: SessionId,
    by: PersonId,
    now: Timestamp,
) -> Result<Option<Timestamp>> {
    let claimed = tx.optional(
        "UPDATE human_requests SET state = 'held', claimed_by = $3, claimed_at = coalesce(claimed_at, $4)
         WHERE tenant_id = $1 AND session_id = $2 AND state IN ('waiting', 'callback')
         RETURNING asked_at, is_callback",
        params![session, by, now],
        |row| Ok((row.get::<Timestamp>(0)?, row.get::<bool>(1)?)),
    )?;
    Ok(claimed.and_then(|(asked_at, is_callback)| (!is_callback).then_some(asked_at)))
}

/// They have given it back: whatever is open of it has been answered.
pub(crate) fn end(tx: &mut Tx<'_>, session: SessionId, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE human_requests SET state = 'answered', ended_at = $3
         WHERE tenant_id = $1 AND session_id = $2 AND state IN ('waiting', 'callback', 'held')",
        params![session, now],
    )?;
    Ok(())
}

/// Somebody of the business sent the conversation elsewhere: nobody is waited for here. Who is to be called back still is.
pub(crate) fn end_waiting(tx: &mut Tx<'_>, session: SessionId, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE human_requests SET state = 'answered', ended_at = $3
         WHERE tenant_id = $1 AND session_id = $2 AND state = 'waiting'",
        params![session, now],
    )?;
    Ok(())
}

/// Nobody came in time. False where somebody did, or it is over.
pub(crate) fn expire(tx: &mut Tx<'_>, request: HumanRequestId, now: Timestamp) -> Result<bool> {
    let expired = tx.execute(
        "UPDATE human_requests SET state = 'expired', ended_at = $3
         WHERE tenant_id = $1 AND id = $2 AND state = 'waiting'",
        params![request, now],
    )?;
    Ok(expired > 0)
}

pub fn find(tx: &mut Tx<'_>, id: HumanRequestId) -> Result<Option<HumanRequest>> {
    tx.optional(
        "SELECT id, session_id, run_id, team, reason, state, claimed_by, callback_to, note, asked_at, claimed_at, ended_at
         FROM human_requests WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )
}

/// Of a session that stands in the line.
pub fn find_open(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<HumanRequest>> {
    tx.optional(
        "SELECT id, session_id, run_id, team, reason, state, claimed_by, callback_to, note, asked_at, claimed_at, ended_at
         FROM human_requests
         WHERE tenant_id = $1 AND session_id = $2 AND state IN ('waiting', 'callback', 'held')",
        params![session],
        read,
    )
}

/// Who waits, is to be called back or is talked to, newest first or the other way round.
pub fn list_open(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<HumanRequest>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, session_id, run_id, team, reason, state, claimed_by, callback_to, note, asked_at, claimed_at,
                    ended_at
             FROM human_requests
             WHERE tenant_id = $1 AND (asked_at, id) < ($2, $3) AND state IN ('waiting', 'callback', 'held')
             ORDER BY asked_at DESC, id DESC LIMIT $4"
        )),
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |one| Cursor { time: one.asked_at, id: one.id.as_uuid() }))
}

/// Who waits or is to be called back and has asked since a time, the oldest first: so many at most.
pub fn list_unheld_since(tx: &mut Tx<'_>, since: Timestamp, most: u32) -> Result<Vec<HumanRequest>> {
    tx.all(
        "SELECT id, session_id, run_id, team, reason, state, claimed_by, callback_to, note, asked_at, claimed_at,
                ended_at
         FROM human_requests
         WHERE tenant_id = $1 AND asked_at > $2 AND state IN ('waiting', 'callback')
         ORDER BY asked_at, id LIMIT $3",
        params![since, most],
        read,
    )
}

/// Those of one state, newest first or the other way round: however many are to be called back, none of them stands before who waits.
pub fn list_in_state(
    tx: &mut Tx<'_>,
    state: HumanRequestState,
    request: &PageRequest,
) -> Result<Page<HumanRequest>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, session_id, run_id, team, reason, state, claimed_by, callback_to, note, asked_at, claimed_at,
                    ended_at
             FROM human_requests
             WHERE tenant_id = $1 AND (asked_at, id) < ($2, $3) AND state IN ('waiting', 'callback', 'held')
               AND state = $4
             ORDER BY asked_at DESC, id DESC LIMIT $5"
        )),
        params![request.after.time, request.after.id, state.as_str(), request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |one| Cursor { time: one.asked_at, id: one.id.as_uuid() }))
}

/// How many others wait now.
pub fn count_waiting(tx: &mut Tx<'_>, beside: SessionId) -> Result<i64> {
    tx.one(
        "SELECT count(*) FROM human_requests WHERE tenant_id = $1 AND state = 'waiting' AND session_id <> $2",
        params![beside],
        |row| row.get(0),
    )
}

/// How many waiting stand before this one.
pub fn count_before(tx: &mut Tx<'_>, request: &HumanRequest) -> Result<i64> {
    tx.one(
        "SELECT count(*) FROM human_requests
         WHERE tenant_id = $1 AND state = 'waiting' AND (asked_at, id) < ($2, $3)",
        params![request.asked_at, request.id],
        |row| row.get(0),
    )
}

/// How long those waited who were come to last: the middle one of them. None where nobody was lately. Whoever was called back did not
/// wait.
pub fn estimate_wait(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Duration>> {
    let mut waits: Vec<Duration> = tx.all(
        "SELECT asked_at, claimed_at FROM human_requests
         WHERE tenant_id = $1 AND claimed_at IS NOT NULL AND claimed_at > $2 AND NOT is_callback
         ORDER BY claimed_at DESC LIMIT $3",
        params![now.minus(RECENT_FOR), RECENT],
        |row| {
            let (asked, claimed): (Timestamp, Timestamp) = (row.get(0)?, row.get(1)?);
            Ok(claimed.since(asked))
        },
    )?;
    waits.sort_unstable();
    Ok(waits.get(waits.len() / 2).copied())
}

/// Those of a session that became part of another are the other's, which stands in the line once.
pub(crate) fn move_session(tx: &mut Tx<'_>, gone: SessionId, stays: SessionId, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE human_requests SET state = 'merged', ended_at = $4
         WHERE tenant_id = $1 AND session_id = $2 AND state IN ('waiting', 'callback', 'held')
           AND EXISTS (SELECT 1 FROM human_requests o WHERE o.tenant_id = $1 AND o.session_id = $3
                         AND o.state IN ('waiting', 'callback', 'held'))",
        params![gone, stays, now],
    )?;
    tx.execute(
        "UPDATE human_requests SET session_id = $3 WHERE tenant_id = $1 AND session_id = $2",
        params![gone, stays],
    )?;
    Ok(())
}

/// Those of before a time that have ended.
pub(crate) fn delete_before(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    tx.execute(
        "DELETE FROM human_requests WHERE tenant_id = $1 AND asked_at < $2 AND state IN ('answered', 'expired', 'merged')",
        params![before],
    )?;
    Ok(())
}

/// Whatever has come of them: a tenant keeps nothing of then.
pub(crate) fn expire_before(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    tx.execute("DELETE FROM human_requests WHERE tenant_id = $1 AND asked_at < $2", params![before])?;
    Ok(())
}

pub(crate) fn list_of_person(
    tx: &mut Tx<'_>,
    person: PersonId,
    after: Uuid,
    limit: u32,
) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT h.id FROM sessions s JOIN human_requests h ON h.tenant_id = $1 AND h.session_id = s.id
         WHERE s.tenant_id = $1 AND s.person_id = $2 AND h.id > $3 ORDER BY h.id LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )
}

pub(crate) fn erase(tx: &mut Tx<'_>, requests: &[Uuid]) -> Result<u64> {
    let mut erased = 0;
    for id in requests {
        erased += tx.execute("DELETE FROM human_requests WHERE tenant_id = $1 AND id = $2", params![*id])?;
    }
    Ok(erased)
}

pub(crate) fn show(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let found = find(tx, HumanRequestId::from_uuid(id))?;
    Ok(found.map(|found| {
        json!({
            "conversation": found.session,
            "reason": found.reason,
            "state": found.state,
            "callback_to": found.callback_to,
            "note": found.note,
            "asked_at": found.asked_at,
            "claimed_at": found.claimed_at,
            "ended_at": found.ended_at,
        })
    }))
}

fn read(row: &Row<'_>) -> Result<HumanRequest> {
    let id: HumanRequestId = row.get("id")?;
    Ok(HumanRequest {
        id,
        session: row.get("session_id")?,
        run: row.get("run_id")?,
        team: row.get("team")?,
        reason: row.get_sealed("reason", REASON.cell(id))?,
        state: read_enum(row, "state")?,
        claimed_by: row.get("claimed_by")?,
        callback_to: read_optional_sealed_json(row, "callback_to", CALLBACK_TO.cell(id))?,
        note: row.get_sealed("note", NOTE.cell(id))?,
        asked_at: row.get("asked_at")?,
        claimed_at: row.get("claimed_at")?,
        ended_at: row.get("ended_at")?,
    })
}
