//! The table of acts.

use munshi_identity::Principal;
use munshi_identity::persons::check_not_forgotten;
use munshi_store::{
    Cursor, Error as StoreError, JsonText, Page, PageRequest, Row, SealedCell, SealedColumn, Tx, params,
    sql_in_both_orders,
};
use munshi_types::{
    ActId, BindingId, ConsentId, Effect, Id, PersonId, ReservationId, RunId, TenantId, Timestamp, Zone,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::digest::ActDigest;
use super::finish::LOGIN_NEEDED;
use super::recover::{INTERRUPTED, TakeoverReason};
use super::sealing::{ARGUMENTS, LEAVING, PROPOSAL, RESULT, UNDO, remember, seal_by, seal_of_act};
use super::undo::ActUndo;
use crate::error::Result;
use crate::pipeline::{ActCaller, ActConcern, CallerAudience, Proposal, ProposalMode, Taint};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActState {
    Refused,
    /// A person is asked.
    Waiting,
    Rehearsing,
    Rehearsed,
    /// May be happening now.
    Intended,
    Applied,
    Failed,
    /// It may have happened: nobody can look, and it is not tried again.
    Unknown,
    /// The person said no, or never answered.
    Dropped,
}

impl ActState {
    const ALL: [Self; 9] = [
        Self::Refused,
        Self::Waiting,
        Self::Rehearsing,
        Self::Rehearsed,
        Self::Intended,
        Self::Applied,
        Self::Failed,
        Self::Unknown,
        Self::Dropped,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Waiting => "waiting",
            Self::Rehearsing => "rehearsing",
            Self::Rehearsed => "rehearsed",
            Self::Intended => "intended",
            Self::Applied => "applied",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Dropped => "dropped",
        }
    }
}

/// An act as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    pub id: ActId,
    pub run: Option<RunId>,
    pub binding: Option<BindingId>,
    pub person: Option<PersonId>,
    pub tool: String,
    pub connector: String,
    pub effect: Effect,
    pub arguments: Value,
    /// What the tool is given, where that differs.
    pub leaving: Option<Value>,
    pub rests_on: ActBasis,
    pub digest: ActDigest,
    pub state: ActState,
    /// The stage that refused it.
    pub stage: Option<String>,
    pub code: Option<String>,
    pub attempt: i64,
    pub began_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub micros: Option<i64>,
    pub result: Option<Value>,
    /// How it can be taken back.
    pub undo: Option<ActUndo>,
    /// What its tool said is not kept.
    pub is_transient: bool,
    /// What the person had agreed to that it rested on.
    pub consent: Option<ConsentId>,
    pub(super) reservation: Option<ReservationId>,
}

impl Act {
    /// Whether it was not done because nobody was logged in at its service.
    pub(super) fn needs_login(&self) -> bool {
        let code = self.result.as_ref().and_then(|result| result.get("code")?.as_str());
        self.state == ActState::Failed && code == Some(LOGIN_NEEDED)
    }

    /// Whether it was asked for once, and what was said is to be had by asking again alone.
    pub fn is_spent(&self) -> bool {
        let code = self.result.as_ref().and_then(|result| result.get("code")?.as_str());
        let is_over = match self.state {
            ActState::Applied | ActState::Rehearsed => true,
            ActState::Failed => code == Some(INTERRUPTED),
            _ => false,
        };
        self.is_transient && is_over
    }
}

/// What the proposal rested on beside its arguments, so that it can be taken up again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActBasis {
    pub wanted: ProposalMode,
    pub caller: ActCaller,
    pub taint: Taint,
    pub concerns: Vec<ActConcern>,
}

impl ActBasis {
    /// What nobody proposed: it rests on a stranger's standing at the strictest door, and may go nowhere.
    fn of_nobody(tenant: TenantId) -> Self {
        let caller = ActCaller {
            principal: Principal::anonymous(tenant),
            door: CallerAudience::Agents,
            binding: None,
            run: None,
            session: None,
            zone: Zone::default(),
            language: None,
            background: true,
            key: None,
            ceiling: None,
        };
        Self { wanted: ProposalMode::Rehearsal, caller, taint: Taint::default(), concerns: Vec::new() }
    }
}

impl ActBasis {
    /// Whether whom it was for is forgotten, and with them what it was.
    pub(super) fn is_forgotten(&self) -> bool {
        *self == Self::of_nobody(self.caller.principal.tenant)
    }
}

