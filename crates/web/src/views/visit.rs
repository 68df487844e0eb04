//! A conversation as somebody at a page sees it.

use std::sync::Arc;

use munshi_agent::act_words;
use munshi_conversations::RunEvent;
use munshi_conversations::marks::ReplyMarks;
use munshi_conversations::messages::Message;
use munshi_identity::persons;
use munshi_lang::Locale;
use munshi_operations::approvals::ApprovalState;
use munshi_safety::approvals::{Approval, ApprovalStatus};
use munshi_server::error::ApiError;
use munshi_store::Tx;
use munshi_types::tier::LanguageCode;
use munshi_types::{ApprovalId, MessageId, PersonId, RunId, SessionId, Timestamp, ToolSpec};
use serde::Serialize;
use utoipa::ToSchema;

use super::attachment::AttachmentView;
use super::file::{AddressTerms, FileView, list_files};
use super::visit_event::list_attachments;

/// A place and the visitor's own session there.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Visit)]
pub(crate) struct VisitView {
    /// The visitor's session; none before the first message. Another one means that the thread became part of it.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub(crate) session: Option<SessionId>,
    /// The identifier of the place.
    #[schema(example = "rangoli")]
    pub(crate) place: String,
    /// The name of who answers.
    #[schema(example = "Kabir")]
    pub(crate) name: String,
    /// The locale for page texts: `GET /words/{voice}`.
    #[schema(example = "hi-latn")]
    pub(crate) voice: String,
    /// Whether this visitor may send messages.
    pub(crate) open: bool,
    /// The largest file that may be sent along, in bytes.
    pub(crate) largest_file: u64,
    /// Whether the visitor can verify a phone or an e-mail here: POST /visit/{place}/link.
    pub(crate) link: bool,
    /// Which of them: `phone`, `email`.
    #[schema(value_type = Vec<String>)]
    pub(crate) link_with: Vec<&'static str>,
    /// Whether the visitor has consented to anything that still holds: GET /visit/{place}/consents.
    pub(crate) consents: bool,
    /// The newest messages, oldest first.
    pub(crate) messages: Vec<VisitMessage>,
    /// Cursor of earlier messages: send it as `before`.
    pub(crate) before: Option<String>,
    /// Where the newest message stands: send it as `Last-Event-ID` to GET /visit/{place}/stream. None before the first message.
    #[schema(example = "17")]
    pub(crate) cursor: Option<String>,
    /// How far the visitor has read, on any device: the number of a message.
    pub(crate) seen: i64,
    /// Who of the other side types just now.
    pub(crate) typing: Vec<TypingPersonView>,
    /// Running turns: follow their streams.
    #[schema(value_type = Vec<uuid::Uuid>)]
    pub(crate) running: Vec<RunId>,
    /// Pending approvals.
    pub(crate) approvals: Vec<VisitApproval>,
    /// The name of the person of the business who talks to the visitor now, in place of the agent; the place's own where they have none.
    #[schema(example = "Kamal")]
    pub(crate) held_by: Option<String>,
    /// Whether anybody sees that the visitor types: POST /visit/{place}/typing.
    pub(crate) shows_typing: bool,
    /// Where the visitor stands in the line for a person of the business; none where they are in none.
    pub(crate) line: Option<VisitLineView>,
}

/// A visitor's place in the line for a person.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = VisitLine)]
pub(crate) struct VisitLineView {
    /// From 1.
    pub(crate) place: i64,
    /// About how long it takes, as it took others lately; none where nobody was come to lately.
    pub(crate) minutes: Option<u64>,
}

/// Somebody who types.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = TypingPerson)]
pub(crate) struct TypingPersonView {
    #[schema(example = "Asha")]
    pub(crate) name: String,
    /// Until when that counts, unless they go on.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) until: Timestamp,
}

/// A message, from either side.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VisitMessage {
    #[schema(value_type = uuid::Uuid)]
    id: MessageId,
    pub(crate) number: i64,
    #[schema(value_type = uuid::Uuid)]
    run: RunId,
    /// `person`, `persona`, or `colleague` for a person of the business.
    speaker: &'static str,
    /// The name of that person.
    #[schema(example = "Kamal")]
    name: Option<String>,
    /// The visitor's own id for it.
    message_id: Option<String>,
    text: String,
    #[schema(value_type = Option<String>, example = "hi")]
    language: Option<LanguageCode>,
    suggestions: Vec<String>,
    attachments: Vec<AttachmentView>,
    /// What the visitor sent along.
    files: Vec<FileView>,
    #[schema(value_type = String, format = DateTime)]
    said_at: Timestamp,
}

impl VisitMessage {
    pub(crate) fn build(tx: &mut Tx<'_>, message: Message, terms: AddressTerms) -> Result<Self, ApiError> {
        let files = list_files(tx, &message, terms)?;
        let name = match message.speaker.colleague() {
            Some(colleague) => find_name(tx, colleague)?,
            None => None,
        };
        let marks: ReplyMarks = serde_json::from_value(message.marks).unwrap_or_default();
        let results = marks.events.iter().filter_map(|mark| match &mark.event {
            RunEvent::ToolResult { result, .. } => Some(result),
            _ => None,
        });
        Ok(Self {
            files,
            attachments: results.flat_map(list_attachments).collect(),
            id: message.id,
            number: message.number,
            run: message.run,
            speaker: message.speaker.as_str(),
            name,
            message_id: message.outside_id,
            text: message.text,
            language: message.language,
            suggestions: message.suggestions,
            said_at: message.said_at,
        })
    }
}

/// What somebody of the business is called; none for one who was forgotten.
pub(crate) fn find_name(tx: &mut Tx<'_>, colleague: PersonId) -> Result<Option<String>, ApiError> {
    let found = persons::find(tx, colleague)?.map(|person| person.name);
    Ok(found.filter(|name| !name.trim().is_empty()))
}

/// An approval for the visitor.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VisitApproval {
    #[schema(value_type = uuid::Uuid)]
    pub(crate) id: ApprovalId,
    /// What will happen, in plain words.
    pub(crate) words: String,
    /// Identifies what is answered: send it back with the answer.
    pub(crate) digest: String,
    pub(crate) state: ApprovalState,
    /// Whether this visitor may answer it.
    pub(crate) yours: bool,
}

impl VisitApproval {
    /// In a voice as far as the tool has words in it; what somebody agrees to, to the letter.
    pub(crate) fn new(approval: &Approval, yours: bool, (tools, voice): (&[Arc<ToolSpec>], Locale)) -> Self {
        let spec = tools.iter().find(|spec| spec.name.as_str() == approval.tool);
        let told = spec.and_then(|spec| act_words::render(spec, &approval.arguments, voice));
        Self {
            id: approval.id,
            words: approval.render_question(told),
            digest: approval.digest.to_string(),
            state: approval.state.into(),
            yours: yours && approval.state == ApprovalStatus::Pending,
        }
    }
}

/// The result of an answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VisitAnswered)]
pub(crate) struct VisitAnswerResult {
    #[serde(flatten)]
    pub(crate) approval: VisitApproval,
    /// The resumed run: follow its stream.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub(crate) run: Option<RunId>,
}
