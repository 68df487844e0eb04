//! What colleagues tell the agent of a conversation: words for its next turn, which the visitor never sees.
//!
//! They are no messages: no list, search or export of those can show one. The session counts those that no turn was told, so that a
//! turn without any asks for none.

use munshi_identity::persons::seal_by_person;
use munshi_store::{
    Cursor, Error, Page, PageRequest, Result, Row, SealedColumn, Tx, params, sql_in_both_orders,
};
use munshi_types::{Id, PersonId, RunId, SessionId, Timestamp, WhisperId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::sessions::{self, Session};

pub(crate) const TEXT: SealedColumn = SealedColumn::new("whispers", "text").forgotten_as("");

/// In characters.
pub const LONGEST: usize = 2_000;
/// So many are told in one turn.
pub const MOST: u32 = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whisper {
    pub id: WhisperId,
    pub session: SessionId,
    /// The message it was whispered behind.
    pub number: i64,
    pub author: PersonId,
    pub text: String,
    /// The turn that was told it.
    pub used_by: Option<RunId>,
    pub at: Timestamp,
}

/// Stores a whisper behind what was said so far.
pub fn add(
    tx: &mut Tx<'_>,
    session: &Session,
    (id, author): (WhisperId, PersonId),
    (text, now): (&str, Timestamp),
) -> Result<Whisper> {
    // First, so that nobody makes it part of another meanwhile: what is whispered there is told to nobody.
    let counted: Option<i64> = tx.optional(
        "UPDATE sessions SET whispers = whispers + 1 WHERE tenant_id = $1 AND id = $2 AND merged_into IS NULL
         RETURNING messages",
        params![session.id],
        |row| row.get(0),
    )?;
    let number = counted.ok_or_else(|| Error::Busy("the conversation became part of another".to_owned()))?;
    let by = seal_by_person(tx, session.person)?;
    let sealed = tx.seal(by, TEXT.cell(id), text)?;
    tx.execute(
        "INSERT INTO whispers (tenant_id, id, session_id, number, author_id, text, at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        params![id, session.id, number, author, sealed, now],
    )?;
    sessions::touch(tx, session.id, now)?;
    Ok(Whisper { id, session: session.id, number, author, text: text.to_owned(), used_by: None, at: now })
}

/// Those that no turn was told, the oldest first.
pub fn list_unused(tx: &mut Tx<'_>, session: SessionId) -> Result<Vec<Whisper>> {
    tx.all(
        "SELECT id, session_id, number, author_id, text, used_by_run, at FROM whispers
         WHERE tenant_id = $1 AND session_id = $2 AND used_by_run IS NULL ORDER BY at, id LIMIT $3",
        params![session, MOST],
        read,
    )
}

/// Whether anything was whispered in a session, of which turns may have been told.
pub fn has_any(tx: &mut Tx<'_>, session: SessionId) -> Result<bool> {
    let found = tx.optional(
        "SELECT 1 FROM whispers WHERE tenant_id = $1 AND session_id = $2 LIMIT 1",
        params![session],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

/// Those of a session, newest first or the other way round.
pub fn list(tx: &mut Tx<'_>, session: SessionId, request: &PageRequest) -> Result<Page<Whisper>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, session_id, number, author_id, text, used_by_run, at FROM whispers
             WHERE tenant_id = $1 AND session_id = $2 AND (at, id) < ($3, $4) ORDER BY at DESC, id DESC LIMIT $5"
        )),
        params![session, request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |whisper| Cursor { time: whisper.at, id: whisper.id.as_uuid() }))
}

/// Notes which were told to a turn that has ended: the next is told those that came meanwhile, and no other again.
pub fn mark_used(tx: &mut Tx<'_>, session: SessionId, told: &[WhisperId], run: RunId) -> Result<()> {
    let mut marked = 0;
    for id in told {
        marked += tx.execute(
            "UPDATE whispers SET used_by_run = $3 WHERE tenant_id = $1 AND id = $2 AND used_by_run IS NULL",
            params![*id, run],
        )?;
    }
    tx.execute(
        "UPDATE sessions SET whispers = whispers - $3 WHERE tenant_id = $1 AND id = $2",
        params![session, i64::try_from(marked).unwrap_or_default()],
    )?;
    Ok(())
}

/// Those of a session that became part of another are the other's.
pub(crate) fn move_session(tx: &mut Tx<'_>, gone: SessionId, stays: SessionId) -> Result<()> {
    tx.execute(
        "UPDATE whispers SET session_id = $3 WHERE tenant_id = $1 AND session_id = $2",
        params![gone, stays],
    )?;
    Ok(())
}

/// Those of before a time; what was said is in them.
pub(crate) fn delete_before(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE sessions SET whispers = whispers - (SELECT count(*) FROM whispers w WHERE w.tenant_id = $1
             AND w.session_id = sessions.id AND w.at < $2 AND w.used_by_run IS NULL)
         WHERE tenant_id = $1 AND whispers > 0",
        params![before],
    )?;
    tx.execute("DELETE FROM whispers WHERE tenant_id = $1 AND at < $2", params![before])?;
    Ok(())
}

pub(crate) fn list_of_person(
    tx: &mut Tx<'_>,
    person: PersonId,
    after: Uuid,
    limit: u32,
) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT w.id FROM sessions s JOIN whispers w ON w.tenant_id = $1 AND w.session_id = s.id
         WHERE s.tenant_id = $1 AND s.person_id = $2 AND w.id > $3 ORDER BY w.id LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )
}

pub(crate) fn erase(tx: &mut Tx<'_>, whispers: &[Uuid]) -> Result<u64> {
    let mut erased = 0;
    for id in whispers {
        // No later turn looks for what is no more.
        tx.execute(
            "UPDATE sessions SET whispers = whispers - 1 WHERE tenant_id = $1 AND whispers > 0
               AND id = (SELECT w.session_id FROM whispers w
                         WHERE w.tenant_id = $1 AND w.id = $2 AND w.used_by_run IS NULL)",
            params![*id],
        )?;
        erased += tx.execute("DELETE FROM whispers WHERE tenant_id = $1 AND id = $2", params![*id])?;
    }
    Ok(erased)
}

/// That there was one and when: its words are colleagues' among themselves, and no record of what the person has said or heard.
pub(crate) fn show(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    tx.optional("SELECT session_id, at FROM whispers WHERE tenant_id = $1 AND id = $2", params![id], |row| {
        Ok(json!({ "conversation": row.get::<SessionId>(0)?, "at": row.get::<Timestamp>(1)? }))
    })
}

fn read(row: &Row<'_>) -> Result<Whisper> {
    let id: WhisperId = row.get("id")?;
    Ok(Whisper {
        id,
        session: row.get("session_id")?,
        number: row.get("number")?,
        author: row.get("author_id")?,
        text: row.get_sealed("text", TEXT.cell(id))?,
        used_by: row.get("used_by_run")?,
        at: row.get("at")?,
    })
}
