//! What a stream tells, event by event.

use munshi_conversations::{BegunRun, RunEvent, WorkEvent};
use munshi_operations::runs::{RunHaltView, RunStateView};
use munshi_types::{ActId, ApprovalId, MessageId, PersonId, RunId, SessionId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::outcome::{DetailLevel, TurnUsageView};

/// That an act can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = UndoOffer)]
pub(crate) struct UndoOfferView {
    #[schema(value_type = uuid::Uuid)]
    pub act: ActId,
    #[schema(value_type = String, format = DateTime)]
    pub until: Timestamp,
}

/// The `data` of a server-sent event; `type` is its name.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum StreamEvent {
    /// First event: the message is stored with these ids.
    Received {
        #[schema(value_type = uuid::Uuid)]
        run: RunId,
        #[schema(value_type = uuid::Uuid)]
        session: SessionId,
        /// The stored message.
        #[schema(value_type = uuid::Uuid)]
        message: MessageId,
        /// The person who spoke; send it as `person` to continue the session.
        #[schema(value_type = uuid::Uuid)]
        person: PersonId,
        fate: IngestStatusView,
        /// The run that is answered first, if this one is `queued`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<uuid::Uuid>)]
        behind: Option<RunId>,
    },
    /// Something takes a moment.
    Thinking {
        /// The activity: `preparing`, `waiting`, or `another_stream` if the same person already has a stream open.
        what: String,
        /// With `another_stream`: the run on that stream.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<uuid::Uuid>)]
        run: Option<RunId>,
    },
    /// The next part of the reply.
    Token { text: String },
    /// The agent calls a tool.
    ToolCall { call: String, tool: String, arguments: Value },
    /// The result of a tool call.
    ToolResult {
        call: String,
        tool: String,
        ok: bool,
        result: Value,
        /// How it can be taken back, where it can: POST /v1/acts/{id}/undo.
        #[serde(skip_serializing_if = "Option::is_none")]
        undo: Option<UndoOfferView>,
    },
    /// An act needs approval: POST /v1/approvals/{id}/grant or …/refuse.
    Approval {
        #[schema(value_type = uuid::Uuid)]
        approval: ApprovalId,
        words: String,
    },
    /// Suggested replies.
    Suggestions { suggestions: Vec<String> },
    /// Discard the reply so far; it starts again.
    Reset { why: String },
    /// Last event: the reply is complete and stored.
    Done {
        #[schema(value_type = uuid::Uuid)]
        run: RunId,
        /// The reply; none where a person of the business has the conversation in hand and the agent says nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<uuid::Uuid>)]
        message: Option<MessageId>,
        /// The id of the turn in the decision records.
        #[schema(value_type = uuid::Uuid)]
        decision_id: RunId,
        usage: TurnUsageView,
        /// `done`, `halted` or `waiting_approval`.
        state: String,
        /// The reply is a fallback without an answer; it is not billed.
        degraded: bool,
        /// What the turn went on without, in a few words each: it took too long, or too many waited.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<String>,
    },
    /// Last event: there is no reply, or it is not on this stream.
    Error { code: String, message: String, retryable: bool },
    /// Last event: the message joined the turn before it, and one reply answers both. Follow that run.
    Joined {
        #[schema(value_type = uuid::Uuid)]
        into: RunId,
    },
    /// A background run waits, and nobody works on it meanwhile.
    Waiting {
        /// `time`, or the code of what is in the way of an approved act, such as `waiting_limit`.
        reason: String,
        #[schema(value_type = Option<String>, format = DateTime)]
        until: Option<Timestamp>,
    },
    /// A background run has started other runs, and waits for all of them.
    RunsBegun { runs: Vec<BegunRunView> },
    /// One of those runs has ended.
    ChildEnded {
        #[schema(value_type = uuid::Uuid)]
        run: RunId,
        ok: bool,
    },
    /// An optional step was left out, since too many runs wait.
    Skipped { step: String },
    /// Last event of a background run.
    Ended {
        #[schema(value_type = uuid::Uuid)]
        run: RunId,
        ok: bool,
        /// `done` or `halted`.
        state: RunStateView,
        halt: Option<RunHaltView>,
        /// The result.
        result: Value,
    },
}

