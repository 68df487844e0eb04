//! The acts of somebody who is forgotten, with the questions about them.

use munshi_identity::PersonalData;
use munshi_store::{JsonText, Result, Tx, params};
use munshi_types::{ActId, Id, PersonId, RunId, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::store::find;
use crate::approvals;
use crate::error::Error;

pub const PERSONAL_DATA: &[PersonalData] =
    &[PersonalData { name: "acts", list_next: list_acts, show: show_act, erase: erase_acts }];

/// What was done for them, with what they were asked before it.
fn show_act(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let Some(act) = find(tx, ActId::from_uuid(id)).map_err(into_store)? else { return Ok(None) };
    let question = approvals::find_by_act(tx, act.id).map_err(into_store)?;
    let question = question.map(|asked| {
        json!({ "words": asked.words, "state": asked.state, "asked_at": asked.asked_at, "answered_at": asked.answered_at })
    });
    Ok(Some(json!({
        "run": act.run,
        "tool": act.tool,
        "connector": act.connector,
        "arguments": act.arguments,
        "sent": act.leaving,
        "state": act.state,
        "result": act.result,
        "question": question,
        "began_at": act.began_at,
        "ended_at": act.ended_at,
    })))
}

fn into_store(error: Error) -> munshi_store::Error {
    match error {
        Error::Store(error) => error,
        other => munshi_store::Error::Decode(other.to_string()),
    }
}

/// Ends what somebody's acts wait for, while it can still be told apart: what waits is dropped, and what may be happening is
/// unknown for good. Nobody takes any of it up again. It reads nothing that is sealed.
pub fn end_open(tx: &mut Tx<'_>, person: PersonId, now: Timestamp) -> Result<u64> {
    tx.execute(
        "DELETE FROM act_leases WHERE tenant_id = $1 AND act_id IN (
           SELECT id FROM acts WHERE tenant_id = $1 AND person_id = $2
             AND state IN ('waiting', 'rehearsing', 'intended'))",
        params![person],
    )?;
    tx.execute(
        "UPDATE approvals SET state = 'expired', answered_at = $3
         WHERE tenant_id = $1 AND state = 'pending'
           AND EXISTS (SELECT 1 FROM acts a WHERE a.tenant_id = $1 AND a.id = approvals.act_id AND a.person_id = $2)",
        params![person, now],
    )?;
    tx.execute(
        "UPDATE acts SET state = CASE state WHEN 'intended' THEN 'unknown' ELSE 'dropped' END, ended_at = $3,
                lease_until = NULL
         WHERE tenant_id = $1 AND person_id = $2 AND state IN ('waiting', 'rehearsing', 'intended')",
        params![person, now],
    )
}

fn list_acts(tx: &mut Tx<'_>, person: PersonId, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT id FROM acts WHERE tenant_id = $1 AND id > $3 AND person_id = $2 ORDER BY id LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )
}

fn erase_acts(tx: &mut Tx<'_>, acts: &[Uuid]) -> Result<u64> {
    let mut erased = 0;
    for act in acts {
        tx.send("DELETE FROM approvals WHERE tenant_id = $1 AND act_id = $2", params![*act])?;
        tx.send("DELETE FROM act_leases WHERE tenant_id = $1 AND act_id = $2", params![*act])?;
        erased += tx.execute("DELETE FROM acts WHERE tenant_id = $1 AND id = $2", params![*act])?;
    }
    Ok(erased)
}

/// Which acts are past their time.
#[derive(Clone, Debug)]
pub struct ActExpiry {
    pub before: Timestamp,
    pub now: Timestamp,
    /// Runs that have begun before then and go on: what they did stays with them.
    pub open_runs: Vec<RunId>,
}

/// Deletes acts that ended before a time, with the questions about them, and says how many. One that somebody is still asked about
/// stays, and so does one that can be taken back or is being taken back.
pub fn expire(tx: &mut Tx<'_>, expiry: &ActExpiry, limit: u32) -> Result<u64> {
    let open_runs: Vec<String> =
        expiry.open_runs.iter().map(|run| run.as_uuid().simple().to_string()).collect();
    let found = tx.all(
        (
            "SELECT id FROM acts WHERE tenant_id = $1 AND began_at < $2 AND ended_at < $2
               AND (undo_until IS NULL OR undo_until <= $3)
               AND (run_id IS NULL OR run_id NOT IN (SELECT unhex(value) FROM json_each($4)))
               AND NOT EXISTS (SELECT 1 FROM acts u
                               WHERE u.tenant_id = $1 AND u.id = acts.undone_by AND u.ended_at IS NULL)
               AND NOT EXISTS (SELECT 1 FROM approvals p
                               WHERE p.tenant_id = $1 AND p.act_id = acts.id AND p.state = 'pending')
             ORDER BY began_at, id LIMIT $5",
            "SELECT id FROM acts WHERE tenant_id = $1 AND began_at < $2 AND ended_at < $2
               AND (undo_until IS NULL OR undo_until <= $3)
               AND (run_id IS NULL OR run_id <> ALL (
                      ARRAY(SELECT one.value::uuid FROM jsonb_array_elements_text($4::jsonb) AS one)))
               AND NOT EXISTS (SELECT 1 FROM acts u
                               WHERE u.tenant_id = $1 AND u.id = acts.undone_by AND u.ended_at IS NULL)
               AND NOT EXISTS (SELECT 1 FROM approvals p
                               WHERE p.tenant_id = $1 AND p.act_id = acts.id AND p.state = 'pending')
             ORDER BY began_at, id LIMIT $5",
        ),
        params![expiry.before, expiry.now, JsonText::of(&open_runs)?, limit],
        |row| row.get(0),
    )?;
    erase_acts(tx, &found)
}
