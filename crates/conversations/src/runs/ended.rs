//! Runs that have ended when they are stored: what somebody of the business writes, and what comes in while they do.

use munshi_identity::persons::{is_forgotten, seal_by_person};
use munshi_store::{JsonText, Result, Tx, params};
use munshi_types::{MessageId, RunId, Timestamp};

use super::{NewRun, REASON, REPLY_TO, forgotten, hash_outside_id};
use crate::sealing::seal_optional_json;
use crate::sessions::Session;
use crate::state::HaltReason;

/// The kind of run that a colleague's message has: nothing is worked on in it.
pub const COLLEAGUE: &str = "colleague";

/// Stores a run that has ended before it began: its message was refused at the door, or somebody of the business has the conversation
/// in hand. Then there is no reply.
pub(crate) fn add_halted(
    tx: &mut Tx<'_>,
    run: &NewRun<'_>,
    halt: &HaltReason,
    reply: Option<MessageId>,
) -> Result<()> {
    if is_forgotten(tx, run.person)? {
        return Err(forgotten());
    }
    let outside_id = hash_outside_id(tx, run.channel, run.outside_id)?;
    let by = seal_by_person(tx, run.person)?;
    let reply_to = seal_optional_json(tx, by, REPLY_TO.cell(run.id), run.reply_to)?;
    let reason = tx.seal(by, REASON.cell(run.id), JsonText::of(halt)?.as_str())?;
    tx.execute(
        "INSERT INTO runs (tenant_id, id, session_id, number, binding_id, person_id, message_id, kind, channel,
           outside_id, reply_to, began_at, state, reason, epoch, snapshot, reply_id, cancel_asked, ended_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'halted', $13, 1, '{}', $14, FALSE, $12)",
        params![
            run.id,
            run.session,
            run.number,
            run.binding,
            run.person,
            run.message,
            run.kind,
            run.channel.as_str(),
            outside_id,
            reply_to,
            run.now,
            reason,
            reply
        ],
    )?;
    Ok(())
}

/// The run of a colleague's message, so that the message is kept and goes as any other. Nothing is billed for it.
pub(crate) fn add_of_colleague(
    tx: &mut Tx<'_>,
    (id, message): (RunId, MessageId),
    (session, number): (&Session, i64),
    now: Timestamp,
) -> Result<()> {
    tx.execute(
        "INSERT INTO runs (tenant_id, id, session_id, number, binding_id, person_id, message_id, kind, channel, began_at,
           state, epoch, snapshot, reply_id, cancel_asked, ended_at, cause)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'done', 1, '{}', $7, FALSE, $10, 'operation')",
        params![
            id,
            session.id,
            number,
            session.binding,
            session.person,
            message,
            COLLEAGUE,
            session.channel.as_str(),
            now
        ],
    )?;
    Ok(())
}
