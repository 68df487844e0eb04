//! Conversations: one of each person with each binding, whatever the channels.

use munshi_identity::persons::seal_by_person;
use munshi_store::{
    Cursor, JsonText, Page, PageRequest, Result, Row, SealedBy, SealedColumn, Tx, params, sql_in_both_orders,
};
use munshi_tiers::ActivePlace;
use munshi_types::tier::{Channel, LanguageCode};
use munshi_types::{BindingId, HandoffId, HoldId, Id, PersonId, ReplyAddress, SessionId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::columns::{read_enum, read_language, read_optional_sealed_json, read_sealed_json};
use crate::handoffs::ActiveHandoff;
use crate::runs;
use crate::sealing::seal_optional_json;

pub(crate) const REPLY_TO: SealedColumn = SealedColumn::new("sessions", "reply_to").forgotten_as_null();
pub(crate) const SUMMARY: SealedColumn = SealedColumn::new("sessions", "summary").forgotten_as_null();
pub(crate) const ASIDE: SealedColumn = SealedColumn::new("sessions", "aside").forgotten_as_null();
pub(crate) const ACTIVE: SealedColumn = SealedColumn::new("sessions", "active").forgotten_as_null();
pub(crate) const ENTITIES: SealedColumn = SealedColumn::new("sessions", "entities").forgotten_as("{}");
pub(crate) const MASKED: SealedColumn = SealedColumn::new("sessions", "masked").forgotten_as_null();

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Session {
    pub id: SessionId,
    pub binding: BindingId,
    pub person: PersonId,
    /// The last one somebody wrote on.
    pub channel: Channel,
    pub language: Option<LanguageCode>,
    /// Where something goes that nobody waits for: where its person wrote last. None where that was a page or an API key.
    #[serde(skip)]
    pub reply_to: Option<ReplyAddress>,
    /// How much was said, and the number of the last of it.
    pub messages: i64,
    pub summary: Option<String>,
    /// Everything up to this number stands in the summary.
    pub summarised: i64,
    pub entities: Value,
    /// What the tokens of a cloud model stand for; never shown to anybody.
    #[serde(skip)]
    pub masked: Option<Value>,
    /// The summary of tainted turns, kept apart from `summary`.
    #[serde(skip)]
    pub tainted_summary: Option<String>,
    /// Whose words those are; as bits.
    #[serde(skip)]
    pub tainted_summary_sources: i64,
    /// Taint, as bits, of old messages that don't store their own.
    #[serde(skip)]
    pub tainted: i64,
    /// The session this one became part of.
    pub merged_into: Option<SessionId>,
    /// Where it was handed on to, and with what; none while it is where it began.
    #[serde(skip)]
    pub active: Option<ActiveHandoff>,
    /// The last handing on.
    #[serde(skip)]
    pub handoff: Option<HandoffId>,
    /// Who of the business has it in hand; none while the agent answers.
    pub hold: Option<SessionHold>,
    /// How much was whispered to the agent that no turn was told.
    #[serde(skip)]
    pub whispers: i64,
    pub began_at: Timestamp,
    pub last_at: Timestamp,
}

/// Somebody of the business has a conversation in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SessionHold {
    /// This taking over, and no other.
    pub id: HoldId,
    pub by: PersonId,
    pub since: Timestamp,
}

/// Which sessions a list holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionFilter {
    #[default]
    All,
    Binding(BindingId),
    Person(PersonId),
}

/// What a turn learned about its session; none leaves what stands there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionUpdate {
    pub language: Option<LanguageCode>,
    pub entities: Option<Value>,
    pub masked: Option<Value>,
}

impl Session {
    /// Where it is by now.
    pub fn place(&self) -> ActivePlace {
        let front = ActivePlace { binding: self.binding, team: None };
        self.active.as_ref().map_or(front, |active| active.place.clone())
    }

    /// Everything that stands for earlier messages.
    pub fn whole_summary(&self) -> Option<String> {
        let parts: Vec<&str> = self.summary.iter().chain(&self.tainted_summary).map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.join("\n"))
    }
}

pub fn find(tx: &mut Tx<'_>, id: SessionId) -> Result<Option<Session>> {
    tx.optional(
        "SELECT id, binding_id, person_id, channel, language, reply_to, messages, summary, summarised, entities, masked,
                tainted, aside, aside_tainted, merged_into, active, handoff_id, held_by, held_at, hold_id,
                whispers, began_at, last_at
         FROM sessions WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )
}

