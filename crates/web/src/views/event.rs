//! What a stream tells, event by event.

use munshi_agent::RunEvent;
use munshi_types::{ApprovalId, MessageId, PersonId, RunId, SessionId};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::outcome::{DetailLevel, TurnUsageView};

/// The `data` of a server-sent event, whose name is `type`.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum StreamEvent {
    /// The first one: the message is stored, and these are its ids.
    Received {
        #[schema(value_type = uuid::Uuid)]
        run: RunId,
        #[schema(value_type = uuid::Uuid)]
        session: SessionId,
        /// What was said.
        #[schema(value_type = uuid::Uuid)]
        message: MessageId,
        /// Who said it; send it as `person` to go on with the conversation.
        #[schema(value_type = uuid::Uuid)]
        person: PersonId,
        fate: IngestStatusView,
        /// The turn that is answered first, where this one is `queued`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<uuid::Uuid>)]
        behind: Option<RunId>,
    },
    /// Something is done that takes a moment.
    Thinking {
        /// In a word: `preparing`, `waiting`; `another_stream` where the same person has one open already.
        what: String,
        /// With `another_stream`: the run that is streamed there.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<uuid::Uuid>)]
        run: Option<RunId>,
    },
    /// More of the reply.
    Token { text: String },
    /// The agent asks for a tool.
    ToolCall { call: String, tool: String, arguments: Value },
    /// What came of it.
    ToolResult { call: String, tool: String, ok: bool, result: Value },
    /// A person is asked first: POST /v1/approvals/{id}/grant or …/refuse.
    Approval {
        #[schema(value_type = uuid::Uuid)]
        approval: ApprovalId,
        words: String,
    },
    /// What one could say next.
    Suggestions { suggestions: Vec<String> },
    /// All of the reply so far is void; it begins again.
    Reset { why: String },
    /// The last one: the reply is whole and stored.
    Done {
        #[schema(value_type = uuid::Uuid)]
        run: RunId,
        /// The reply.
        #[schema(value_type = uuid::Uuid)]
        message: MessageId,
        /// Under what the turn is found in records of what was decided.
        #[schema(value_type = uuid::Uuid)]
        decision_id: RunId,
        usage: TurnUsageView,
        /// `done`, `halted` or `waiting_approval`.
        state: String,
        /// An excuse and no answer; it is not billed.
        degraded: bool,
    },
    /// The last one: there is no reply, or not on this stream.
    Error { code: String, message: String, retryable: bool },
}

/// A server-sent event, as its lines are read.
#[derive(ToSchema)]
#[allow(dead_code, reason = "the document tells it; the lines are written by the stream")]
pub(crate) struct ServerEvent {
    /// The `type` of its data.
    #[schema(example = "token")]
    event: String,
    /// Send it as `Last-Event-ID` to go on behind it; left out where there is nothing to go on from.
    #[schema(example = "01a1dd41-32c0-704f-b28c-400adb3d8fd2:1.7.42")]
    id: Option<String>,
    /// JSON: a `StreamEvent`.
    #[schema(example = r#"{"type":"token","text":"We open"}"#)]
    data: String,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Fate)]
pub(crate) enum IngestStatusView {
    Begun,
    /// Another turn of the conversation is answered first.
    Queued,
    /// It was taken before; the ids are those of then.
    SeenBefore,
}

impl From<&munshi_agent::IngestStatus> for IngestStatusView {
    fn from(fate: &munshi_agent::IngestStatus) -> Self {
        match fate {
            munshi_agent::IngestStatus::Begun => Self::Begun,
            munshi_agent::IngestStatus::Queued { .. } => Self::Queued,
            munshi_agent::IngestStatus::SeenBefore => Self::SeenBefore,
        }
    }
}

impl StreamEvent {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Received { .. } => "received",
            Self::Thinking { .. } => "thinking",
            Self::Token { .. } => "token",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::Approval { .. } => "approval",
            Self::Suggestions { .. } => "suggestions",
            Self::Reset { .. } => "reset",
            Self::Done { .. } => "done",
            Self::Error { .. } => "error",
        }
    }
}

impl StreamEvent {
    /// As somebody may hear it: a tool's name and whether it went well are no secret, what went in and out may be.
    pub(crate) fn told_to(self, insides: DetailLevel) -> Self {
        match (self, insides) {
            (event, DetailLevel::Shown) => event,
            (Self::ToolCall { call, tool, .. }, _) => Self::ToolCall { call, tool, arguments: Value::Null },
            (Self::ToolResult { call, tool, ok, .. }, _) => {
                Self::ToolResult { call, tool, ok, result: Value::Null }
            }
            (Self::Done { run, message, decision_id, usage, state, degraded }, _) => {
                let usage = TurnUsageView { cost_micros: None, ..usage };
                Self::Done { run, message, decision_id, usage, state, degraded }
            }
            (event, _) => event,
        }
    }
}

impl From<RunEvent> for StreamEvent {
    fn from(event: RunEvent) -> Self {
        match event {
            RunEvent::Thinking { what } => Self::Thinking { what, run: None },
            RunEvent::Token { text } => Self::Token { text },
            RunEvent::ToolCall { call, tool, arguments } => Self::ToolCall { call, tool, arguments },
            RunEvent::ToolResult { call, tool, ok, result } => Self::ToolResult { call, tool, ok, result },
            RunEvent::Approval { approval, words } => Self::Approval { approval, words },
            RunEvent::Suggestions { suggestions } => Self::Suggestions { suggestions },
            RunEvent::Reset { why } => Self::Reset { why },
            RunEvent::Done { run, message, decision_id, usage, state, degraded } => {
                Self::Done { run, message, decision_id, usage: usage.into(), state, degraded }
            }
            RunEvent::Error { code, message, retryable } => Self::Error { code, message, retryable },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_named_as_its_type() {
        let event =
            StreamEvent::ToolCall { call: "1".to_owned(), tool: "t".to_owned(), arguments: Value::Null };
        assert_eq!(serde_json::to_value(&event).unwrap()["type"], event.name());
        let token = StreamEvent::from(RunEvent::Token { text: "a".to_owned() });
        assert_eq!(
            serde_json::to_value(&token).unwrap(),
            serde_json::json!({ "type": "token", "text": "a" })
        );
    }
}
