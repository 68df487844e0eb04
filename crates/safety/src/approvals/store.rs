//! The table of approvals.

use std::time::Duration;

use munshi_store::{
    Cursor, Error as StoreError, JsonText, Page, PageRequest, PlainColumn, Row, SealedCell, SealedColumn,
    SealedKey, SealedTable, Tx, params, sql_in_both_orders,
};
use munshi_types::{ActId, ApprovalId, ConsentPurposeName, Id, PersonId, RunId, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use super::{Approval, ApprovalKind, ApprovalStatus, NewApproval};
use crate::acts::{self, ActDigest, ActServices};
use crate::error::{Error, Result};
use crate::pipeline::{ConsentGiver, ConsentQuestion, Risk};

const WORDS: SealedColumn = SealedColumn::new("approvals", "words").forgotten_as("");
/// The values of an act's arguments stand in it.
const SCOPE: SealedColumn = SealedColumn::new("approvals", "scope").forgotten_as("");
const REHEARSAL: SealedColumn = SealedColumn::new("approvals", "rehearsal").forgotten_as_null();

/// Approvals from before they were sealed.
pub(crate) const APPROVALS_OF_BEFORE: SealedTable = SealedTable {
    name: "approvals",
    key: SealedKey::Id,
    next: (
        "SELECT id AS row_id, asked_by AS person, scope, words, rehearsal FROM approvals
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3",
        "SELECT id AS row_id, asked_by AS person, scope, words, rehearsal FROM approvals
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3 FOR NO KEY UPDATE",
    ),
    update: "UPDATE approvals SET scope = $3, words = $4, rehearsal = $5 WHERE tenant_id = $1 AND id = $2",
    columns: &[PlainColumn::Text(SCOPE), PlainColumn::Text(WORDS), PlainColumn::Json(REHEARSAL)],
};

/// How long anybody is asked whether something happened.
pub(super) const OUTCOME_HOURS: u16 = 24 * 30;

pub(crate) fn insert(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    new: &NewApproval,
    now: Timestamp,
) -> Result<Approval> {
    let id: ApprovalId = act_services.ids.next();
    let expires_at = now.plus(Duration::from_secs(u64::from(new.hours) * 3600));
    let by = acts::seal_by(tx, new.asked_by)?;
    let words = tx.seal(by, WORDS.cell(id), &new.words.replace('\0', "\u{fffd}"))?;
    let scope = tx.seal(by, SCOPE.cell(id), &new.scope)?;
    tx.execute(
        "INSERT INTO approvals (tenant_id, id, act_id, kind, tool, scope, session_id, asked_by, words, question,
           digest, state, covers, asked_at, expires_at, purpose)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'pending', 'act', $12, $13, $14)",
        params![
            id,
            new.act,
            new.kind.as_str(),
            new.tool,
            scope,
            new.session,
            new.asked_by,
            words,
            JsonText::of(&new.question)?,
            new.digest.as_bytes(),
            now,
            expires_at,
            new.question.purpose.as_ref().map(|asked| asked.purpose.as_str())
        ],
    )?;
    announce(tx, new.session);
    find(tx, id)?.ok_or_else(|| StoreError::Decode("the new approval is missing".to_owned()).into())
}

/// Tells whoever follows the conversation that its questions have changed.
pub(super) fn announce(tx: &mut Tx<'_>, session: Option<Uuid>) {
    if let Some(session) = session {
        tx.announce(session);
    }
}