/// The session a person has with a binding.
pub fn find_by_person(tx: &mut Tx<'_>, binding: BindingId, person: PersonId) -> Result<Option<Session>> {
    tx.optional(
        "SELECT id, binding_id, person_id, channel, language, reply_to, messages, summary, summarised, entities, masked,
                tainted, aside, aside_tainted, merged_into, active, handoff_id, held_by, held_at, hold_id,
                whispers, began_at, last_at
         FROM sessions WHERE tenant_id = $1 AND binding_id = $2 AND person_id = $3 AND merged_into IS NULL",
        params![binding, person],
        read,
    )
}

/// Follows an old id to the session it has become part of; its own id leads to itself.
pub fn find_current(tx: &mut Tx<'_>, id: SessionId) -> Result<Option<Session>> {
    let found = find(tx, id)?;
    match found.as_ref().and_then(|session| session.merged_into) {
        // A merge makes every old row lead to its end in one step.
        Some(end) => find(tx, end),
        None => Ok(found),
    }
}

/// The old ids that lead to a session, for what others keep by them.
pub fn list_merged_ids(tx: &mut Tx<'_>, id: SessionId) -> Result<Vec<SessionId>> {
    tx.all("SELECT id FROM sessions WHERE tenant_id = $1 AND merged_into = $2", params![id], |row| row.get(0))
}

/// Those that were not merged into others, the last spoken in first, or the other way round.
pub fn list(tx: &mut Tx<'_>, wanted: SessionFilter, request: &PageRequest) -> Result<Page<Session>> {
    let (time, id, fetch) = (request.after.time, request.after.id, request.fetch_limit());
    let rows = match wanted {
        SessionFilter::All => tx.all(
            request.choose(sql_in_both_orders!(
                "SELECT id, binding_id, person_id, channel, language, reply_to, messages, summary, summarised, entities,
                        masked, tainted, aside, aside_tainted, merged_into, active, handoff_id, held_by, held_at, hold_id,
                whispers, began_at, last_at
                 FROM sessions WHERE tenant_id = $1 AND (last_at, id) < ($2, $3) AND merged_into IS NULL
                 ORDER BY last_at DESC, id DESC LIMIT $4"
            )),
            params![time, id, fetch],
            read,
        )?,
        SessionFilter::Binding(binding) => tx.all(
            request.choose(sql_in_both_orders!(
                "SELECT id, binding_id, person_id, channel, language, reply_to, messages, summary, summarised, entities,
                        masked, tainted, aside, aside_tainted, merged_into, active, handoff_id, held_by, held_at, hold_id,
                whispers, began_at, last_at
                 FROM sessions WHERE tenant_id = $1 AND (last_at, id) < ($2, $3) AND merged_into IS NULL
                   AND binding_id = $5
                 ORDER BY last_at DESC, id DESC LIMIT $4"
            )),
            params![time, id, fetch, binding],
            read,
        )?,
        SessionFilter::Person(person) => tx.all(
            request.choose(sql_in_both_orders!(
                "SELECT id, binding_id, person_id, channel, language, reply_to, messages, summary, summarised, entities,
                        masked, tainted, aside, aside_tainted, merged_into, active, handoff_id, held_by, held_at, hold_id,
                whispers, began_at, last_at
                 FROM sessions WHERE tenant_id = $1 AND (last_at, id) < ($2, $3) AND merged_into IS NULL
                   AND person_id = $5
                 ORDER BY last_at DESC, id DESC LIMIT $4"
            )),
            params![time, id, fetch, person],
            read,
        )?,
    };
    Ok(Page::from_rows(rows, request, |session| Cursor { time: session.last_at, id: session.id.as_uuid() }))
}

/// A message that has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageArrival<'a> {
    pub binding: BindingId,
    pub person: PersonId,
    pub channel: Channel,
    pub outside_id: &'a str,
    pub reply_to: Option<&'a ReplyAddress>,
    /// Whether a program says it for them: where they are reached is known from what they wrote themselves.
    pub is_said_for_them: bool,
    pub now: Timestamp,
}

