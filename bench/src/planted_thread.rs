//! Somebody's conversation with a binding, and messages in it, written as rows: there was no turn.

use munshi_conversations::messages::{self, Message, MessageSpeaker, MessageStatus};
use munshi_identity::persons::seal_by_person;
use munshi_store::{Tx, params};
use munshi_types::tier::Channel;
use munshi_types::{BindingId, Id, IdGenerator, PersonId, SessionId, Timestamp};
use serde_json::json;

#[derive(Clone, Copy)]
pub(crate) struct PlantedThread {
    pub(crate) person: PersonId,
    pub(crate) session: SessionId,
    binding: BindingId,
}

impl PlantedThread {
    pub(crate) fn add(
        tx: &mut Tx<'_>,
        person: PersonId,
        binding: BindingId,
        now: Timestamp,
    ) -> munshi_store::Result<Self> {
        let session = session_of(person);
        tx.send(
            "INSERT INTO sessions (tenant_id, id, binding_id, person_id, channel, messages, summarised, entities, tainted,
               began_at, last_at, aside_tainted)
             VALUES ($1, $2, $3, $4, 'whatsapp', 0, 0, '{}', 0, $5, $5, 0)",
            params![session, binding, person, now],
        )?;
        Ok(Self { person, session, binding })
    }

    /// What the person says as this number of the conversation.
    pub(crate) fn add_message(
        self,
        tx: &mut Tx<'_>,
        ids: &IdGenerator,
        (number, at): (usize, Timestamp),
        text: String,
    ) -> munshi_store::Result<()> {
        let by = seal_by_person(tx, self.person)?;
        let message = Message {
            id: ids.next(),
            session: self.session,
            number: i64::try_from(number).unwrap_or_default(),
            run: ids.next(),
            binding: self.binding,
            speaker: MessageSpeaker::Person,
            channel: Channel::Whatsapp,
            outside_id: None,
            text,
            attached: Vec::new(),
            language: None,
            tokens: 10,
            standing: MessageStatus::Whole,
            generation: 0,
            marks: json!({}),
            suggestions: Vec::new(),
            said_at: at,
        };
        messages::add(tx, by, &message)
    }
}

/// A planted conversation has the id of its person, so that it is found without a search.
pub(crate) fn session_of(person: PersonId) -> SessionId {
    SessionId::from_uuid(person.as_uuid())
}
