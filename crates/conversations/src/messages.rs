//! What was said in a session, by either side.

use std::collections::HashSet;
use std::str::FromStr;

use munshi_identity::persons::seal_by_person;
use munshi_store::{
    Cursor, Page, PageRequest, Result, Row, SealedBy, SealedColumn, Tx, params, sql_in_both_orders,
};
use munshi_types::tier::{Channel, LanguageCode};
use munshi_types::{
    AttachedFile, BindingId, ClientScreen, Id, MessageId, OutboundMessage, OutboundPurpose, PersonId,
    ReplyAddress, RunId, SessionId, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::columns::{read_count, read_enum, read_language, read_sealed_json};
use crate::runs::RunConversation;
use crate::sealing::seal_optional;

pub(crate) const TEXT: SealedColumn = SealedColumn::new("messages", "text").forgotten_as("");
pub(crate) const ATTACHED: SealedColumn = SealedColumn::new("messages", "attached").forgotten_as("[]");
pub(crate) const MARKS: SealedColumn = SealedColumn::new("messages", "marks").forgotten_as("{}");
pub(crate) const SUGGESTIONS: SealedColumn = SealedColumn::new("messages", "suggestions").forgotten_as("[]");
pub(crate) const OUTSIDE_ID: SealedColumn = SealedColumn::new("messages", "outside_id").forgotten_as_null();

/// How many are read for a turn.
pub const READ: u32 = 50;
/// The mark of a message that came while somebody of the business had the conversation in hand.
pub const HELD: &str = "held";

/// Who said something. Our side is the persona, and whoever of the business joins in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageSpeaker {
    Person,
    Persona,
    /// Somebody of the business, as themselves.
    Colleague(PersonId),
}

impl MessageSpeaker {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Persona => "persona",
            Self::Colleague(_) => "colleague",
        }
    }

    /// Whether our side said it.
    pub const fn is_ours(self) -> bool {
        matches!(self, Self::Persona | Self::Colleague(_))
    }

    pub const fn colleague(self) -> Option<PersonId> {
        match self {
            Self::Colleague(person) => Some(person),
            Self::Person | Self::Persona => None,
        }
    }

    /// In its row a colleague's word is our side's, with their id beside it: so an older node reads it too.
    const fn stored_as(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Persona | Self::Colleague(_) => "persona",
        }
    }

    pub(crate) fn read(row: &Row<'_>) -> Result<Self> {
        let colleague: Option<PersonId> = row.get("colleague_id")?;
        match (row.get::<String>("speaker")?.as_str(), colleague) {
            ("person", _) => Ok(Self::Person),
            ("persona", Some(colleague)) => Ok(Self::Colleague(colleague)),
            ("persona", None) => Ok(Self::Persona),
            (other, _) => Err(munshi_store::Error::Decode(format!("unknown message speaker `{other}`"))),
        }
    }
}

/// How far a message is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageStatus {
    Whole,
    /// An excuse: not billed, and no model is shown it as an answer.
    Degraded,
    /// Not kept: its text is gone.
    Refused,
}

impl MessageStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Degraded => "degraded",
            Self::Refused => "refused",
        }
    }
}

impl FromStr for MessageStatus {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let all = [Self::Whole, Self::Degraded, Self::Refused];
        let found = all.into_iter().find(|known| known.as_str() == text);
        found.ok_or_else(|| format!("unknown message status `{text}`"))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub session: SessionId,
    /// Its place in the session, from 1.
    pub number: i64,
    pub run: RunId,
    pub binding: BindingId,
    pub speaker: MessageSpeaker,
    pub channel: Channel,
    pub outside_id: Option<String>,
    pub text: String,
    pub attached: Vec<AttachedFile>,
    pub language: Option<LanguageCode>,
    pub tokens: u32,
    pub standing: MessageStatus,
    /// Which beginning of a reply this is; 0 for what came in.
    pub generation: u32,
    /// What stood between the words of a reply, by offset.
    pub marks: Value,
    pub suggestions: Vec<String>,
    pub said_at: Timestamp,
}

impl Message {
    /// As it is sent.
    pub fn to_outbound(&self, to: &ReplyAddress) -> OutboundMessage {
        let purpose = match self.speaker {
            MessageSpeaker::Colleague(_) => OutboundPurpose::Colleague,
            MessageSpeaker::Person | MessageSpeaker::Persona => OutboundPurpose::Reply,
        };
        OutboundMessage {
            purpose,
            suggestions: self.suggestions.clone(),
            language: self.language.clone(),
            ..OutboundMessage::new(self.id, to.clone(), self.text.clone())
        }
    }
}

