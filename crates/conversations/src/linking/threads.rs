//! Two threads become one, in the order of time, under whatever is under way in either.

use munshi_identity::persons::seal_by_person;
use munshi_safety::{approvals, consents};
use munshi_store::{JsonText, SealedText, Tx, params};
use munshi_types::{Id, IdGenerator, PersonId, SessionId, Timestamp};

use crate::error::Result;
use crate::handoffs;
use crate::holds;
use crate::outbox;
use crate::presence;
use crate::sealing::{seal_optional, seal_optional_json};
use crate::sessions::{self, ACTIVE, ASIDE, REPLY_TO, SUMMARY, Session};

/// In characters: two summaries together are told no longer than one.
const LONGEST_SUMMARY: usize = crate::retention::LONGEST;

/// Makes the sessions of one person another's, after their rows became one in the same transaction: where the other has
/// one with the same binding, the two become one thread; else it only changes hands. Runs under way finish there. Call it last: it tells the
/// audit.
pub fn merge_threads(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    (from, into): (PersonId, PersonId),
    now: Timestamp,
) -> Result<()> {
    let locked = lock_sessions(tx, from, into)?;
    // Whoever asked can still say yes to it.
    approvals::move_asker(tx, from, into)?;
    let audit = consents::move_person(tx, from, into)?;
    outbox::move_person(tx, from, into)?;
    presence::forget_person(tx, from)?;
    let (theirs, mine): (Vec<_>, Vec<_>) = locked.into_iter().partition(|session| session.person == from);
    for gone in theirs {
        match mine.iter().find(|session| session.binding == gone.binding) {
            Some(stays) => join(tx, &gone, stays, now)?,
            None => reassign_session(tx, gone.id, into, now)?,
        }
    }
    Ok(audit.record_with_ids(tx, ids, now)?)
}

/// All of both, until the transaction ends: nothing is said in them meanwhile.
fn lock_sessions(tx: &mut Tx<'_>, from: PersonId, into: PersonId) -> Result<Vec<Session>> {
    Ok(tx.all(
        (
            "SELECT id, binding_id, person_id, channel, language, reply_to, messages, summary, summarised, entities,
                    masked, tainted, aside, aside_tainted, merged_into, active, handoff_id, held_by, held_at, hold_id,
                    whispers, began_at, last_at
             FROM sessions WHERE tenant_id = $1 AND person_id IN ($2, $3) AND merged_into IS NULL",
            "SELECT id, binding_id, person_id, channel, language, reply_to, messages, summary, summarised, entities,
                    masked, tainted, aside, aside_tainted, merged_into, active, handoff_id, held_by, held_at, hold_id,
                    whispers, began_at, last_at
             FROM sessions WHERE tenant_id = $1 AND person_id IN ($2, $3) AND merged_into IS NULL ORDER BY id
             FOR UPDATE",
        ),
        params![from, into],
        sessions::read,
    )?)
}

fn reassign_session(tx: &mut Tx<'_>, session: SessionId, to: PersonId, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE sessions SET person_id = $3, changed_at = $4 WHERE tenant_id = $1 AND id = $2",
        params![session, to, now],
    )?;
    tx.announce(session.as_uuid());
    tx.execute(
        "UPDATE sessions SET person_id = $3 WHERE tenant_id = $1 AND merged_into = $2",
        params![session, to],
    )?;
    tx.execute(
        "UPDATE runs SET person_id = $3 WHERE tenant_id = $1 AND session_id = $2",
        params![session, to],
    )?;
    Ok(())
}