/// What a decision writes into an act.
pub(super) struct ActUpdate<'a> {
    pub state: ActState,
    /// The stage that refused, and its code.
    pub stopped: Option<(&'a str, &'a str)>,
    pub reservation: Option<ReservationId>,
    pub lease: Option<Timestamp>,
    /// The arguments as they leave, where that differs.
    pub leaving: Option<&'a Value>,
    pub consent: Option<ConsentId>,
    /// Its tool says by now that nothing is kept of what it says.
    pub is_transient: bool,
}

/// Refused for somebody who was forgotten.
pub(super) fn insert(
    tx: &mut Tx<'_>,
    proposal: &Proposal,
    digest: ActDigest,
    decided: &ActUpdate<'_>,
    now: Timestamp,
) -> Result<()> {
    let (tool, caller) = (proposal.tool.as_deref(), &proposal.caller);
    if let Some(person) = caller.principal.person {
        check_not_forgotten(tx, person)?;
    }
    let stored = ActBasis {
        wanted: proposal.wanted,
        caller: caller.clone(),
        taint: proposal.taint.clone(),
        concerns: proposal.concerns.clone(),
    };
    let by = seal_by(tx, caller.principal.person)?;
    remember(tx, proposal.act, by)?;
    let seal = |column: SealedColumn, json: &JsonText| tx.seal_written(by, column.cell(proposal.act), json);
    let arguments = seal(ARGUMENTS, &to_stored_json(&*proposal.arguments)?)?;
    let leaving = decided.leaving.map(to_stored_json).transpose()?;
    let leaving = leaving.map(|json| seal(LEAVING, &json)).transpose()?;
    let stored = seal(PROPOSAL, &to_stored_json(&stored)?)?;
    tx.execute(
        "INSERT INTO acts (tenant_id, id, run_id, binding_id, person_id, session_id, tool, connector, effect,
           arguments, leaving, proposal, digest, state, stage, code, reservation, attempt, lease_until, began_at,
           ended_at, transient, consent_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 1, $18, $19, $20, $21,
           $22)",
        params![
            proposal.act,
            caller.run,
            caller.binding,
            caller.principal.person,
            caller.session,
            clean_name(&proposal.name),
            tool.map_or("", |tool| tool.connector.name.as_str()),
            render_effect(tool.map_or(Effect::Read, |tool| tool.spec.effect)),
            arguments,
            leaving,
            stored,
            digest.as_bytes(),
            decided.state.as_str(),
            decided.stopped.map(|(stage, _)| stage),
            decided.stopped.map(|(_, code)| code),
            decided.reservation,
            decided.lease,
            now,
            decided.ended_at(now),
            decided.is_transient,
            decided.consent
        ],
    )?;
    set_lease(tx, proposal.act, decided.lease)
}

impl ActUpdate<'_> {
    pub(super) fn new(state: ActState) -> Self {
        Self {
            state,
            stopped: None,
            reservation: None,
            lease: None,
            leaving: None,
            consent: None,
            is_transient: false,
        }
    }

    fn ended_at(&self, now: Timestamp) -> Option<Timestamp> {
        matches!(self.state, ActState::Refused).then_some(now)
    }
}

