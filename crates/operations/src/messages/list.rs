//! What was said in one conversation, newest first.

use munshi_blobs::references::parse_reference;
use munshi_conversations::messages::{self, Message};
use munshi_conversations::outbox::{self, OutboxHold, OutboxState, OutboxView};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::Tx;
use munshi_types::tier::LanguageCode;
use munshi_types::{BlobId, MessageId, PersonId, RunId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::list_input::list_input;
use crate::{HouseCall, HouseServices, sessions};

/// A message of a session, from either side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Message)]
pub struct MessageView {
    #[schema(value_type = uuid::Uuid)]
    pub id: MessageId,
    /// Position in the session, from 1.
    pub number: i64,
    #[schema(value_type = uuid::Uuid)]
    pub run: RunId,
    /// `person`, `persona`, or `colleague` for a person of the business.
    #[schema(example = "person")]
    pub speaker: String,
    /// The person of the business who wrote it, if one did.
    #[serde(default)]
    #[schema(value_type = Option<uuid::Uuid>)]
    pub colleague: Option<PersonId>,
    #[schema(example = "api")]
    pub channel: String,
    /// The sender's own id for it.
    pub message_id: Option<String>,
    pub text: String,
    /// Files that the person sent along: `GET /v1/uploads/{id}` has their addresses.
    pub attachments: Vec<AttachedFileView>,
    /// Files that the person sent along, and that the channel did not give out.
    #[serde(default)]
    pub lost_files: Vec<LostFileView>,
    #[schema(value_type = Option<String>, example = "hi")]
    pub language: Option<LanguageCode>,
    /// `whole`; `degraded` for a fallback without an answer; `refused` for a message that was not kept.
    #[schema(example = "whole")]
    pub standing: String,
    pub suggestions: Vec<String>,
    /// How far what a colleague wrote has come on the channel where the person is met; none for other messages, and where they come and
    /// look.
    #[serde(default)]
    pub delivery: Option<MessageDeliveryView>,
    #[schema(value_type = String, format = DateTime)]
    pub said_at: Timestamp,
}

/// How far a message has come on its way out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = MessageDelivery)]
pub struct MessageDeliveryView {
    #[schema(value_type = crate::schemas::OutboxStateSchema)]
    pub state: OutboxState,
    /// When it may leave.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub not_before: Option<Timestamp>,
    /// Why not sooner: `time` that was asked for, a `limit` of the channel, or quiet `hours` of the recipient.
    #[schema(value_type = Option<String>, example = "hours")]
    pub waits_for: Option<OutboxHold>,
    /// Why it has not left, or what is not known.
    pub detail: Option<String>,
}

impl MessageView {
    /// With how far it has come, where a colleague wrote it.
    pub(crate) fn load(tx: &mut Tx<'_>, message: Message) -> munshi_store::Result<Self> {
        let row = match message.speaker.colleague() {
            Some(_) => outbox::find(tx, message.id)?,
            None => None,
        };
        Ok(Self::with_delivery(message, row))
    }

    /// The same for whoever has read that by themselves.
    pub fn with_delivery(message: Message, row: Option<OutboxView>) -> Self {
        let delivery = row.map(|row| MessageDeliveryView {
            state: row.state,
            not_before: row.not_before,
            waits_for: row.waits_for,
            detail: row.detail,
        });
        Self { delivery, ..message.into() }
    }
}

/// A file that a message carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = AttachedFile)]
pub struct AttachedFileView {
    #[schema(value_type = uuid::Uuid)]
    pub id: BlobId,
    /// Found by its bytes.
    #[schema(example = "image/jpeg")]
    pub media_type: String,
    #[schema(example = "bill.jpg")]
    pub name: Option<String>,
}

/// A file that was sent and could not be had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = LostFile)]
pub struct LostFileView {
    /// What the channel says it was.
    #[schema(example = "image/jpeg")]
    pub media_type: String,
    #[schema(example = "bill.jpg")]
    pub name: Option<String>,
    /// Why it could not be had.
    pub why: String,
}

impl From<Message> for MessageView {
    fn from(message: Message) -> Self {
        let lost = message.attached.iter().filter_map(|attached| {
            let why = attached.find_loss()?.to_owned();
            Some(LostFileView { media_type: attached.media_type.clone(), name: attached.name.clone(), why })
        });
        let lost_files = lost.collect();
        let files = message.attached.into_iter().filter_map(|attached| {
            let id = parse_reference(&attached.reference)?;
            Some(AttachedFileView { id, media_type: attached.media_type, name: attached.name })
        });
        Self {
            id: message.id,
            number: message.number,
            run: message.run,
            speaker: message.speaker.as_str().to_owned(),
            colleague: message.speaker.colleague(),
            channel: message.channel.as_str().to_owned(),
            message_id: message.outside_id,
            text: message.text,
            attachments: files.collect(),
            lost_files,
            language: message.language,
            standing: message.standing.as_str().to_owned(),
            suggestions: message.suggestions,
            delivery: None,
            said_at: message.said_at,
        }
    }
}

list_input! {
    #[derive(Copy)]
    pub struct ListMessagesInput: ListInput {
        /// The session.
        #[schema(value_type = uuid::Uuid)]
        pub id: SessionId,
    }
}

pub struct ListMessages;

impl Operation<HouseServices> for ListMessages {
    type Input = ListMessagesInput;
    type View = ListView<MessageView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "messages",
        noun: "message",
        command: "messages",
        verb: "list",
        about: "List the messages of a session, newest first. Archived messages are not included. The audit notes who \
                opened somebody else's conversation.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Read),
        effect: OperationEffect::AuditedRead(&["conversation.opened"]),
        method: RouteMethod::Get,
        path: "/v1/sessions/{id}/messages",
    };

    async fn run(
        call: &HouseCall,
        input: ListMessagesInput,
    ) -> Result<ListView<MessageView>, OperationError> {
        let caller = call.caller.clone();
        let request = input.page().page_request()?;
        let page = call.read_audited(move |tx| {
            let session = sessions::find_opened(tx, &caller, input.id)?;
            let page = messages::list(tx, session.id, &request)?;
            let next = page.next_cursor().map(|next| next.to_string());
            let mut items = Vec::with_capacity(page.items.len());
            for message in page.items {
                items.push(MessageView::load(tx, message)?);
            }
            Ok(ListView { items, next })
        });
        page.await
    }
}

#[cfg(test)]
mod tests {
    use munshi_conversations::messages::{MessageSpeaker, MessageStatus};
    use munshi_types::tier::Channel;
    use munshi_types::{AttachedFile, IdGenerator};

    use super::*;

    #[test]
    fn a_file_that_could_not_be_had_is_shown() {
        let ids = IdGenerator::system();
        let name = Some("bill.pdf".to_owned());
        let message = Message {
            id: ids.next(),
            session: ids.next(),
            number: 1,
            run: ids.next(),
            binding: ids.next(),
            speaker: MessageSpeaker::Person,
            channel: Channel::Whatsapp,
            outside_id: None,
            text: "see the bill".to_owned(),
            attached: vec![AttachedFile::lost("application/pdf".to_owned(), name.clone(), "it is gone: 404")],
            language: None,
            tokens: 0,
            standing: MessageStatus::Whole,
            generation: 0,
            marks: serde_json::Value::Null,
            suggestions: Vec::new(),
            said_at: Timestamp::EPOCH,
        };
        let view = MessageView::from(message);
        let why = "it is gone: 404".to_owned();
        assert_eq!(view.lost_files, [LostFileView { media_type: "application/pdf".to_owned(), name, why }]);
        assert!(view.attachments.is_empty());
    }
}
