//! Messages that join the turn before them: one reply answers them all.
//!
//! A message that finds a turn under way is stored with a run of its own, as every other. The turn takes in those that fit
//! by ending their runs and naming their messages in its own snapshot, in one transaction: whoever takes the turn up after
//! a crash finds all of it or nothing. Which messages fit is for the engine to say.

use munshi_identity::persons::seal_by_person;
use munshi_store::{JsonText, Tx, params};
use munshi_types::{RunId, SessionId, Timestamp};

use crate::commit::{self, RunProgress};
use crate::error::{Result, Rollback};
use crate::ingest::IngestServices;
use crate::messages::{self, Message};
use crate::runs::{self, REASON, Run, RunLease};
use crate::sessions;
use crate::snapshot::RunSnapshot;
use crate::state::{HaltReason, RunState};

/// A message that waits for the turn before it, with its run.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedMessage {
    pub run: Run,
    pub message: Message,
}

/// What waits right behind a place in a session, the oldest first, up to the first that is more than a message in line.
pub fn list_queued(
    tx: &mut Tx<'_>,
    session: SessionId,
    behind: i64,
    most: usize,
) -> Result<Vec<QueuedMessage>> {
    let later = runs::list_under_way_after(tx, session, behind, most)?;
    let in_line =
        |run: &Run| run.state == RunState::Created && run.lease_until.is_none() && !run.cancel_asked;
    let mut found = Vec::new();
    for run in later.into_iter().take_while(in_line) {
        let Some(message) = messages::find(tx, run.conversation()?.message)? else { break };
        found.push(QueuedMessage { run, message });
    }
    Ok(found)
}

/// What a turn knew of its session when it last looked for messages to take in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinCheck {
    /// The place of its own message.
    pub behind: i64,
    /// How much was said.
    pub known_messages: i64,
    /// Runs that it has looked at.
    pub seen: Vec<RunId>,
}

/// Whether a message waits behind a turn that the turn has not looked at.
pub(crate) fn is_followed(tx: &mut Tx<'_>, session: SessionId, check: &JoinCheck) -> Result<bool> {
    let waiting: Vec<RunId> = tx.all(
        "SELECT id FROM runs WHERE tenant_id = $1 AND session_id = $2 AND number > $3 AND ended_at IS NULL
           AND state = 'created' AND lease_until IS NULL",
        params![session, check.behind],
        |row| row.get(0),
    )?;
    Ok(waiting.iter().any(|run| !check.seen.contains(run)))
}

/// How far the turn has come that takes messages in.
pub struct JoiningTurn<'a> {
    /// With the joined messages in its snapshot, and as its last step, where it has any, that they joined.
    pub progress: RunProgress<'a>,
    /// As its snapshot is without them. Where none joins, the last step is not stored either.
    pub without: &'a RunSnapshot,
    pub joining: &'a [QueuedMessage],
    pub now: Timestamp,
}

/// One of them was taken up, stopped or moved meanwhile.
struct QueueChanged;

/// Ends the runs of those that join, which nobody is billed for, and stores how far the turn that takes them has come. Where one
/// of them no longer waits, none joins: false, and the turn is stored without them.
pub fn join(tx: &mut Tx<'_>, ingest_services: &IngestServices, turn: &JoiningTurn<'_>) -> Result<bool> {
    // Quota, session, runs, as everywhere. Whoever follows the session hears that the runs have ended.
    let outcome = tx.attempt(|tx| {
        for queued in turn.joining {
            if let Some(reservation) = queued.run.reservation {
                ingest_services.governor.release(tx, reservation)?;
            }
        }
        if let Some(first) = turn.joining.first() {
            sessions::touch(tx, first.run.conversation()?.session, turn.now)?;
        }
        for queued in turn.joining {
            if !end_joined(tx, turn.progress.lease, &queued.run, turn.now)? {
                return Err(Rollback::Because(QueueChanged));
            }
        }
        Ok(())
    });
    let RunProgress { snapshot, steps, .. } = turn.progress;
    let earlier = steps.split_last().map_or(steps, |(_, earlier)| earlier);
    let (has_joined, snapshot, steps) = match outcome {
        Ok(()) => (true, snapshot, steps),
        Err(Rollback::Because(QueueChanged)) => (false, turn.without, earlier),
        Err(Rollback::Failed(error)) => return Err(error),
    };
    commit::save_progress(tx, &RunProgress { snapshot, steps, ..turn.progress })?;
    Ok(has_joined)
}

/// False where it no longer waits.
fn end_joined(tx: &mut Tx<'_>, taken_by: RunLease, run: &Run, now: Timestamp) -> Result<bool> {
    let conversation = run.conversation()?;
    let by = seal_by_person(tx, conversation.person)?;
    let halt = HaltReason::Joined(taken_by.run);
    let reason = tx.seal(by, REASON.cell(run.id), JsonText::of(&halt)?.as_str())?;
    let ended: Option<i64> = tx.optional(
        "UPDATE runs SET epoch = epoch + 1, state = 'halted', reason = $4, reservation = NULL, ended_at = $5
         WHERE tenant_id = $1 AND id = $2 AND session_id = $3 AND state = 'created' AND lease_until IS NULL
           AND ended_at IS NULL AND NOT cancel_asked
         RETURNING epoch",
        params![run.id, conversation.session, reason, now],
        |row| row.get(0),
    )?;
    Ok(ended.is_some())
}
