//! Messages are opened, the keys of many fetched together, and looked at.

use std::collections::HashMap;

use munshi_index::cut_excerpt;
use munshi_store::{Cursor, Error, JsonText, Result, Row, SealedCell, Tx, params};
use munshi_types::{BindingId, Id, MessageId, PersonId, RunId, SessionId, Timestamp};
use uuid::Uuid;

use super::find::{MessageHit, MessageSearch};
use crate::columns::read_enum;
use crate::messages::{MessageSpeaker, TEXT};

/// A message as it stands in its row.
pub(super) struct StoredText {
    pub(super) id: MessageId,
    pub(super) person: PersonId,
    pub(super) binding: BindingId,
    pub(super) said_at: Timestamp,
    session: SessionId,
    run: RunId,
    number: i64,
    speaker: MessageSpeaker,
    channel: munshi_types::tier::Channel,
    /// Sealed.
    text: String,
}

/// Some candidates, opened.
pub(super) struct OpenedCandidates {
    /// Those that have what is looked for, in their order.
    pub(super) hits: Vec<MessageHit>,
    /// How many were opened: others are nobody's business here.
    pub(super) opened: usize,
    /// Of their texts as they are stored.
    pub(super) bytes: usize,
    /// The last that was opened.
    pub(super) last: Option<Cursor>,
}

pub(super) fn open_matching(
    tx: &mut Tx<'_>,
    wanted: &MessageSearch,
    candidates: &[Cursor],
) -> Result<OpenedCandidates> {
    let mut stored = list_stored(tx, &candidates.iter().map(|candidate| candidate.id).collect::<Vec<_>>())?;
    stored.retain(|message| wanted.admits((message.person, message.binding), message.run));
    let (opened, bytes) = (stored.len(), stored.iter().map(|message| message.text.len()).sum());
    let last = stored.iter().map(StoredText::position).min();
    let texts = open_texts(tx, &stored)?;
    let mut found: HashMap<Uuid, MessageHit> = HashMap::new();
    for (message, text) in stored.into_iter().zip(texts) {
        let Some(places) = wanted.query.find_in(&text) else { continue };
        let excerpt = places.first().map_or_else(String::new, |place| cut_excerpt(&text, place));
        found.insert(message.id.as_uuid(), message.into_hit(excerpt));
    }
    let hits = candidates.iter().filter_map(|candidate| found.remove(&candidate.id)).collect();
    Ok(OpenedCandidates { hits, opened, bytes, last })
}

/// Those of these that there still are.
pub(super) fn list_present(tx: &mut Tx<'_>, ids: &[Uuid]) -> Result<Vec<Uuid>> {
    tx.all(
        (
            "SELECT id FROM messages WHERE tenant_id = $1 AND id IN (SELECT unhex(value) FROM json_each($2))",
            "SELECT id FROM messages
             WHERE tenant_id = $1 AND id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![encode_ids(ids)?],
        |row| row.get(0),
    )
}

/// Those of these messages that there are. A row that can't be read is none: it would keep all others from being found.
pub(super) fn list_stored(tx: &mut Tx<'_>, ids: &[Uuid]) -> Result<Vec<StoredText>> {
    let rows: Vec<Option<StoredText>> = tx.all(
        (
            "SELECT m.id, m.session_id, m.number, m.run_id, m.speaker, m.colleague_id, m.channel, m.text, m.said_at, s.person_id,
                    s.binding_id
             FROM messages m JOIN sessions s ON s.tenant_id = $1 AND s.id = m.session_id
             WHERE m.tenant_id = $1 AND m.id IN (SELECT unhex(value) FROM json_each($2))",
            "SELECT m.id, m.session_id, m.number, m.run_id, m.speaker, m.colleague_id, m.channel, m.text, m.said_at, s.person_id,
                    s.binding_id
             FROM messages m JOIN sessions s ON s.tenant_id = $1 AND s.id = m.session_id
             WHERE m.tenant_id = $1 AND m.id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![encode_ids(ids)?],
        |row| match StoredText::read(row) {
            Err(error) if error.is_unreadable() => {
                tracing::warn!(%error, "a message can't be read; it is not searched");
                Ok(None)
            }
            read => read.map(Some),
        },
    )?;
    Ok(rows.into_iter().flatten().collect())
}

/// What they say. What can't be read, now or ever, says nothing.
pub(super) fn open_texts(tx: &Tx<'_>, stored: &[StoredText]) -> Result<Vec<String>> {
    let values: Vec<(SealedCell, &str)> =
        stored.iter().map(|message| (TEXT.cell(message.id), message.text.as_str())).collect();
    let readable = |opened: Result<String>| match opened {
        Err(error) if error.is_unreadable() => Ok(String::new()),
        opened => opened,
    };
    tx.open_all(&values)?.into_iter().map(readable).collect::<Result<_, Error>>()
}

pub(super) fn encode_ids(ids: &[Uuid]) -> Result<JsonText> {
    JsonText::of(&ids.iter().map(|id| id.simple().to_string()).collect::<Vec<_>>())
}

impl StoredText {
    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            person: row.get("person_id")?,
            binding: row.get("binding_id")?,
            said_at: row.get("said_at")?,
            session: row.get("session_id")?,
            run: row.get("run_id")?,
            number: row.get("number")?,
            speaker: MessageSpeaker::read(row)?,
            channel: read_enum(row, "channel")?,
            text: row.get("text")?,
        })
    }

    fn position(&self) -> Cursor {
        Cursor { time: self.said_at, id: self.id.as_uuid() }
    }

    fn into_hit(self, excerpt: String) -> MessageHit {
        MessageHit {
            message: self.id,
            session: self.session,
            person: self.person,
            binding: self.binding,
            run: self.run,
            number: self.number,
            speaker: self.speaker,
            channel: self.channel,
            said_at: self.said_at,
            excerpt,
        }
    }
}
