//! A message on its way out, as it is shown.

use munshi_conversations::outbox::{OutboxHold, OutboxState, OutboxView};
use munshi_types::tier::LanguageCode;
use munshi_types::{
    BindingId, ConsentId, MessageId, OutboundAttachment, OutboundMessage, PersonId, SessionId, Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A message on its way out, without its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = OutgoingMessage)]
pub struct OutgoingMessageView {
    #[schema(value_type = uuid::Uuid)]
    pub id: MessageId,
    #[schema(value_type = crate::schemas::OutboxStateSchema)]
    pub state: OutboxState,
    /// Why it is sent: `reply`, `reminder`, `alert`, `code`, `colleague` or `notice`.
    #[schema(example = "reply")]
    pub purpose: String,
    #[schema(example = "email")]
    pub channel: String,
    /// The channel account it was, or is being, sent by.
    pub account: Option<String>,
    /// None for what leaves outside of a conversation.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub session: Option<SessionId>,
    /// Whom it is sent to, if they are known.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub person: Option<PersonId>,
    #[schema(value_type = Option<uuid::Uuid>)]
    pub binding: Option<BindingId>,
    pub attempts: u32,
    /// When it may leave.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub not_before: Option<Timestamp>,
    /// Why not sooner: `time` that was asked for, a `limit` of the channel, or quiet `hours` of the recipient.
    #[schema(value_type = Option<String>, example = "hours")]
    pub waits_for: Option<OutboxHold>,
    /// Why it has not left, or what is not known.
    pub detail: Option<String>,
    /// What the channel calls it.
    pub channel_id: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub made_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub sent_at: Option<Timestamp>,
    /// When the channel said that it had arrived.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub delivered_at: Option<Timestamp>,
    /// When the channel said that it was read.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub read_at: Option<Timestamp>,
    /// The consent to be written to that it went on, where nobody had asked for it.
    #[serde(default)]
    #[schema(value_type = Option<uuid::Uuid>)]
    pub consent: Option<ConsentId>,
}

impl From<OutboxView> for OutgoingMessageView {
    fn from(row: OutboxView) -> Self {
        Self {
            id: row.message,
            state: row.state,
            purpose: row.purpose.as_str().to_owned(),
            channel: row.channel.as_str().to_owned(),
            account: row.account,
            session: row.session,
            person: row.person,
            binding: row.binding,
            attempts: row.attempts,
            not_before: row.not_before,
            waits_for: row.waits_for,
            detail: row.detail,
            channel_id: row.outside_id,
            made_at: row.made_at,
            sent_at: row.sent_at,
            delivered_at: row.delivered_at,
            read_at: row.read_at,
            consent: row.consent,
        }
    }
}

/// The same with its words and its address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = OutgoingMessageContent)]
pub struct OutgoingMessageContentView {
    #[serde(flatten)]
    pub message: OutgoingMessageView,
    /// The recipient's address on the channel.
    #[schema(example = "meera@example.com")]
    pub to: String,
    /// Our own address, where it is to be sent from a certain one.
    pub from: Option<String>,
    pub subject: Option<String>,
    pub text: String,
    pub suggestions: Vec<String>,
    /// What is sent beside the words, by name or title.
    pub attachments: Vec<String>,
    #[schema(value_type = Option<String>, example = "hi")]
    pub language: Option<LanguageCode>,
}

impl OutgoingMessageContentView {
    pub(super) fn new(row: OutboxView, body: OutboundMessage) -> Self {
        Self {
            message: row.into(),
            to: body.to.address,
            from: body.from.map(|from| from.address),
            subject: body.subject,
            text: body.text,
            suggestions: body.suggestions,
            attachments: body.attachments.into_iter().map(describe_attachment).collect(),
            language: body.language,
        }
    }
}

fn describe_attachment(attachment: OutboundAttachment) -> String {
    match attachment {
        OutboundAttachment::File { name, .. } => name,
        OutboundAttachment::Link { url, title } if title.is_empty() => url,
        OutboundAttachment::Link { title, .. } => title,
        OutboundAttachment::Qr { text, title } if title.is_empty() => text,
        OutboundAttachment::Qr { title, .. } => title,
    }
}
