//! Handing a conversation on: to another team, another binding or a person, in the conversation the customer has.
//!
//! The session keeps the binding it began with, and its `active` says where it is by now. Each handing on is a row of its own.

use std::time::Duration;

use munshi_identity::persons::seal_by_person;
use munshi_safety::pipeline::TaintSource;
use munshi_store::{
    Cursor, JsonText, Page, PageRequest, Result, Row, SealedBy, SealedColumn, Tx, params, sql_in_both_orders,
};
use munshi_tiers::{ActivePlace, HandoffWay};
use munshi_types::tier::Destination;
use munshi_types::{HandoffId, Id, PersonId, RunId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::columns::{read_json, read_sealed_json};
use crate::sealing::seal_optional_json;
use crate::sessions::{ACTIVE, Session};
use crate::{human_requests, taint_bits};

pub(crate) const REASON: SealedColumn = SealedColumn::new("handoffs", "reason").forgotten_as("");
pub(crate) const SUMMARY: SealedColumn = SealedColumn::new("handoffs", "summary").forgotten_as("");
pub(crate) const OPEN_QUESTIONS: SealedColumn =
    SealedColumn::new("handoffs", "open_questions").forgotten_as("[]");
pub(crate) const ENTITIES: SealedColumn = SealedColumn::new("handoffs", "entities").forgotten_as("{}");

/// So long a person who was asked to take over is waited for, and after so long they may be asked again.
const AWAITED: Duration = Duration::from_secs(24 * 3600);
const ASKED_AGAIN: Duration = Duration::from_secs(2 * 3600);

/// What goes along with a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffBundle {
    pub reason: String,
    pub summary: String,
    #[serde(default)]
    pub open_questions: Vec<String>,
}

/// Where a conversation is by now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveHandoff {
    pub handoff: HandoffId,
    pub place: ActivePlace,
    /// The team that handed it on, as people see it.
    pub from: String,
    #[serde(flatten)]
    pub bundle: HandoffBundle,
    /// Whose words may stand in the bundle; as bits.
    pub tainted: i64,
    /// A person of the business was asked to take over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_person: bool,
    pub at: Timestamp,
}

impl ActiveHandoff {
    /// Whether a person was asked to take over lately: nobody waits for one for ever.
    pub fn is_awaiting(&self, now: Timestamp) -> bool {
        self.awaits_person && now < self.at.plus(AWAITED)
    }

    /// Whether a person was asked so lately that asking again would only be a second message.
    pub fn was_just_asked(&self, now: Timestamp) -> bool {
        self.awaits_person && now < self.at.plus(ASKED_AGAIN)
    }
}

/// One handing on, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HandoffRecord {
    pub id: HandoffId,
    pub session: SessionId,
    /// The run that did it; none where somebody did.
    pub run: Option<RunId>,
    /// Who did it, where it was not the persona.
    pub person: Option<PersonId>,
    /// As the team names it: `support`, `binding/returns`, `person`.
    pub destination: String,
    pub from: ActivePlace,
    pub to: ActivePlace,
    pub bundle: HandoffBundle,
    /// What the conversation had spoken of.
    pub entities: Value,
    pub at: Timestamp,
}