pub fn find(tx: &mut Tx<'_>, id: MessageId) -> Result<Option<Message>> {
    tx.optional(
        "SELECT id, session_id, number, run_id, binding_id, speaker, colleague_id, channel, outside_id, text, attached, language,
                tokens, standing, generation, marks, suggestions, said_at
         FROM messages WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )
}

/// The newest of a session up to a number, the oldest of them first. What came after a turn's own message is not its
/// business: pass that message's number.
pub fn list_newest(tx: &mut Tx<'_>, session: SessionId, up_to: i64, limit: u32) -> Result<Vec<Message>> {
    let mut found = tx.all(
        "SELECT id, session_id, number, run_id, binding_id, speaker, colleague_id, channel, outside_id, text, attached, language,
                tokens, standing, generation, marks, suggestions, said_at
         FROM messages WHERE tenant_id = $1 AND session_id = $2 AND number <= $3 ORDER BY number DESC LIMIT $4",
        params![session, up_to, i64::from(limit)],
        read,
    )?;
    found.reverse();
    Ok(found)
}

/// The number of a message of a session; none where it is another's, or nobody's.
pub(crate) fn find_number(tx: &mut Tx<'_>, session: SessionId, id: MessageId) -> Result<Option<i64>> {
    tx.optional(
        "SELECT number FROM messages WHERE tenant_id = $1 AND id = $2 AND session_id = $3",
        params![id, session],
        |row| row.get(0),
    )
}

/// Notes that whoever sent a message gets this reply in a response. Another client that reads it is not the one that asked.
pub fn note_answered(
    tx: &mut Tx<'_>,
    answered: &RunConversation,
    reply: MessageId,
    client: Option<&str>,
) -> Result<()> {
    let id = answered.message;
    let Some(message) = find(tx, id)? else { return Ok(()) };
    let mut screen: ClientScreen =
        serde_json::from_value(message.marks["screen"].clone()).unwrap_or_default();
    if screen.client.as_deref() != client || screen.answered == Some(reply) {
        return Ok(());
    }
    screen.answered = Some(reply);
    let mut marks = match message.marks {
        Value::Object(marks) => marks,
        _ => serde_json::Map::new(),
    };
    marks.insert("screen".to_owned(), serde_json::json!(screen));
    let by = seal_by_person(tx, answered.person)?;
    let marks = tx.seal_json(by, MARKS.cell(id), &marks)?;
    tx.execute("UPDATE messages SET marks = $3 WHERE tenant_id = $1 AND id = $2", params![id, marks])?;
    Ok(())
}

/// Runs of which no model beyond this machine is told: a pack read their message by itself.
pub fn collect_local_only_runs(said: &[Message]) -> HashSet<RunId> {
    said.iter().filter(|said| said.marks["stays"] == true).map(|said| said.run).collect()
}

/// What was said in a session behind a number in answer to what came before it, the oldest first.
pub fn list_replies_after(
    tx: &mut Tx<'_>,
    session: SessionId,
    number: i64,
    limit: u32,
) -> Result<Vec<Message>> {
    let mut found = tx.all(
        "SELECT id, session_id, number, run_id, binding_id, speaker, colleague_id, channel, outside_id, text, attached, language,
                tokens, standing, generation, marks, suggestions, said_at
         FROM messages WHERE tenant_id = $1 AND session_id = $2 AND number > $3 AND speaker = 'persona'
           AND run_id IN (SELECT m.run_id FROM messages m WHERE m.tenant_id = $1 AND m.session_id = $2 AND m.number < $3
                          ORDER BY m.number DESC LIMIT $4)
         ORDER BY number DESC LIMIT $4",
        params![session, number, i64::from(limit)],
        read,
    )?;
    found.reverse();
    Ok(found)
}

/// Those between two numbers, both included, the oldest first.
pub(crate) fn list_between(tx: &mut Tx<'_>, session: SessionId, from: i64, to: i64) -> Result<Vec<Message>> {
    tx.all(
        "SELECT id, session_id, number, run_id, binding_id, speaker, colleague_id, channel, outside_id, text, attached, language,
                tokens, standing, generation, marks, suggestions, said_at
         FROM messages WHERE tenant_id = $1 AND session_id = $2 AND number >= $3 AND number <= $4 ORDER BY number",
        params![session, from, to],
        read,
    )
}

