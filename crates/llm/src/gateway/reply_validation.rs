//! Whether an answer has the form that was asked for, whatever its provider promised.

use munshi_schema::{Schema, SchemaViolation};
use serde_json::Value;

use crate::chat::{ChatMessage, ChatReply, ChatRequest, ModelRole, ReplyFormat, StopReason};
use crate::error::ModelError;

/// As much of a wrong answer as is shown to the model again.
const LONGEST_QUOTE: usize = 2_000;
/// As many complaints as are told at once.
const MOST_COMPLAINTS: usize = 5;

/// Checks answers to one request; the schema is read once.
pub(crate) struct ReplyValidator(Option<Schema>);

impl ReplyValidator {
    /// A schema that is no schema is the caller's mistake, found before anything is paid for.
    pub(crate) fn for_request(request: &ChatRequest) -> Result<Self, ModelError> {
        let ReplyFormat::Json { name, schema } = &request.output else { return Ok(Self(None)) };
        let schema = Schema::compile(schema).map_err(|error| ModelError::Rejected {
            status: 400,
            message: format!("invalid schema `{name}`: {error}"),
        })?;
        Ok(Self(Some(schema)))
    }

    /// Answers of a form are held back until they are known to have it.
    pub(crate) fn has_schema(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn check(&self, reply: &ChatReply) -> Result<(), ModelError> {
        let Some(schema) = &self.0 else { return Ok(()) };
        if reply.stop == StopReason::Refused {
            return Ok(());
        }
        let value: Value = serde_json::from_str(reply.text().trim())
            .map_err(|error| ModelError::WrongForm(format!("no JSON: {error}")))?;
        let complaints: Vec<String> =
            schema.find_violations(&value, MOST_COMPLAINTS).iter().map(render_violation).collect();
        if complaints.is_empty() { Ok(()) } else { Err(ModelError::WrongForm(complaints.join("; "))) }
    }
}

/// Where it is and what is wrong, without the value, which may be anything.
fn render_violation(misfit: &SchemaViolation) -> String {
    let place = if misfit.place.is_empty() { "the answer" } else { &misfit.place };
    format!("{place} {}", misfit.what)
}

/// The request with what came of it and what was wrong, for the one time it is asked again.
pub(crate) fn build_retry_request(request: &ChatRequest, said: &str, fault: &ModelError) -> ChatRequest {
    let mut request = request.clone();
    if !said.trim().is_empty() {
        request.messages.push(ChatMessage::assistant(cut(said)));
    }
    let correction = match fault {
        ModelError::MalformedArguments { tool, text } => format!(
            "Your call of `{tool}` could not be read: its arguments are not one JSON object. They were:\n{}\n\
             Make the call again with correct JSON and say nothing else.",
            cut(text)
        ),
        ModelError::UnknownCodes { tool, codes } => format!(
            "Your call of `{tool}` was not made: {codes} stands for nothing here. Use only codes that were written to \
             you, exactly as they are; where you have none, ask the person."
        ),
        _ => format!(
            "That answer does not have the form that was asked for ({fault}). Give the whole answer again as JSON of \
             the schema, and nothing else."
        ),
    };
    match request.messages.last_mut() {
        Some(last) if last.role == ModelRole::User => {
            last.parts.push(crate::chat::ModelMessagePart::Text { text: correction });
        }
        _ => request.messages.push(ChatMessage::user(correction)),
    }
    request
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST_QUOTE).collect()
}