/// A run that another run has started.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = BegunRun)]
pub(crate) struct BegunRunView {
    #[schema(value_type = uuid::Uuid)]
    pub(crate) run: RunId,
    /// The pack's kind of work.
    #[schema(example = "shop.restock")]
    pub(crate) kind: String,
}

impl From<BegunRun> for BegunRunView {
    fn from(begun: BegunRun) -> Self {
        Self { run: begun.run, kind: begun.kind }
    }
}

/// A server-sent event, field by field.
#[derive(ToSchema)]
#[allow(dead_code, reason = "the document tells it; the lines are written by the stream")]
pub(crate) struct ServerEvent {
    /// The `type` of the data.
    #[schema(example = "token")]
    event: String,
    /// Send it as `Last-Event-ID` to resume after it; absent if there is nothing to resume.
    #[schema(example = "01a1dd41-32c0-704f-b28c-400adb3d8fd2:1.7.42")]
    id: Option<String>,
    /// A `StreamEvent` as JSON.
    #[schema(example = r#"{"type":"token","text":"We open"}"#)]
    data: String,
}

/// The status of a message.
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

impl From<&munshi_conversations::IngestStatus> for IngestStatusView {
    fn from(fate: &munshi_conversations::IngestStatus) -> Self {
        match fate {
            munshi_conversations::IngestStatus::Begun => Self::Begun,
            munshi_conversations::IngestStatus::Queued { .. } => Self::Queued,
            munshi_conversations::IngestStatus::SeenBefore => Self::SeenBefore,
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
            Self::Joined { .. } => "joined",
            Self::Waiting { .. } => "waiting",
            Self::RunsBegun { .. } => "runs_begun",
            Self::ChildEnded { .. } => "child_ended",
            Self::Skipped { .. } => "skipped",
            Self::Ended { .. } => "ended",
        }
    }
}

impl StreamEvent {
    /// As somebody may hear it: a tool's name and whether it went well are no secret, what went in and out may be.
    pub(crate) fn redact_for(self, insides: DetailLevel) -> Self {
        match (self, insides) {
            (event, DetailLevel::Shown) => event,
            (Self::ToolCall { call, tool, .. }, _) => Self::ToolCall { call, tool, arguments: Value::Null },
            (Self::ToolResult { call, tool, ok, .. }, _) => {
                Self::ToolResult { call, tool, ok, result: Value::Null, undo: None }
            }
            (Self::Done { run, message, decision_id, usage, state, degraded, skipped }, _) => {
                let usage = TurnUsageView { cost_micros: None, ..usage };
                Self::Done { run, message, decision_id, usage, state, degraded, skipped }
            }
            (Self::Ended { run, ok, state, halt, .. }, _) => {
                Self::Ended { run, ok, state, halt, result: Value::Null }
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
            RunEvent::ToolResult { call, tool, ok, result, undo } => {
                let undo = undo.map(|offer| UndoOfferView { act: offer.act, until: offer.until });
                Self::ToolResult { call, tool, ok, result, undo }
            }
            RunEvent::Approval { approval, words } => Self::Approval { approval, words },
            RunEvent::Suggestions { suggestions } => Self::Suggestions { suggestions },
            RunEvent::Reset { why } => Self::Reset { why },
            RunEvent::Done { run, message, decision_id, usage, state, degraded, asks: _, skipped } => {
                Self::Done { run, message, decision_id, usage: usage.into(), state, degraded, skipped }
            }
            RunEvent::Error { code, message, retryable } => Self::Error { code, message, retryable },
            RunEvent::Joined { run } => Self::Joined { into: run },
            RunEvent::Work(event) => event.into(),
        }
    }
}

impl From<WorkEvent> for StreamEvent {
    fn from(event: WorkEvent) -> Self {
        match event {
            WorkEvent::Waiting { reason, until } => Self::Waiting { reason, until },
            WorkEvent::RunsBegun { runs } => {
                Self::RunsBegun { runs: runs.into_iter().map(Into::into).collect() }
            }
            WorkEvent::ChildEnded { run, ok } => Self::ChildEnded { run, ok },
            WorkEvent::Skipped { step } => Self::Skipped { step },
            WorkEvent::Ended { run, ok, state, halt, result } => {
                let halt = halt.as_ref().map(RunHaltView::of);
                Self::Ended { run, ok, state: state.into(), halt, result }
            }
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