/// Those of a session that stand behind one of it, the oldest first; none where that one is not in it.
pub fn list_after(tx: &mut Tx<'_>, session: SessionId, than: MessageId, limit: u32) -> Result<Vec<Message>> {
    tx.all(
        "SELECT id, session_id, number, run_id, binding_id, speaker, colleague_id, channel, outside_id, text, attached, language,
                tokens, standing, generation, marks, suggestions, said_at
         FROM messages WHERE tenant_id = $1 AND session_id = $2
           AND number > (SELECT m.number FROM messages m WHERE m.tenant_id = $1 AND m.session_id = $2 AND m.id = $3)
         ORDER BY number LIMIT $4",
        params![session, than, i64::from(limit)],
        read,
    )
}

/// Newest first, or the other way round. The cursor of a page is a number in the session, in place of a time.
pub fn list(tx: &mut Tx<'_>, session: SessionId, request: &PageRequest) -> Result<Page<Message>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, session_id, number, run_id, binding_id, speaker, colleague_id, channel, outside_id, text, attached, language,
                    tokens, standing, generation, marks, suggestions, said_at
             FROM messages WHERE tenant_id = $1 AND session_id = $2 AND number < $3 ORDER BY number DESC LIMIT $4"
        )),
        params![session, request.after.time.as_micros(), request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |message| Cursor {
        time: Timestamp::from_micros(message.number),
        id: message.id.as_uuid(),
    }))
}

/// What a run was asked and what it answered, in order.
pub fn list_by_run(tx: &mut Tx<'_>, run: RunId) -> Result<Vec<Message>> {
    tx.all(
        "SELECT id, session_id, number, run_id, binding_id, speaker, colleague_id, channel, outside_id, text, attached, language,
                tokens, standing, generation, marks, suggestions, said_at
         FROM messages WHERE tenant_id = $1 AND run_id = $2 ORDER BY number",
        params![run],
        read,
    )
}

pub fn add(tx: &mut Tx<'_>, by: SealedBy, message: &Message) -> Result<()> {
    let id = message.id;
    let outside_id = seal_optional(tx, by, OUTSIDE_ID.cell(id), message.outside_id.as_deref())?;
    let text = tx.seal(by, TEXT.cell(id), &message.text)?;
    let attached = tx.seal_json(by, ATTACHED.cell(id), &message.attached)?;
    let marks = tx.seal_json(by, MARKS.cell(id), &message.marks)?;
    let suggestions = tx.seal_json(by, SUGGESTIONS.cell(id), &message.suggestions)?;
    tx.send(
        "INSERT INTO messages (tenant_id, id, session_id, number, run_id, binding_id, speaker, colleague_id, channel, outside_id, text,
           attached, language, tokens, standing, generation, marks, suggestions, said_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
        params![
            id,
            message.session,
            message.number,
            message.run,
            message.binding,
            message.speaker.stored_as(),
            message.speaker.colleague(),
            message.channel.as_str(),
            outside_id,
            text,
            attached,
            message.language.as_ref().map(LanguageCode::as_str),
            message.tokens,
            message.standing.as_str(),
            message.generation,
            marks,
            suggestions,
            message.said_at
        ],
    )?;
    Ok(())
}

pub(crate) fn read(row: &Row<'_>) -> Result<Message> {
    let id: MessageId = row.get("id")?;
    Ok(Message {
        id,
        session: row.get("session_id")?,
        number: row.get("number")?,
        run: row.get("run_id")?,
        binding: row.get("binding_id")?,
        speaker: MessageSpeaker::read(row)?,
        channel: read_enum(row, "channel")?,
        outside_id: row.get_sealed("outside_id", OUTSIDE_ID.cell(id))?,
        text: row.get_sealed("text", TEXT.cell(id))?,
        attached: read_sealed_json(row, "attached", ATTACHED.cell(id))?,
        language: read_language(row, "language")?,
        tokens: read_count(row, "tokens")?,
        standing: read_enum(row, "standing")?,
        generation: read_count(row, "generation")?,
        marks: read_sealed_json(row, "marks", MARKS.cell(id))?,
        suggestions: read_sealed_json(row, "suggestions", SUGGESTIONS.cell(id))?,
        said_at: row.get("said_at")?,
    })
}