/// A model may call a tool by any name; the column holds what can be shown.
pub(super) fn clean_name(name: &str) -> String {
    name.chars().take(100).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// What the store can't hold (a NUL inside, which no act that was let through has) is kept without.
pub(crate) fn to_stored_json(value: &impl Serialize) -> Result<JsonText> {
    match JsonText::of(value) {
        Ok(json) => Ok(json),
        Err(_) => {
            let mut value = serde_json::to_value(value).map_err(|error| {
                StoreError::Misuse(format!("the value can't be written as JSON: {error}"))
            })?;
            strip_nul(&mut value);
            Ok(JsonText::of(&value)?)
        }
    }
}

fn strip_nul(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.replace('\0', "\u{fffd}"),
        Value::Array(items) => items.iter_mut().for_each(strip_nul),
        Value::Object(fields) => {
            for (key, mut item) in std::mem::take(fields) {
                strip_nul(&mut item);
                fields.insert(key.replace('\0', "\u{fffd}"), item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Takes up an act that was waiting, or that was not let in; only one who comes for it gets it. What leaves stays as it
/// was shown.
pub(super) fn resume(
    tx: &mut Tx<'_>,
    (id, attempt): (ActId, i64),
    decided: &ActUpdate<'_>,
    now: Timestamp,
) -> Result<()> {
    let taken = tx.execute(
        "UPDATE acts SET state = $3, stage = $4, code = $5, reservation = $6, lease_until = $7, ended_at = $8,
           attempt = $9, result = NULL, micros = NULL, consent_id = $10, transient = (transient OR $11)
         WHERE tenant_id = $1 AND id = $2 AND state IN ('waiting', 'failed')",
        params![
            id,
            decided.state.as_str(),
            decided.stopped.map(|(stage, _)| stage),
            decided.stopped.map(|(_, code)| code),
            decided.reservation,
            decided.lease,
            decided.ended_at(now),
            attempt,
            decided.consent,
            decided.is_transient
        ],
    )?;
    if taken == 0 {
        return Err(StoreError::Misuse("another process took over the act".to_owned()).into());
    }
    set_lease(tx, id, decided.lease)
}

/// Nothing is kept of what its tool says from here on.
pub(super) fn mark_transient(tx: &mut Tx<'_>, id: ActId) -> Result<()> {
    tx.execute("UPDATE acts SET transient = TRUE WHERE tenant_id = $1 AND id = $2", params![id])?;
    Ok(())
}

/// Ends an act that is in `from`. False when it is not: somebody else ended it.
pub(crate) fn end(
    tx: &mut Tx<'_>,
    id: ActId,
    from: ActState,
    to: ActState,
    result: Option<&Value>,
    micros: Option<i64>,
    now: Timestamp,
) -> Result<bool> {
    let result = seal_of_act(tx, id, RESULT, result.map(to_stored_json).transpose()?)?;
    let ended = tx.execute(
        "UPDATE acts SET state = $4, result = $5, micros = $6, ended_at = $7, lease_until = NULL
         WHERE tenant_id = $1 AND id = $2 AND state = $3",
        params![id, from.as_str(), to.as_str(), result, micros, now],
    )?;
    set_lease(tx, id, None)?;
    Ok(ended > 0)
}

/// Ends an act as a person answered about it.
pub(crate) fn record_answer(
    tx: &mut Tx<'_>,
    id: ActId,
    from: ActState,
    to: ActState,
    now: Timestamp,
) -> Result<bool> {
    let ended = tx.execute(
        "UPDATE acts SET state = $4, ended_at = $5 WHERE tenant_id = $1 AND id = $2 AND state = $3",
        params![id, from.as_str(), to.as_str(), now],
    )?;
    Ok(ended > 0)
}

/// Extends the lease of an act that was left; false when somebody else has.
pub(super) fn renew_lease(
    tx: &mut Tx<'_>,
    act: &Act,
    left: TakeoverReason,
    until: Timestamp,
    now: Timestamp,
) -> Result<bool> {
    let taken = tx.execute(
        "UPDATE acts SET attempt = attempt + 1, lease_until = $3
         WHERE tenant_id = $1 AND id = $2 AND state = 'intended' AND attempt = $5 AND (lease_until <= $4 OR $6)",
        params![act.id, until, now, act.attempt, left.ignores_lease(act.attempt)],
    )?;
    if taken > 0 {
        set_lease(tx, act.id, Some(until))?;
    }
    Ok(taken > 0)
}

fn set_lease(tx: &mut Tx<'_>, id: ActId, until: Option<Timestamp>) -> Result<()> {
    match until {
        Some(until) => tx.send(
            "INSERT INTO act_leases (tenant_id, act_id, lease_until) VALUES ($1, $2, $3)
             ON CONFLICT (tenant_id, act_id) DO UPDATE SET lease_until = excluded.lease_until",
            params![id, until],
        )?,
        None => tx.send("DELETE FROM act_leases WHERE tenant_id = $1 AND act_id = $2", params![id])?,
    };
    Ok(())
}

/// The act, held until the transaction ends: of two who come for it, the second sees what the first did.
pub fn find_for_update(tx: &mut Tx<'_>, id: ActId) -> Result<Option<Act>> {
    let locked = tx.optional(
        (
            "SELECT id FROM acts WHERE tenant_id = $1 AND id = $2",
            "SELECT id FROM acts WHERE tenant_id = $1 AND id = $2 FOR UPDATE",
        ),
        params![id],
        |row| row.get::<ActId>(0),
    )?;
    locked.map_or(Ok(None), |id| find(tx, id))
}

/// Those of a run, the oldest first.
pub fn list_by_run(tx: &mut Tx<'_>, run: RunId) -> Result<Vec<Act>> {
    Ok(tx.all(
        "SELECT id, run_id, binding_id, person_id, tool, connector, effect, arguments, leaving, proposal, digest,
                state, stage, code, reservation, attempt, began_at, ended_at, micros, result, undo, undo_until, undone_by,
                transient, consent_id
         FROM acts WHERE tenant_id = $1 AND run_id = $2 ORDER BY began_at, id",
        params![run],
        read,
    )?)
}

/// Whether an act of a run may have changed anything in the world: it was carried out, may be happening now, or nobody knows.
pub fn has_written(tx: &mut Tx<'_>, run: RunId) -> Result<bool> {
    let found = tx.optional(
        "SELECT 1 FROM acts WHERE tenant_id = $1 AND run_id = $2 AND effect <> 'read'
           AND state IN ('applied', 'unknown', 'intended') LIMIT 1",
        params![run],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

pub fn find(tx: &mut Tx<'_>, id: ActId) -> Result<Option<Act>> {
    Ok(tx.optional(
        "SELECT id, run_id, binding_id, person_id, tool, connector, effect, arguments, leaving, proposal, digest,
                state, stage, code, reservation, attempt, began_at, ended_at, micros, result, undo, undo_until, undone_by,
                transient, consent_id
         FROM acts WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )?)
}

/// A tenant's acts, newest first or the other way round.
pub fn list(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<Act>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, run_id, binding_id, person_id, tool, connector, effect, arguments, leaving, proposal, digest,
                    state, stage, code, reservation, attempt, began_at, ended_at, micros, result, undo, undo_until, undone_by,
                    transient, consent_id
             FROM acts WHERE tenant_id = $1 AND (began_at, id) < ($2, $3) ORDER BY began_at DESC, id DESC LIMIT $4"
        )),
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |act| Cursor { time: act.began_at, id: act.id.as_uuid() }))
}

fn read(row: &Row<'_>) -> munshi_store::Result<Act> {
    let state: String = row.get("state")?;
    let digest: Vec<u8> = row.get("digest")?;
    let odd = |what: &str| StoreError::Decode(format!("an act has an invalid {what}"));
    let id: ActId = row.get("id")?;
    Ok(Act {
        id,
        run: row.get("run_id")?,
        binding: row.get("binding_id")?,
        person: row.get("person_id")?,
        tool: row.get("tool")?,
        connector: row.get("connector")?,
        effect: parse_effect(&row.get::<String>("effect")?).ok_or_else(|| odd("effect"))?,
        arguments: row.get_sealed::<JsonText>("arguments", ARGUMENTS.cell(id))?.read()?,
        leaving: read_sealed(row, "leaving", LEAVING.cell(id))?,
        rests_on: read_basis(row, id)?,
        digest: ActDigest::from_bytes(&digest).ok_or_else(|| odd("digest"))?,
        state: ActState::ALL.into_iter().find(|known| known.as_str() == state).ok_or_else(|| odd("state"))?,
        stage: row.get("stage")?,
        code: row.get("code")?,
        reservation: row.get("reservation")?,
        attempt: row.get("attempt")?,
        began_at: row.get("began_at")?,
        ended_at: row.get("ended_at")?,
        micros: row.get("micros")?,
        result: read_sealed(row, "result", RESULT.cell(id))?,
        undo: read_undo(row, id)?,
        is_transient: row.get("transient")?,
        consent: row.get("consent_id")?,
    })
}

fn read_sealed(row: &Row<'_>, column: &str, cell: SealedCell) -> munshi_store::Result<Option<Value>> {
    row.get_sealed::<Option<JsonText>>(column, cell)?.map(|json| json.read()).transpose()
}

/// Of somebody who was forgotten, nothing is left to take it up again with.
fn read_basis(row: &Row<'_>, id: ActId) -> munshi_store::Result<ActBasis> {
    let stored: Option<ActBasis> = row.get_sealed::<JsonText>("proposal", PROPOSAL.cell(id))?.read()?;
    stored.map_or_else(|| row.tenant().map(ActBasis::of_nobody), Ok)
}

fn read_undo(row: &Row<'_>, id: ActId) -> munshi_store::Result<Option<ActUndo>> {
    let step: Option<JsonText> = row.get_sealed("undo", UNDO.cell(id))?;
    let until: Option<Timestamp> = row.get("undo_until")?;
    let (Some(step), Some(until)) = (step, until) else { return Ok(None) };
    Ok(Some(ActUndo { step: step.read()?, until, undone_by: row.get("undone_by")? }))
}

const EFFECTS: [(Effect, &str); 5] = [
    (Effect::Read, "read"),
    (Effect::Inside, "inside"),
    (Effect::Keyed, "keyed"),
    (Effect::Checked, "checked"),
    (Effect::Once, "once"),
];

fn render_effect(effect: Effect) -> &'static str {
    EFFECTS.iter().find(|(known, _)| *known == effect).map_or("once", |(_, word)| word)
}

fn parse_effect(word: &str) -> Option<Effect> {
    EFFECTS.iter().find(|(_, known)| *known == word).map(|(effect, _)| *effect)
}
