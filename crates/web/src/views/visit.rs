//! A conversation as somebody at a page sees it.

use std::sync::Arc;

use munshi_agent::act_words;
use munshi_conversations::RunEvent;
use munshi_conversations::marks::ReplyMarks;
use munshi_conversations::messages::Message;
use munshi_lang::Locale;
use munshi_operations::approvals::ApprovalState;
use munshi_safety::approvals::{Approval, ApprovalStatus};
use munshi_server::error::ApiError;
use munshi_store::Tx;
use munshi_types::tier::LanguageCode;
use munshi_types::{ApprovalId, MessageId, RunId, Timestamp, ToolSpec};
use serde::Serialize;
use utoipa::ToSchema;

use super::attachment::AttachmentView;
use super::file::{AddressTerms, FileView, list_files};
use super::visit_event::list_attachments;

/// A place and the visitor's own session there.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Visit)]
pub(crate) struct VisitView {
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
    /// Whether the visitor can verify a phone here: POST /visit/{place}/link.
    pub(crate) link: bool,
    /// Whether the visitor has consented to anything that still holds: GET /visit/{place}/consents.
    pub(crate) consents: bool,
    /// The newest messages, oldest first.
    pub(crate) messages: Vec<VisitMessage>,
    /// Cursor of earlier messages: send it as `before`.
    pub(crate) before: Option<String>,
    /// Running turns: follow their streams.
    #[schema(value_type = Vec<uuid::Uuid>)]
    pub(crate) running: Vec<RunId>,
    /// Pending approvals.
    pub(crate) approvals: Vec<VisitApproval>,
}

/// A message, from either side.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VisitMessage {
    #[schema(value_type = uuid::Uuid)]
    id: MessageId,
    number: i64,
    #[schema(value_type = uuid::Uuid)]
    run: RunId,
    /// `person` or `persona`.
    speaker: &'static str,
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
            message_id: message.outside_id,
            text: message.text,
            language: message.language,
            suggestions: message.suggestions,
            said_at: message.said_at,
        })
    }
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