/// Numbers the message in the session there is, and holds the session until the transaction ends: that orders what is
/// said in it. None where there is no session, or the message was taken before.
pub(crate) fn record_arrival(tx: &mut Tx<'_>, arrival: &MessageArrival<'_>) -> Result<Option<Session>> {
    let hashed = runs::hash_outside_id(tx, arrival.channel, arrival.outside_id)?;
    let found = tx.optional(
        "UPDATE sessions SET messages = messages + 1, channel = $4, last_at = $7, changed_at = $7,
                waiting_since = coalesce(waiting_since, $7)
         WHERE tenant_id = $1 AND binding_id = $2 AND person_id = $3 AND merged_into IS NULL
           AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.tenant_id = $1 AND r.binding_id = $2 AND r.channel = $4
                             AND r.outside_id IN ($5, $6))
         RETURNING id, binding_id, person_id, channel, language, reply_to, messages, summary, summarised, entities,
                   masked, tainted, aside, aside_tainted, merged_into, active, handoff_id, held_by, held_at, hold_id,
                whispers, began_at, last_at",
        params![
            arrival.binding,
            arrival.person,
            arrival.channel.as_str(),
            arrival.outside_id,
            hashed,
            arrival.now
        ],
        read,
    )?;
    let Some(session) = found else { return Ok(None) };
    tx.announce(session.id.as_uuid());
    store_reply_address(tx, session, arrival).map(Some)
}

/// The same where there may be no session yet. The person is held by the caller, so that no merge comes between; of two
/// first messages at once, the second finds what the first made.
pub(crate) fn upsert(tx: &mut Tx<'_>, id: SessionId, arrival: &MessageArrival<'_>) -> Result<Session> {
    let session = tx.one(
        "INSERT INTO sessions (tenant_id, id, binding_id, person_id, channel, messages, summarised, entities, tainted,
           began_at, last_at, changed_at, waiting_since)
         VALUES ($1, $2, $3, $4, $5, 1, 0, $6, 0, $7, $7, $7, $7)
         ON CONFLICT (tenant_id, binding_id, person_id) WHERE merged_into IS NULL DO UPDATE SET
           messages = sessions.messages + 1, channel = excluded.channel, last_at = excluded.last_at,
           changed_at = excluded.changed_at, waiting_since = coalesce(sessions.waiting_since, excluded.waiting_since)
         RETURNING id, binding_id, person_id, channel, language, reply_to, messages, summary, summarised, entities,
                   masked, tainted, aside, aside_tainted, merged_into, active, handoff_id, held_by, held_at, hold_id,
                whispers, began_at, last_at",
        params![
            id,
            arrival.binding,
            arrival.person,
            arrival.channel.as_str(),
            JsonText::of(&Value::Object(serde_json::Map::default()))?,
            arrival.now
        ],
        read,
    )?;
    tx.announce(session.id.as_uuid());
    store_reply_address(tx, session, arrival)
}

/// Keeps where a message came from, if that is new: one from a web page or an API key came from no address, and nothing is sent after it.
/// Apart from the arrival, since what is sealed is bound to its row, and which row that is only the arrival says.
fn store_reply_address(tx: &mut Tx<'_>, session: Session, arrival: &MessageArrival<'_>) -> Result<Session> {
    // On the same channel, what names no address says nothing of it.
    let is_there_still = session.reply_to.as_ref().is_some_and(|known| known.channel == arrival.channel);
    let says_nothing = arrival.reply_to.is_none() && (arrival.is_said_for_them || is_there_still);
    if says_nothing || session.reply_to.as_ref() == arrival.reply_to {
        return Ok(session);
    }
    let by = seal_by_person(tx, session.person)?;
    let sealed = seal_optional_json(tx, by, REPLY_TO.cell(session.id), arrival.reply_to)?;
    tx.send(
        "UPDATE sessions SET reply_to = $3 WHERE tenant_id = $1 AND id = $2",
        params![session.id, sealed],
    )?;
    Ok(Session { reply_to: arrival.reply_to.cloned(), ..session })
}

/// What a reply needs to know of the session it was numbered in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyPosition {
    pub session: SessionId,
    pub number: i64,
    pub summarised: i64,
}