/// Asks a person whether an act happened that nobody could see the end of.
pub(crate) fn ask_outcome(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    act: ActId,
    now: Timestamp,
) -> Result<()> {
    let Some(act) = acts::find(tx, act)? else { return Ok(()) };
    let words = format!("{} broke off, and may have happened. Look there: did it happen?", act.tool);
    let (needs, risk) = (ConsentGiver::Approver, Risk::High);
    let question = ConsentQuestion { reasons: Vec::new(), needs, risk, purpose: None };
    let caller = &act.rests_on.caller;
    let new = NewApproval {
        act: act.id,
        kind: ApprovalKind::Outcome,
        tool: act.tool.clone(),
        scope: String::new(),
        session: caller.session,
        asked_by: caller.principal.person,
        words,
        question,
        digest: act.digest,
        hours: OUTCOME_HOURS,
    };
    insert(tx, act_services, &new, now)?;
    Ok(())
}

/// Puts a rehearsal's result beside the question of its act; false where none is waiting.
pub(crate) fn attach_rehearsal(tx: &mut Tx<'_>, act: ActId, result: &Value) -> Result<bool> {
    let waiting: Option<(ApprovalId, Option<PersonId>)> = tx.optional(
        "SELECT id, asked_by FROM approvals
         WHERE tenant_id = $1 AND act_id = $2 AND kind = 'act' AND state = 'pending' AND rehearsal IS NULL",
        params![act],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((id, asked_by)) = waiting else { return Ok(false) };
    let by = acts::seal_by(tx, asked_by)?;
    let rehearsal = tx.seal_written(by, REHEARSAL.cell(id), &acts::to_stored_json(result)?)?;
    let attached = tx.execute(
        "UPDATE approvals SET rehearsal = $3
         WHERE tenant_id = $1 AND id = $2 AND state = 'pending' AND rehearsal IS NULL",
        params![id, rehearsal],
    )?;
    Ok(attached > 0)
}

/// A yes for exactly this act that has not been used, and whose time is not over; with the question that it answers.
pub(crate) fn find_grant(
    tx: &mut Tx<'_>,
    act: ActId,
    digest: ActDigest,
    now: Timestamp,
) -> Result<Option<(ApprovalId, ConsentQuestion)>> {
    Ok(tx.optional(
        "SELECT id, question FROM approvals
         WHERE tenant_id = $1 AND act_id = $2 AND kind = 'act' AND digest = $3 AND state = 'granted'
           AND used_at IS NULL AND expires_at > $4",
        params![act, digest.as_bytes(), now],
        |row| Ok((row.get(0)?, row.get::<JsonText>(1)?.read()?)),
    )?)
}

/// A yes in this conversation that was said to hold for the tool: where it was asked for, for whom it was asked.
pub(crate) fn find_session_grant(
    tx: &mut Tx<'_>,
    session: Uuid,
    (tool, scope): (&str, &str),
    person: Option<PersonId>,
    now: Timestamp,
) -> Result<Option<ApprovalId>> {
    let granted: Vec<(ApprovalId, String)> = tx.all(
        "SELECT id, scope FROM approvals
         WHERE tenant_id = $1 AND session_id = $2 AND tool = $3 AND covers = 'session' AND state = 'granted'
           AND kind = 'act' AND asked_by IS NOT DISTINCT FROM $4 AND expires_at > $5
         ORDER BY asked_at DESC, id DESC LIMIT 200",
        params![session, tool, person, now],
        |row| {
            let id: ApprovalId = row.get(0)?;
            Ok((id, row.get_sealed(1, SCOPE.cell(id))?))
        },
    )?;
    Ok(granted.into_iter().find(|(_, granted)| granted == scope).map(|(id, _)| id))
}

/// Whether somebody has said no to a purpose in this run: it is not put to them again.
pub(crate) fn is_purpose_refused(tx: &mut Tx<'_>, run: RunId, purpose: &ConsentPurposeName) -> Result<bool> {
    let refused: Vec<ConsentQuestion> = tx.all(
        "SELECT p.question FROM approvals p JOIN acts a ON a.tenant_id = $1 AND a.id = p.act_id
         WHERE p.tenant_id = $1 AND a.run_id = $2 AND p.kind = 'act' AND p.state = 'refused'",
        params![run],
        |row| row.get::<JsonText>(0)?.read(),
    )?;
    Ok(refused
        .iter()
        .any(|question| question.purpose.as_ref().is_some_and(|asked| asked.purpose == *purpose)))
}

/// How somebody was asked for a purpose lately where no run asked: by a program's own calls, each of which stands by itself. None where they
/// were not, or the last answer was a yes. A question whose time is over has been put to them all the same.
pub(crate) fn find_direct_purpose_question(
    tx: &mut Tx<'_>,
    (person, purpose): (PersonId, &ConsentPurposeName),
    since: Timestamp,
    now: Timestamp,
) -> Result<Option<ApprovalStatus>> {
    let asked: Option<(String, Timestamp)> = tx.optional(
        "SELECT p.state, p.expires_at FROM approvals p JOIN acts a ON a.tenant_id = $1 AND a.id = p.act_id
         WHERE p.tenant_id = $1 AND p.asked_by = $2 AND p.purpose = $3 AND p.asked_at > $4 AND a.run_id IS NULL
           AND p.kind = 'act'
         ORDER BY p.asked_at DESC, p.id DESC LIMIT 1",
        params![person, purpose.as_str(), since],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((state, expires_at)) = asked else { return Ok(None) };
    let status = ApprovalStatus::ALL.into_iter().find(|known| known.as_str() == state);
    Ok(match status {
        Some(ApprovalStatus::Pending) if expires_at <= now => Some(ApprovalStatus::Expired),
        Some(ApprovalStatus::Granted) => None,
        other => other,
    })
}

/// Uses a yes. One for a single act is used up; a second use is refused.
pub(crate) fn redeem(tx: &mut Tx<'_>, id: ApprovalId, now: Timestamp) -> Result<()> {
    let used = tx.execute(
        "UPDATE approvals SET used_at = $3
         WHERE tenant_id = $1 AND id = $2 AND state = 'granted' AND (used_at IS NULL OR covers = 'session')",
        params![id, now],
    )?;
    if used == 0 {
        return Err(Error::Invalid("the approval is already used".to_owned()));
    }
    Ok(())
}

/// A yes that was made use of for nothing, and is good again until its time is over.
pub(crate) fn reinstate(tx: &mut Tx<'_>, act: ActId) -> Result<()> {
    tx.execute(
        "UPDATE approvals SET used_at = NULL
         WHERE tenant_id = $1 AND act_id = $2 AND kind = 'act' AND state = 'granted'",
        params![act],
    )?;
    Ok(())
}

/// Writes an answer down; false when there was one already.
pub(super) fn set_answer(
    tx: &mut Tx<'_>,
    id: ApprovalId,
    state: ApprovalStatus,
    said: &super::ApprovalAnswer<'_>,
    now: Timestamp,
) -> Result<bool> {
    let set = tx.execute(
        "UPDATE approvals SET state = $3, covers = $4, answered_by = $5, answered_via = $6, answered_at = $7
         WHERE tenant_id = $1 AND id = $2 AND state = 'pending'",
        params![id, state.as_str(), said.covers.as_str(), said.who.person, said.via, now],
    )?;
    Ok(set > 0)
}

pub fn find(tx: &mut Tx<'_>, id: ApprovalId) -> Result<Option<Approval>> {
    Ok(tx.optional(
        "SELECT id, act_id, kind, tool, scope, session_id, asked_by, words, question, rehearsal, digest, state,
                asked_at, expires_at, answered_by, answered_via, answered_at, used_at, escalated_at, escalated_to,
                (SELECT arguments FROM acts WHERE acts.tenant_id = $1 AND acts.id = act_id) AS arguments,
                (SELECT leaving FROM acts WHERE acts.tenant_id = $1 AND acts.id = act_id) AS leaving
         FROM approvals WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )?)
}

/// Those whose id begins so, as people type it; twenty at most. What is no beginning of an id begins none.
pub fn list_by_prefix(tx: &mut Tx<'_>, beginning: &str) -> Result<Vec<Approval>> {
    let digits = beginning.replace('-', "");
    let bound = |fill: char| {
        let rest = 32usize.checked_sub(digits.len())?;
        Uuid::try_parse(&(digits.clone() + &fill.to_string().repeat(rest))).ok()
    };
    let (Some(low), Some(high), false) = (bound('0'), bound('f'), digits.is_empty()) else {
        return Ok(Vec::new());
    };
    Ok(tx.all(
        "SELECT id, act_id, kind, tool, scope, session_id, asked_by, words, question, rehearsal, digest, state,
                asked_at, expires_at, answered_by, answered_via, answered_at, used_at, escalated_at, escalated_to,
                (SELECT arguments FROM acts WHERE acts.tenant_id = $1 AND acts.id = act_id) AS arguments,
                (SELECT leaving FROM acts WHERE acts.tenant_id = $1 AND acts.id = act_id) AS leaving
         FROM approvals WHERE tenant_id = $1 AND id >= $2 AND id <= $3 ORDER BY id LIMIT 20",
        params![low, high],
        read,
    )?)
}

/// The question an act waits for.
pub fn find_by_act(tx: &mut Tx<'_>, act: ActId) -> Result<Option<Approval>> {
    let id = tx.optional(
        "SELECT id FROM approvals WHERE tenant_id = $1 AND act_id = $2 AND kind = 'act'",
        params![act],
        |row| row.get::<ApprovalId>(0),
    )?;
    id.map_or(Ok(None), |id| find(tx, id))
}

/// Which questions a list holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalFilter {
    Pending,
    All,
}

/// Newest first, or the other way round.
pub fn list(tx: &mut Tx<'_>, wanted: ApprovalFilter, request: &PageRequest) -> Result<Page<Approval>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, act_id, kind, tool, scope, session_id, asked_by, words, question, rehearsal, digest, state,
                    asked_at, expires_at, answered_by, answered_via, answered_at, used_at, escalated_at, escalated_to,
                    (SELECT arguments FROM acts WHERE acts.tenant_id = $1 AND acts.id = act_id) AS arguments,
                    (SELECT leaving FROM acts WHERE acts.tenant_id = $1 AND acts.id = act_id) AS leaving
             FROM approvals
             WHERE tenant_id = $1 AND (asked_at, id) < ($2, $3) AND (state = 'pending' OR $4)
             ORDER BY asked_at DESC, id DESC LIMIT $5"
        )),
        params![request.after.time, request.after.id, wanted == ApprovalFilter::All, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |approval| Cursor {
        time: approval.asked_at,
        id: approval.id.as_uuid(),
    }))
}

