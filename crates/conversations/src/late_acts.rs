//! Which acts no run waits for any more: whoever ends one tells its conversation.

use munshi_safety::acts::{self, ActState};
use munshi_store::{Tx, params};
use munshi_types::{ActId, RunId, Timestamp};

use crate::error::Result;

/// Whether an act could be left to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetachOutcome {
    Yes,
    /// It is not decided about yet.
    NotYet,
    /// It has ended, or waits for a person: whoever waits hears it at once.
    No,
}

/// From now on the act's end is told by whoever ends it. The act's own row is held meanwhile, so its end has either come
/// or will find this.
pub fn detach(tx: &mut Tx<'_>, act: ActId, run: RunId, now: Timestamp) -> Result<DetachOutcome> {
    match acts::find_for_update(tx, act)?.map(|act| act.state) {
        None => Ok(DetachOutcome::NotYet),
        Some(ActState::Intended) => {
            tx.execute(
                "INSERT INTO late_acts (tenant_id, act_id, run_id, since) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (tenant_id, act_id) DO NOTHING",
                params![act, run, now],
            )?;
            Ok(DetachOutcome::Yes)
        }
        Some(_) => Ok(DetachOutcome::No),
    }
}

/// The run that left the act.
pub fn find(tx: &mut Tx<'_>, act: ActId) -> Result<Option<RunId>> {
    Ok(tx.optional(
        "SELECT run_id FROM late_acts WHERE tenant_id = $1 AND act_id = $2",
        params![act],
        |row| row.get::<RunId>(0),
    )?)
}

/// The same, once.
pub fn take(tx: &mut Tx<'_>, act: ActId) -> Result<Option<RunId>> {
    let run = find(tx, act)?;
    if run.is_some() {
        tx.execute("DELETE FROM late_acts WHERE tenant_id = $1 AND act_id = $2", params![act])?;
    }
    Ok(run)
}
