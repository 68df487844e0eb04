//! Taking an act back: what its tool said how, kept with it while it holds. The taking back is an act of its own, decided,
//! recorded and approved like any other.

use munshi_store::{Tx, params};
use munshi_types::{ActId, IdGenerator, Timestamp, ToolName};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sealing::{UNDO, seal_of_act};
use super::store::{self, Act, ActState, to_stored_json};
use crate::error::Result;

/// The call that takes an act back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UndoStep {
    pub tool: ToolName,
    pub arguments: Value,
}

/// How an act can be taken back, and whether it was.
#[derive(Clone, Debug, PartialEq)]
pub struct ActUndo {
    pub step: UndoStep,
    /// Until when it is offered.
    pub until: Timestamp,
    /// The act that takes it back, from when that was begun.
    pub undone_by: Option<ActId>,
}

/// Why an act is not taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoRefusal {
    NoAct,
    /// It was not done, or not surely.
    NotDone,
    /// Its tool knows no way back.
    NoWay,
    /// It was offered until then.
    Over(Timestamp),
    /// This act has done it, or is doing it.
    Begun(ActId),
}

/// Keeps with an act that was done how it is taken back.
pub fn offer_undo(tx: &mut Tx<'_>, act: ActId, step: &UndoStep, until: Timestamp) -> Result<()> {
    let step = seal_of_act(tx, act, UNDO, Some(to_stored_json(step)?))?;
    tx.send(
        "UPDATE acts SET undo = $3, undo_until = $4 WHERE tenant_id = $1 AND id = $2 AND state = 'applied'",
        params![act, step, until],
    )?;
    Ok(())
}

/// Begins to take an act back: gives it, and the id of the act that does so. Of two who come at once one gets it. Where an earlier
/// try was refused or failed, another is begun; where it was broken off before it was written down, or waits for a yes, the same again.
pub fn begin_undo(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    id: ActId,
    now: Timestamp,
) -> Result<std::result::Result<(Act, UndoStep, ActId), UndoRefusal>> {
    let Some(act) = store::find_for_update(tx, id)? else { return Ok(Err(UndoRefusal::NoAct)) };
    if act.state != ActState::Applied {
        return Ok(Err(UndoRefusal::NotDone));
    }
    let Some(undo) = act.undo.clone() else { return Ok(Err(UndoRefusal::NoWay)) };
    let before = undo.undone_by.map(|by| store::find(tx, by)).transpose()?.flatten();
    let by = match (undo.undone_by, before.map(|before| before.state)) {
        (None, _) | (Some(_), Some(ActState::Refused | ActState::Failed | ActState::Dropped)) => ids.next(),
        // Somebody may have said yes since.
        (Some(by), None | Some(ActState::Waiting)) => by,
        (Some(by), Some(_)) => return Ok(Err(UndoRefusal::Begun(by))),
    };
    if undo.until <= now {
        return Ok(Err(UndoRefusal::Over(undo.until)));
    }
    tx.execute("UPDATE acts SET undone_by = $3 WHERE tenant_id = $1 AND id = $2", params![id, by])?;
    Ok(Ok((act, undo.step, by)))
}

/// The act that another takes back.
pub fn find_undone(tx: &mut Tx<'_>, by: ActId) -> Result<Option<Act>> {
    let id =
        tx.optional("SELECT id FROM acts WHERE tenant_id = $1 AND undone_by = $2", params![by], |row| {
            row.get::<ActId>(0)
        })?;
    id.map_or(Ok(None), |id| store::find(tx, id))
}