/// Those that wait and were asked, or put to somebody above, since a time, the oldest first: so many at most.
pub fn list_pending_since(tx: &mut Tx<'_>, since: Timestamp, most: u32) -> Result<Vec<Approval>> {
    Ok(tx.all(
        "SELECT id, act_id, kind, tool, scope, session_id, asked_by, words, question, rehearsal, digest, state,
                asked_at, expires_at, answered_by, answered_via, answered_at, used_at, escalated_at, escalated_to,
                (SELECT arguments FROM acts WHERE acts.tenant_id = $1 AND acts.id = act_id) AS arguments,
                (SELECT leaving FROM acts WHERE acts.tenant_id = $1 AND acts.id = act_id) AS leaving
         FROM approvals WHERE tenant_id = $1 AND state = 'pending' AND coalesce(escalated_at, asked_at) > $2
         ORDER BY asked_at, id LIMIT $3",
        params![since, most],
        read,
    )?)
}

/// What a conversation waits for, the latest first: a yes in the chat answers that.
pub fn list_pending(tx: &mut Tx<'_>, session: Uuid) -> Result<Vec<Approval>> {
    Ok(tx.all(
        "SELECT id, act_id, kind, tool, scope, session_id, asked_by, words, question, rehearsal, digest, state,
                asked_at, expires_at, answered_by, answered_via, answered_at, used_at, escalated_at, escalated_to,
                (SELECT arguments FROM acts WHERE acts.tenant_id = $1 AND acts.id = act_id) AS arguments,
                (SELECT leaving FROM acts WHERE acts.tenant_id = $1 AND acts.id = act_id) AS leaving
         FROM approvals WHERE tenant_id = $1 AND session_id = $2 AND state = 'pending'
         ORDER BY asked_at DESC, id DESC LIMIT 20",
        params![session],
        read,
    )?)
}