/// Numbers a reply in the session its run belongs to by now, and keeps what was learned. Whoever waits for a colleague still does.
pub fn record_reply(
    tx: &mut Tx<'_>,
    session: SessionId,
    learned: &SessionUpdate,
    (by, now): (SealedBy, Timestamp),
) -> Result<Option<ReplyPosition>> {
    let entities = seal_optional_json(tx, by, ENTITIES.cell(session), learned.entities.as_ref())?;
    let masked = seal_optional_json(tx, by, MASKED.cell(session), learned.masked.as_ref())?;
    let position = tx.optional(
        "UPDATE sessions SET messages = messages + 1, last_at = $3, changed_at = $3, language = coalesce($4, language),
                waiting_since = CASE WHEN awaits_colleague THEN waiting_since END,
                entities = coalesce($5, entities), masked = coalesce($6, masked)
         WHERE tenant_id = $1 AND id = $2 AND merged_into IS NULL
         RETURNING id, messages, summarised",
        params![session, now, learned.language.as_ref().map(LanguageCode::as_str), entities, masked],
        read_position,
    )?;
    position.iter().for_each(|position| tx.announce(position.session.as_uuid()));
    Ok(position)
}

/// The same for a run that ends without a word.
pub(crate) fn record_without_reply(
    tx: &mut Tx<'_>,
    session: SessionId,
    learned: &SessionUpdate,
    (by, now): (SealedBy, Timestamp),
) -> Result<Option<ReplyPosition>> {
    let entities = seal_optional_json(tx, by, ENTITIES.cell(session), learned.entities.as_ref())?;
    let masked = seal_optional_json(tx, by, MASKED.cell(session), learned.masked.as_ref())?;
    let position = tx.optional(
        "UPDATE sessions SET last_at = $3, changed_at = $3, language = coalesce($4, language), entities = coalesce($5, entities),
                masked = coalesce($6, masked)
         WHERE tenant_id = $1 AND id = $2 AND merged_into IS NULL
         RETURNING id, messages, summarised",
        params![
            session,
            now,
            learned.language.as_ref().map(LanguageCode::as_str),
            entities,
            masked
        ],
        read_position,
    )?;
    position.iter().for_each(|position| tx.announce(position.session.as_uuid()));
    Ok(position)
}

fn read_position(row: &Row<'_>) -> Result<ReplyPosition> {
    Ok(ReplyPosition { session: row.get(0)?, number: row.get(1)?, summarised: row.get(2)? })
}

/// Tells those who follow a session that something else of it has changed than what is said in it, such as who holds it.
pub fn touch(tx: &mut Tx<'_>, session: SessionId, now: Timestamp) -> Result<()> {
    tx.send(
        "UPDATE sessions SET changed_at = $3 WHERE tenant_id = $1 AND id = $2 AND merged_into IS NULL",
        params![session, now],
    )?;
    tx.announce(session.as_uuid());
    Ok(())
}

/// The same where a question of a conversation is settled, as an approval names it. Call it before that is stored: whoever merges
/// conversations holds them first, and their questions then.
pub fn touch_asked(tx: &mut Tx<'_>, session: Option<Uuid>, now: Timestamp) -> Result<()> {
    session.map_or(Ok(()), |session| touch(tx, SessionId::from_uuid(session), now))
}

fn read_hold(row: &Row<'_>) -> Result<Option<SessionHold>> {
    let held: (Option<HoldId>, Option<PersonId>, Option<Timestamp>) =
        (row.get("hold_id")?, row.get("held_by")?, row.get("held_at")?);
    Ok(match held {
        (Some(id), Some(by), Some(since)) => Some(SessionHold { id, by, since }),
        _ => None,
    })
}

pub(crate) fn read(row: &Row<'_>) -> Result<Session> {
    let id: SessionId = row.get("id")?;
    Ok(Session {
        id,
        binding: row.get("binding_id")?,
        person: row.get("person_id")?,
        channel: read_enum(row, "channel")?,
        language: read_language(row, "language")?,
        reply_to: read_optional_sealed_json(row, "reply_to", REPLY_TO.cell(id))?,
        messages: row.get("messages")?,
        summary: row.get_sealed("summary", SUMMARY.cell(id))?,
        summarised: row.get("summarised")?,
        entities: read_sealed_json(row, "entities", ENTITIES.cell(id))?,
        masked: read_optional_sealed_json(row, "masked", MASKED.cell(id))?,
        tainted_summary: row.get_sealed("aside", ASIDE.cell(id))?,
        tainted_summary_sources: row.get("aside_tainted")?,
        tainted: row.get("tainted")?,
        merged_into: row.get("merged_into")?,
        active: read_optional_sealed_json(row, "active", ACTIVE.cell(id))?,
        handoff: row.get("handoff_id")?,
        hold: read_hold(row)?,
        whispers: row.get("whispers")?,
        began_at: row.get("began_at")?,
        last_at: row.get("last_at")?,
    })
}