/// A handing on by somebody of the business.
#[derive(Clone, Debug)]
pub struct ManualHandoff {
    pub id: HandoffId,
    /// None for somebody at the machine, and a program.
    pub person: Option<PersonId>,
    /// What goes along was written by a program, and is nobody's own words.
    pub is_program: bool,
    /// None takes it back to where it began.
    pub to: Option<Destination>,
    pub bundle: HandoffBundle,
    pub now: Timestamp,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum ManualHandoffOutcome {
    Done(Box<HandoffRecord>),
    NotAllowed(Vec<String>),
    Nowhere,
}

/// Hands a conversation on as somebody of the business wants it: along the ways of the team where it is, or back to where it
/// began, with a word for those who go on with it there. Whoever was asked to take over is no longer waited for. Runs under
/// way go on where they are.
pub fn hand_over(
    tx: &mut Tx<'_>,
    session: &Session,
    wanted: &ManualHandoff,
) -> crate::error::Result<ManualHandoffOutcome> {
    let (front, here) = (ActivePlace { binding: session.binding, team: None }, session.place());
    let (to, from) = match &wanted.to {
        None => (front.clone(), String::new()),
        Some(destination) => match munshi_tiers::find_handoff_way(tx, &here, destination)? {
            HandoffWay::To { place, from } => (place, from),
            HandoffWay::NotAllowed(ways) => return Ok(ManualHandoffOutcome::NotAllowed(ways)),
            HandoffWay::Nowhere => return Ok(ManualHandoffOutcome::Nowhere),
        },
    };
    let handoff = HandoffRecord {
        id: wanted.id,
        session: session.id,
        run: None,
        person: wanted.person,
        destination: wanted.to.as_ref().map_or_else(|| "front".to_owned(), ToString::to_string),
        from: here,
        to: to.clone(),
        bundle: wanted.bundle.clone(),
        entities: session.entities.clone(),
        at: wanted.now,
    };
    let from = if from.is_empty() { "a person of the business".to_owned() } else { from };
    let bundle = wanted.bundle.clone();
    let active = ActiveHandoff {
        handoff: wanted.id,
        place: to,
        from,
        bundle,
        tainted: if wanted.is_program { taint_bits::bits(&[TaintSource::Connector].into()) } else { 0 },
        awaits_person: false,
        at: wanted.now,
    };
    // Where it began and nobody wrote anything down it is as any other.
    let is_plain = active.place == front && active.bundle == HandoffBundle::default();
    let by = seal_by_person(tx, session.person)?;
    match apply(tx, (&handoff, by), session.handoff, (!is_plain).then_some(&active))? {
        true => {
            human_requests::end_waiting(tx, session.id, wanted.now)?;
            Ok(ManualHandoffOutcome::Done(Box::new(handoff)))
        }
        false => {
            Err(munshi_store::Error::Busy("somebody else moves this conversation: retry".to_owned()).into())
        }
    }
}

/// Hands a conversation on, in the caller's transaction and sealed by the key of the session's person. False where the session is not there any more, or was handed on by
/// another than `before` meanwhile.
pub fn apply(
    tx: &mut Tx<'_>,
    (handoff, by): (&HandoffRecord, SealedBy),
    before: Option<HandoffId>,
    active: Option<&ActiveHandoff>,
) -> Result<bool> {
    let active = seal_optional_json(tx, by, ACTIVE.cell(handoff.session), active)?;
    let changed = tx.execute(
        "UPDATE sessions SET active = $3, handoff_id = $4, changed_at = $6
         WHERE tenant_id = $1 AND id = $2 AND merged_into IS NULL AND handoff_id IS NOT DISTINCT FROM $5",
        params![handoff.session, active, handoff.id, before, handoff.at],
    )?;
    if changed == 0 {
        return Ok(false);
    }
    tx.announce(handoff.session.as_uuid());
    add(tx, handoff, by)?;
    Ok(true)
}

fn add(tx: &mut Tx<'_>, handoff: &HandoffRecord, by: SealedBy) -> Result<()> {
    let (id, bundle) = (handoff.id, &handoff.bundle);
    let reason = tx.seal(by, REASON.cell(id), &bundle.reason)?;
    let summary = tx.seal(by, SUMMARY.cell(id), &bundle.summary)?;
    let open_questions = tx.seal_json(by, OPEN_QUESTIONS.cell(id), &bundle.open_questions)?;
    let entities = tx.seal_json(by, ENTITIES.cell(id), &handoff.entities)?;
    tx.execute(
        "INSERT INTO handoffs (tenant_id, id, session_id, run_id, person_id, destination, from_place, to_place, reason,
           summary, open_questions, entities, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        params![
            handoff.id,
            handoff.session,
            handoff.run,
            handoff.person,
            handoff.destination,
            JsonText::of(&handoff.from)?,
            JsonText::of(&handoff.to)?,
            reason,
            summary,
            open_questions,
            entities,
            handoff.at
        ],
    )?;
    Ok(())
}

/// Nobody is waited for any more: whoever has the conversation goes on with it.
pub(crate) fn stop_awaiting(tx: &mut Tx<'_>, session: &Session) -> Result<()> {
    let Some(active) = session.active.clone().filter(|active| active.awaits_person) else { return Ok(()) };
    let by = seal_by_person(tx, session.person)?;
    let active = ActiveHandoff { awaits_person: false, ..active };
    let sealed = tx.seal_json(by, ACTIVE.cell(session.id), &active)?;
    tx.execute(
        "UPDATE sessions SET active = $3
         WHERE tenant_id = $1 AND id = $2 AND handoff_id IS NOT DISTINCT FROM $4",
        params![session.id, sealed, session.handoff],
    )?;
    Ok(())
}

pub fn find(tx: &mut Tx<'_>, id: HandoffId) -> Result<Option<HandoffRecord>> {
    tx.optional(
        "SELECT id, session_id, run_id, person_id, destination, from_place, to_place, reason, summary, open_questions,
                entities, at
         FROM handoffs WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )
}

/// Those of a session, newest first or the other way round.
pub fn list(tx: &mut Tx<'_>, session: SessionId, request: &PageRequest) -> Result<Page<HandoffRecord>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, session_id, run_id, person_id, destination, from_place, to_place, reason, summary,
                    open_questions, entities, at
             FROM handoffs WHERE tenant_id = $1 AND session_id = $2 AND (at, id) < ($3, $4)
             ORDER BY at DESC, id DESC LIMIT $5"
        )),
        params![session, request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |handoff| Cursor { time: handoff.at, id: handoff.id.as_uuid() }))
}

/// Those of before a time; what was said stands in them.
pub(crate) fn delete_before(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    tx.execute("DELETE FROM handoffs WHERE tenant_id = $1 AND at < $2", params![before])?;
    Ok(())
}

/// Those of a session that became part of another are the other's.
pub(crate) fn move_session(tx: &mut Tx<'_>, gone: SessionId, stays: SessionId) -> Result<()> {
    tx.execute(
        "UPDATE handoffs SET session_id = $3 WHERE tenant_id = $1 AND session_id = $2",
        params![gone, stays],
    )?;
    Ok(())
}

fn read(row: &Row<'_>) -> Result<HandoffRecord> {
    let id: HandoffId = row.get("id")?;
    Ok(HandoffRecord {
        id,
        session: row.get("session_id")?,
        run: row.get("run_id")?,
        person: row.get("person_id")?,
        destination: row.get("destination")?,
        from: read_json(row, "from_place")?,
        to: read_json(row, "to_place")?,
        bundle: HandoffBundle {
            reason: row.get_sealed("reason", REASON.cell(id))?,
            summary: row.get_sealed("summary", SUMMARY.cell(id))?,
            open_questions: read_sealed_json(row, "open_questions", OPEN_QUESTIONS.cell(id))?,
        },
        entities: read_sealed_json(row, "entities", ENTITIES.cell(id))?,
        at: row.get("at")?,
    })
}