/// The ids of the same, for those who only follow that there are some.
pub fn list_pending_ids(tx: &mut Tx<'_>, session: Uuid) -> munshi_store::Result<Vec<ApprovalId>> {
    tx.all(
        "SELECT id FROM approvals WHERE tenant_id = $1 AND session_id = $2 AND state = 'pending'
         ORDER BY asked_at DESC, id DESC LIMIT 20",
        params![session],
        |row| row.get(0),
    )
}

/// Questions of one conversation become another's, after the two became one.
pub fn move_session(tx: &mut Tx<'_>, from: Uuid, into: Uuid) -> Result<u64> {
    Ok(tx.execute(
        "UPDATE approvals SET session_id = $3 WHERE tenant_id = $1 AND session_id = $2",
        params![from, into],
    )?)
}

/// Who asked is known under another row by now. What was asked for stays as it was: only the asker's own yes goes by this.
pub fn move_asker(tx: &mut Tx<'_>, from: PersonId, into: PersonId) -> Result<u64> {
    Ok(tx.execute(
        "UPDATE approvals SET asked_by = $3 WHERE tenant_id = $1 AND asked_by = $2 AND state = 'pending'",
        params![from, into],
    )?)
}

fn read(row: &Row<'_>) -> munshi_store::Result<Approval> {
    let (kind, state): (String, String) = (row.get("kind")?, row.get("state")?);
    let digest: Vec<u8> = row.get("digest")?;
    let odd = |what: &str| StoreError::Decode(format!("an approval has an invalid {what}"));
    let (id, act): (ApprovalId, ActId) = (row.get("id")?, row.get("act_id")?);
    let given = |column: &str, cell: SealedCell| {
        row.get_sealed::<Option<JsonText>>(column, cell)?.map(|json| json.read::<Value>()).transpose()
    };
    Ok(Approval {
        id,
        act,
        kind: if kind == ApprovalKind::Outcome.as_str() { ApprovalKind::Outcome } else { ApprovalKind::Act },
        tool: row.get("tool")?,
        scope: row.get_sealed("scope", SCOPE.cell(id))?,
        session: row.get("session_id")?,
        asked_by: row.get("asked_by")?,
        words: row.get_sealed("words", WORDS.cell(id))?,
        arguments: given("arguments", acts::ARGUMENTS.cell(act))?.unwrap_or_default(),
        leaving: given("leaving", acts::LEAVING.cell(act))?,
        question: row.get::<JsonText>("question")?.read()?,
        rehearsal: given("rehearsal", REHEARSAL.cell(id))?,
        digest: ActDigest::from_bytes(&digest).ok_or_else(|| odd("digest"))?,
        state: ApprovalStatus::ALL
            .into_iter()
            .find(|known| known.as_str() == state)
            .ok_or_else(|| odd("state"))?,
        asked_at: row.get("asked_at")?,
        expires_at: row.get("expires_at")?,
        answered_by: row.get("answered_by")?,
        answered_via: row.get("answered_via")?,
        answered_at: row.get("answered_at")?,
        used_at: row.get("used_at")?,
        escalated_at: row.get("escalated_at")?,
        escalated_to: row.get::<Option<JsonText>>("escalated_to")?.map(|json| json.read()).transpose()?,
    })
}
