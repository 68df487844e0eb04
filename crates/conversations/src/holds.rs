//! Somebody of the business takes a conversation over, writes in it as themselves, and gives it back.
//!
//! One has it in hand at a time, whatever node they are on. While somebody has, a message that comes in is stored with a run that ends at
//! once, and the agent says nothing to it. What came before is finished: a turn under way, a question that is answered later, a result
//! that comes late.

use munshi_identity::persons::seal_by_person;
use munshi_jobs::JobQueue;
use munshi_store::{Tx, params};
use munshi_tiers::prompt::UtteranceText;
use munshi_types::{HoldId, IdGenerator, PersonId, SessionId, Timestamp};

use crate::error::Result;
use crate::marks::ReplyMarks;
use crate::messages::{self, Message, MessageSpeaker, MessageStatus};
use crate::outbox::ReplyPlace;
use crate::search::FillScope;
use crate::session_waits::{self, HeldConversation};
use crate::sessions::{self, Session, SessionHold, SessionUpdate};
use crate::{handoffs, human_requests, outbox, presence, retention, runs, search};

/// In characters, of what somebody writes at once.
pub const LONGEST: usize = 4_000;

/// What came of taking a conversation over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeOutcome {
    Taken(SessionHold),
    /// By whoever has it; another time by the same person changes nothing.
    AlreadyHeld(SessionHold),
    /// It became part of another.
    Gone,
}

/// Takes a conversation over, unless somebody has it. Of two at once, one does.
pub fn take(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    session: SessionId,
    colleague: PersonId,
    (id, now): (HoldId, Timestamp),
) -> Result<TakeOutcome> {
    let taken = tx.execute(
        "UPDATE sessions SET held_by = $3, held_at = $4, hold_id = $5
         WHERE tenant_id = $1 AND id = $2 AND merged_into IS NULL AND held_by IS NULL",
        params![session, colleague, now, id],
    )?;
    if taken == 0 {
        return find_holder(tx, session);
    }
    let held = HeldConversation { session, hold: id };
    match human_requests::claim(tx, session, colleague, now)? {
        Some(asked_at) => session_waits::begin(tx, queue, held, (asked_at, now))?,
        None => session_waits::take_over(tx, queue, held, now)?,
    }
    stop_awaiting(tx, session)?;
    sessions::touch(tx, session, now)?;
    Ok(TakeOutcome::Taken(SessionHold { id, by: colleague, since: now }))
}

/// Why a conversation could not be taken. One that was given back meanwhile is there to be taken again.
fn find_holder(tx: &mut Tx<'_>, session: SessionId) -> Result<TakeOutcome> {
    let found = sessions::find(tx, session)?.filter(|session| session.merged_into.is_none());
    let Some(session) = found else { return Ok(TakeOutcome::Gone) };
    let busy = "somebody gave the conversation back just now: try again";
    let hold = session.hold.ok_or_else(|| munshi_store::Error::Busy(busy.to_owned()))?;
    Ok(TakeOutcome::AlreadyHeld(hold))
}

/// Whoever was asked to take over has come: asking again puts the visitor in the line again.
fn stop_awaiting(tx: &mut Tx<'_>, session: SessionId) -> Result<()> {
    if let Some(session) = sessions::find(tx, session)? {
        handoffs::stop_awaiting(tx, &session)?;
    }
    Ok(())
}

/// Gives a conversation back to the agent. False where it is no longer in that hand. Whoever waits goes on waiting until somebody says
/// something.
pub fn give_back(tx: &mut Tx<'_>, session: SessionId, hold: HoldId, now: Timestamp) -> Result<bool> {
    let given = tx.execute(
        "UPDATE sessions SET held_by = NULL, held_at = NULL, hold_id = NULL, awaits_colleague = FALSE, draft = NULL,
                draft_after = NULL
         WHERE tenant_id = $1 AND id = $2 AND hold_id = $3",
        params![session, hold],
    )?;
    if given == 0 {
        return Ok(false);
    }
    human_requests::end(tx, session, now)?;
    // A turn that was under way may have asked for a person after one had come.
    stop_awaiting(tx, session)?;
    sessions::touch(tx, session, now)?;
    Ok(true)
}

/// Gives back all that somebody has in hand, who may have nothing there any more; which it was, and by which taking over.
pub fn give_back_all(
    tx: &mut Tx<'_>,
    colleague: PersonId,
    now: Timestamp,
) -> Result<Vec<(SessionId, HoldId)>> {
    let held: Vec<(SessionId, HoldId)> = tx.all(
        "SELECT id, hold_id FROM sessions WHERE tenant_id = $1 AND held_by = $2 ORDER BY id",
        params![colleague],
        |row| Ok((row.get("id")?, row.get("hold_id")?)),
    )?;
    let mut given = Vec::with_capacity(held.len());
    for (session, hold) in held {
        if give_back(tx, session, hold, now)? {
            given.push((session, hold));
        }
    }
    Ok(given)
}