fn join(tx: &mut Tx<'_>, gone: &Session, stays: &Session, now: Timestamp) -> Result<()> {
    // Before their messages are one thread's.
    let written = find_last_written(tx, gone, stays)?;
    let uncovered = first_uncovered(tx, gone, stays)?;
    let said = gone.messages + stays.messages;
    let archived = said - renumber(tx, gone.id, stays.id)?;
    settle_numbers(tx, stays.id, archived)?;
    move_runs(tx, gone.id, stays)?;
    let covered = match uncovered {
        Some(message) => number_of(tx, message)? - 1,
        None => said,
    };
    // What was said last says most about how to go on.
    let newer = if gone.last_at > stays.last_at { gone } else { stays };
    let knows = seal_joined(tx, (gone, stays), (newer, written))?;
    tx.execute(
        "UPDATE sessions SET messages = $3, summary = $4, summarised = $5, channel = $6,
                language = coalesce($7, language), reply_to = $8, last_at = $9,
                tainted = tainted | $10, aside = $11, aside_tainted = aside_tainted | $12, active = $13, handoff_id = $14,
                changed_at = $15, renumbered = renumbered + 1
         WHERE tenant_id = $1 AND id = $2",
        params![
            stays.id,
            said,
            knows.summary,
            covered.clamp(0, said),
            written.channel.as_str(),
            newer.language.as_ref().map(munshi_types::tier::LanguageCode::as_str),
            knows.reply_to,
            newer.last_at.max(now),
            gone.tainted,
            knows.tainted_summary,
            gone.tainted_summary_sources,
            knows.active,
            newer.handoff,
            now
        ],
    )?;
    approvals::move_session(tx, gone.id.as_uuid(), stays.id.as_uuid())?;
    handoffs::move_session(tx, gone.id, stays.id)?;
    holds::move_session(tx, gone, stays, now)?;
    // Numbers of before mean other messages now.
    presence::forget_reads(tx, gone.id)?;
    presence::forget_reads(tx, stays.id)?;
    tx.announce(stays.id.as_uuid());
    redirect_session(tx, gone.id, stays, now)
}

/// What the two know together, sealed for the one that stays.
struct JoinedColumns {
    summary: Option<SealedText>,
    tainted_summary: Option<SealedText>,
    reply_to: Option<JsonText>,
    active: Option<JsonText>,
}

fn seal_joined(
    tx: &mut Tx<'_>,
    (gone, stays): (&Session, &Session),
    (newer, written): (&Session, &Session),
) -> munshi_store::Result<JoinedColumns> {
    let by = seal_by_person(tx, stays.person)?;
    let summary = join_summaries(gone, stays, |session| &session.summary);
    let tainted = join_summaries(gone, stays, |session| &session.tainted_summary);
    Ok(JoinedColumns {
        summary: seal_optional(tx, by, SUMMARY.cell(stays.id), summary.as_deref())?,
        tainted_summary: seal_optional(tx, by, ASIDE.cell(stays.id), tainted.as_deref())?,
        reply_to: seal_optional_json(tx, by, REPLY_TO.cell(stays.id), written.reply_to.as_ref())?,
        active: seal_optional_json(tx, by, ACTIVE.cell(stays.id), newer.active.as_ref())?,
    })
}

/// In which of the two their person wrote last: there they are now. What was archived is older than what was not.
fn find_last_written<'s>(
    tx: &mut Tx<'_>,
    gone: &'s Session,
    stays: &'s Session,
) -> munshi_store::Result<&'s Session> {
    let mut find = |session: &Session| {
        tx.one(
            "SELECT MAX(said_at) FROM messages WHERE tenant_id = $1 AND session_id = $2 AND speaker = 'person'",
            params![session.id],
            |row| row.get::<Option<Timestamp>>(0),
        )
    };
    let wrote = (find(gone)?, find(stays)?);
    Ok(match wrote {
        (None, None) if gone.last_at > stays.last_at => gone,
        (of_gone, of_stays) if of_gone > of_stays => gone,
        _ => stays,
    })
}

/// From now on the one leads to the other, and so do those that led to the one.
fn redirect_session(tx: &mut Tx<'_>, gone: SessionId, stays: &Session, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE sessions SET merged_into = $3, person_id = $4 WHERE tenant_id = $1 AND merged_into = $2",
        params![gone, stays.id, stays.person],
    )?;
    tx.execute(
        "UPDATE sessions SET merged_into = $3, person_id = $4, messages = 0, summary = NULL, summarised = 0,
                aside = NULL, active = NULL, handoff_id = NULL, changed_at = $5
         WHERE tenant_id = $1 AND id = $2",
        params![gone, stays.id, stays.person, now],
    )?;
    tx.announce(gone.as_uuid());
    Ok(())
}

