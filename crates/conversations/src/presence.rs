//! Who is there: how far somebody has read a session, and who types in it at the moment.

use std::time::Duration;

use munshi_store::{Result, Tx, params};
use munshi_types::{MessageId, PersonId, SessionId, Timestamp};

use crate::messages;
use crate::sessions;

/// So long a sign counts that somebody types; a page sends one more often than that while they do.
pub const TYPING_SIGN: Duration = Duration::from_secs(6);

/// What came of noting how far somebody has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// They have read further than was known.
    Noted,
    /// It was known, or nothing was said with that number.
    Known,
}

/// Notes that somebody has read a session up to a message, and shows it to those who follow it. Reading further only: a page that comes
/// late takes nothing back. Whoever may say it often asks [`has_read`] first.
pub fn record_read(
    tx: &mut Tx<'_>,
    session: SessionId,
    (person, message): (PersonId, MessageId),
    now: Timestamp,
) -> Result<ReadOutcome> {
    // The session before what hangs on it, as whoever makes two of them one.
    sessions::touch(tx, session, now)?;
    let Some(number) = messages::find_number(tx, session, message)? else { return Ok(ReadOutcome::Known) };
    let noted = tx.execute(
        "INSERT INTO session_reads (tenant_id, session_id, person_id, number, read_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant_id, session_id, person_id) DO UPDATE SET number = excluded.number, read_at = excluded.read_at
           WHERE session_reads.number < excluded.number",
        params![session, person, number, now],
    )?;
    Ok(if noted == 0 { ReadOutcome::Known } else { ReadOutcome::Noted })
}

/// Whether it is known that somebody has read a session up to a message. So is what nobody has said in it.
pub fn has_read(
    tx: &mut Tx<'_>,
    session: SessionId,
    (person, message): (PersonId, MessageId),
) -> Result<bool> {
    let number = messages::find_number(tx, session, message)?;
    Ok(match number {
        Some(number) => number <= find_read(tx, session, person)?,
        None => true,
    })
}

/// How far somebody has read a session; 0 where nothing is known of it.
pub fn find_read(tx: &mut Tx<'_>, session: SessionId, person: PersonId) -> Result<i64> {
    let found = tx.optional(
        "SELECT number FROM session_reads WHERE tenant_id = $1 AND session_id = $2 AND person_id = $3",
        params![session, person],
        |row| row.get(0),
    )?;
    Ok(found.unwrap_or(0))
}

/// Shows those who follow a session that somebody types in it. Whoever may say it often asks [`is_sign_due`] first.
pub fn sign_typing(tx: &mut Tx<'_>, session: SessionId, person: PersonId, now: Timestamp) -> Result<()> {
    // The session first, as above.
    sessions::touch(tx, session, now)?;
    tx.send(
        "DELETE FROM typing_signs WHERE tenant_id = $1 AND session_id = $2 AND until <= $3",
        params![session, now],
    )?;
    tx.execute(
        "INSERT INTO typing_signs (tenant_id, session_id, person_id, until) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, session_id, person_id) DO UPDATE SET until = excluded.until",
        params![session, person, now.plus(TYPING_SIGN)],
    )?;
    Ok(())
}

/// Whether a sign that somebody types tells anything: the one before it counts for less than half of its time.
pub fn is_sign_due(tx: &mut Tx<'_>, session: SessionId, person: PersonId, now: Timestamp) -> Result<bool> {
    let recent = tx.optional(
        "SELECT 1 FROM typing_signs WHERE tenant_id = $1 AND session_id = $2 AND person_id = $3 AND until > $4",
        params![session, person, now.plus(TYPING_SIGN / 2)],
        |_| Ok(()),
    )?;
    Ok(recent.is_none())
}

/// Whoever has written no longer types. Only whoever holds the session may.
pub(crate) fn stop_typing(tx: &mut Tx<'_>, session: SessionId, person: PersonId) -> Result<()> {
    tx.send(
        "DELETE FROM typing_signs WHERE tenant_id = $1 AND session_id = $2 AND person_id = $3",
        params![session, person],
    )
}

/// Who types in a session, and until when that counts.
pub fn list_typing(
    tx: &mut Tx<'_>,
    session: SessionId,
    now: Timestamp,
) -> Result<Vec<(PersonId, Timestamp)>> {
    tx.all(
        "SELECT person_id, until FROM typing_signs
         WHERE tenant_id = $1 AND session_id = $2 AND until > $3 ORDER BY person_id",
        params![session, now],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Of a session that became part of another, or whose words went: its numbers mean nothing any more.
pub(crate) fn forget_reads(tx: &mut Tx<'_>, session: SessionId) -> Result<()> {
    tx.send("DELETE FROM session_reads WHERE tenant_id = $1 AND session_id = $2", params![session])?;
    tx.send("DELETE FROM typing_signs WHERE tenant_id = $1 AND session_id = $2", params![session])
}

/// Of somebody who became one with another, or is forgotten.
pub(crate) fn forget_person(tx: &mut Tx<'_>, person: PersonId) -> Result<()> {
    tx.send("DELETE FROM session_reads WHERE tenant_id = $1 AND person_id = $2", params![person])?;
    tx.send("DELETE FROM typing_signs WHERE tenant_id = $1 AND person_id = $2", params![person])
}