/// What somebody of the business writes.
#[derive(Clone, Copy, Debug)]
pub struct ColleagueWords<'a> {
    pub author: PersonId,
    pub text: &'a str,
    pub now: Timestamp,
}

/// Writes in a conversation as the colleague who has it in hand, and sends it where the visitor is written to. None where they do not
/// have it.
pub fn write(
    tx: &mut Tx<'_>,
    (queue, ids): (&JobQueue, &IdGenerator),
    session: SessionId,
    words: &ColleagueWords<'_>,
) -> Result<Option<Message>> {
    let Some(session) = lock_held(tx, session, words.author)? else { return Ok(None) };
    let by = seal_by_person(tx, session.person)?;
    let numbered = sessions::record_reply(tx, session.id, &SessionUpdate::default(), (by, words.now))?;
    let Some(position) = numbered else { return Ok(None) };
    // A person's own words: no program writes here.
    let marks = ReplyMarks { tainted: Some(0), ..ReplyMarks::default() };
    let message = Message {
        id: ids.next(),
        session: session.id,
        number: position.number,
        run: ids.next(),
        binding: session.binding,
        speaker: MessageSpeaker::Colleague(words.author),
        channel: session.channel,
        outside_id: None,
        text: words.text.to_owned(),
        attached: Vec::new(),
        language: session.language.clone(),
        tokens: UtteranceText::new(words.text).tokens(),
        standing: MessageStatus::Whole,
        generation: 1,
        marks: serde_json::to_value(&marks).unwrap_or_default(),
        suggestions: Vec::new(),
        said_at: words.now,
    };
    runs::add_of_colleague(tx, (message.run, message.id), (&session, position.number), words.now)?;
    messages::add(tx, by, &message)?;
    presence::stop_typing(tx, session.id, words.author)?;
    if let Some(to) = &session.reply_to {
        outbox::enqueue(tx, queue, ReplyPlace::of(&message, by), &message.to_outbound(to), words.now)?;
    }
    enqueue_upkeep(tx, queue, position)?;
    Ok(Some(message))
}

/// What follows a message every so often, as at the end of a turn.
pub(crate) fn enqueue_upkeep(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    position: sessions::ReplyPosition,
) -> Result<()> {
    if retention::is_summary_due(position.number, position.summarised) {
        retention::enqueue_summary(tx, queue, position.session)?;
    }
    if search::job::is_fill_due(position.number) {
        search::job::enqueue_fill(tx, queue, FillScope::New)?;
    }
    Ok(())
}

/// The session in somebody's hand, which nobody changes until the transaction ends. Who waited in it is answered.
fn lock_held(tx: &mut Tx<'_>, session: SessionId, by: PersonId) -> Result<Option<Session>> {
    let held = tx.execute(
        "UPDATE sessions SET waiting_since = NULL, awaits_colleague = FALSE, draft = NULL, draft_after = NULL
         WHERE tenant_id = $1 AND id = $2 AND held_by = $3 AND merged_into IS NULL",
        params![session, by],
    )?;
    if held == 0 {
        return Ok(None);
    }
    Ok(sessions::find(tx, session)?)
}

/// Of two conversations that become one, the one that stays is in the hand that had it, or in that of the other. Whoever had the other
/// has it no more.
pub(crate) fn move_session(tx: &mut Tx<'_>, gone: &Session, stays: &Session, now: Timestamp) -> Result<()> {
    let hold = stays.hold.or(gone.hold);
    tx.execute(
        "UPDATE sessions SET held_by = $3, held_at = $4, hold_id = $5, whispers = whispers + $6
         WHERE tenant_id = $1 AND id = $2",
        params![
            stays.id,
            hold.map(|hold| hold.by),
            hold.map(|hold| hold.since),
            hold.map(|hold| hold.id),
            gone.whispers
        ],
    )?;
    tx.execute(
        "UPDATE sessions SET held_by = NULL, held_at = NULL, hold_id = NULL, whispers = 0 WHERE tenant_id = $1 AND id = $2",
        params![gone.id],
    )?;
    crate::whispers::move_session(tx, gone.id, stays.id)?;
    session_waits::move_session(tx, gone.id, stays.id)?;
    human_requests::move_session(tx, gone.id, stays.id, now)?;
    // Whoever waited in the one has somebody now.
    if let Some(hold) = hold {
        human_requests::claim(tx, stays.id, hold.by, now)?;
    }
    Ok(())
}