/// The first message, in the new order, that stands in neither summary.
fn first_uncovered(
    tx: &mut Tx<'_>,
    gone: &Session,
    stays: &Session,
) -> Result<Option<munshi_types::MessageId>> {
    Ok(tx.optional(
        "SELECT id FROM (
           SELECT m.id, m.session_id, m.number, max(m.said_at) OVER (PARTITION BY m.session_id ORDER BY m.number) AS said
           FROM messages m WHERE m.tenant_id = $1 AND m.session_id IN ($2, $3)) AS timed
         WHERE (session_id = $2 AND number > $4) OR (session_id = $3 AND number > $5)
         ORDER BY said, session_id, number LIMIT 1",
        params![gone.id, stays.id, gone.summarised, stays.summarised],
        |row| row.get(0),
    )?)
}

/// Puts the messages of both into one, each thread in its own order and both by time, and says how many there are.
/// Clocks of nodes differ, so a message counts as said no earlier than what stands before it in its own thread. Numbers
/// are negative until all have moved: two may never be the same, not even for a moment.
fn renumber(tx: &mut Tx<'_>, gone: SessionId, stays: SessionId) -> Result<i64> {
    let moved = tx.execute(
        "UPDATE messages SET session_id = $3, number = -placed.place
         FROM (SELECT id, row_number() OVER (ORDER BY said, session_id, number) AS place FROM (
                 SELECT m.id, m.session_id, m.number,
                        max(m.said_at) OVER (PARTITION BY m.session_id ORDER BY m.number) AS said
                 FROM messages m WHERE m.tenant_id = $1 AND m.session_id IN ($2, $3)) AS timed) AS placed
         WHERE messages.tenant_id = $1 AND messages.id = placed.id",
        params![gone, stays],
    )?;
    Ok(i64::try_from(moved).unwrap_or(i64::MAX))
}

/// What went to the archive keeps its share of the numbers.
fn settle_numbers(tx: &mut Tx<'_>, session: SessionId, archived: i64) -> Result<()> {
    tx.execute(
        "UPDATE messages SET number = $3 - number WHERE tenant_id = $1 AND session_id = $2 AND number < 0",
        params![session, archived],
    )?;
    Ok(())
}

fn number_of(tx: &mut Tx<'_>, message: munshi_types::MessageId) -> Result<i64> {
    Ok(tx.one("SELECT number FROM messages WHERE tenant_id = $1 AND id = $2", params![message], |row| {
        row.get(0)
    })?)
}

fn move_runs(tx: &mut Tx<'_>, gone: SessionId, stays: &Session) -> Result<()> {
    let (person, stays) = (stays.person, stays.id);
    tx.execute(
        "UPDATE runs SET session_id = $3, person_id = $4, number = coalesce(
           (SELECT m.number FROM messages m WHERE m.tenant_id = $1 AND m.id = runs.message_id), number)
         WHERE tenant_id = $1 AND session_id IN ($2, $3)",
        params![gone, stays, person],
    )?;
    tx.execute(
        "UPDATE decisions SET session_id = $3 WHERE tenant_id = $1 AND session_id = $2
           AND run_id IN (SELECT r.id FROM runs r WHERE r.tenant_id = $1 AND r.session_id = $3)",
        params![gone, stays],
    )?;
    // What has not left of both leaves in one order.
    tx.execute(
        "UPDATE outbox SET session_id = $3, lane = $3,
           number = (SELECT m.number FROM messages m WHERE m.tenant_id = $1 AND m.id = outbox.message_id)
         WHERE tenant_id = $1 AND session_id IN ($2, $3)
           AND message_id IN (SELECT m.id FROM messages m WHERE m.tenant_id = $1 AND m.session_id = $3)",
        params![gone, stays],
    )?;
    Ok(())
}

/// Both, the older first; where they are too long together, each gives up its oldest half.
fn join_summaries(gone: &Session, stays: &Session, of: fn(&Session) -> &Option<String>) -> Option<String> {
    let (older, newer) = if gone.began_at < stays.began_at { (gone, stays) } else { (stays, gone) };
    match (of(older), of(newer)) {
        (Some(one), Some(other)) => {
            let half = LONGEST_SUMMARY / 2 - 1;
            Some(format!("{}\n{}", truncate_start(one, half), truncate_start(other, half)))
        }
        (one, other) => one.as_ref().or(other.as_ref()).cloned(),
    }
}

fn truncate_start(text: &str, longest: usize) -> String {
    let count = text.chars().count();
    if count <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(count - longest + 1).collect();
    format!("…{kept}")
}
