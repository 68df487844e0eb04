//! A turn's events as visitors hear them: what is said, and what is being done in kind words. Names of tools, what they were
//! given and what they gave are not for them.

use std::sync::Arc;

use munshi_lang::{Locale, Phrasebook};
use munshi_types::attachment::{self, Attachment};
use munshi_types::{ApprovalId, MessageId, RunId, ToolSpec};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::attachment::AttachmentView;
use super::event::{IngestStatusView, StreamEvent};
use crate::app::api::ApiState;

/// The `data` of an event on a visitor's stream; `type` is its name.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum VisitEvent {
    /// First event: the message is stored.
    Received {
        #[schema(value_type = uuid::Uuid)]
        run: RunId,
        #[schema(value_type = uuid::Uuid)]
        message: MessageId,
        fate: IngestStatusView,
    },
    /// The activity: `preparing`, `waiting` or `another_stream`.
    Thinking { what: String },
    /// The current activity, in the person's language.
    Doing {
        #[schema(example = "Looking in the books…")]
        words: String,
    },
    /// The next part of the reply.
    Token { text: String },
    /// Attachments of the reply.
    Attached { attachments: Vec<AttachmentView> },
    /// An act needs approval: GET /visit/{place}/approvals/{id} says who may answer.
    Approval {
        #[schema(value_type = uuid::Uuid)]
        approval: ApprovalId,
    },
    /// Suggested replies.
    Suggestions { suggestions: Vec<String> },
    /// Discard the reply so far; it starts again.
    Reset,
    /// Last event: the reply is complete and stored.
    Done {
        #[schema(value_type = uuid::Uuid)]
        run: RunId,
        /// The reply; none where a person of the business has the conversation in hand and the agent says nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<uuid::Uuid>)]
        message: Option<MessageId>,
        /// `done`, `halted` or `waiting_approval`.
        state: String,
        /// The locale for page texts from now on, as the person writes.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(example = "hi-latn")]
        voice: Option<String>,
    },
    /// Last event: there is no reply, or it is not on this stream.
    Error { code: String, message: String, retryable: bool },
    /// Last event: the message joined the turn before it, and one reply answers both. Follow that run.
    Joined {
        #[schema(value_type = uuid::Uuid)]
        into: RunId,
    },
}

impl VisitEvent {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Received { .. } => "received",
            Self::Thinking { .. } => "thinking",
            Self::Doing { .. } => "doing",
            Self::Token { .. } => "token",
            Self::Attached { .. } => "attached",
            Self::Approval { .. } => "approval",
            Self::Suggestions { .. } => "suggestions",
            Self::Reset => "reset",
            Self::Done { .. } => "done",
            Self::Error { .. } => "error",
            Self::Joined { .. } => "joined",
        }
    }
}

/// Turns what programs hear into what visitors do.
#[derive(Clone)]
pub(crate) struct VisitEventTranslator {
    book: Arc<Phrasebook>,
    tools: Arc<[Arc<ToolSpec>]>,
    /// Of the message: what is done is told in it.
    voice: Locale,
}

impl VisitEventTranslator {
    pub(crate) fn new(api: &ApiState, voice: Locale) -> Self {
        Self {
            book: api.visitor_services.book.clone(),
            tools: api.visitor_services.tools.as_slice().into(),
            voice,
        }
    }

    pub(crate) fn translate(&self, event: StreamEvent) -> Option<VisitEvent> {
        Some(match event {
            StreamEvent::Received { run, message, fate, .. } => VisitEvent::Received { run, message, fate },
            StreamEvent::Thinking { what, .. } => VisitEvent::Thinking { what },
            StreamEvent::Token { text } => VisitEvent::Token { text },
            StreamEvent::ToolCall { tool, .. } => VisitEvent::Doing { words: self.describe_activity(&tool) },
            StreamEvent::ToolResult { result, .. } => {
                let attachments = list_attachments(&result);
                (!attachments.is_empty()).then_some(VisitEvent::Attached { attachments })?
            }
            StreamEvent::Approval { approval, .. } => VisitEvent::Approval { approval },
            StreamEvent::Suggestions { suggestions } => VisitEvent::Suggestions { suggestions },
            StreamEvent::Reset { .. } => VisitEvent::Reset,
            StreamEvent::Done { run, message, state, .. } => {
                VisitEvent::Done { run, message, state, voice: Some(self.voice.code()) }
            }
            StreamEvent::Error { code, message, retryable } => VisitEvent::Error { code, message, retryable },
            StreamEvent::Joined { into } => VisitEvent::Joined { into },
            // Work that nobody typed is not for visitors.
            StreamEvent::Waiting { .. }
            | StreamEvent::RunsBegun { .. }
            | StreamEvent::ChildEnded { .. }
            | StreamEvent::Skipped { .. }
            | StreamEvent::Ended { .. } => return None,
        })
    }

    /// By what the tool touches: a pack may have words of its own for that.
    fn describe_activity(&self, tool: &str) -> String {
        let spec = self.tools.iter().find(|spec| spec.name.as_str() == tool);
        let how = if spec.is_some_and(|spec| spec.effect.writes()) { "write" } else { "read" };
        let module = spec.and_then(|spec| spec.scope.split('.').next()).unwrap_or("web");
        let say = |name: String| self.book.render(&name, self.voice, &[]);
        say(format!("{module}-doing-{how}")).or_else(|_| say(format!("web-doing-{how}"))).unwrap_or_default()
    }
}

/// What a tool gave to be shown.
pub(crate) fn list_attachments(answer: &Value) -> Vec<AttachmentView> {
    attachment::extract_from_result(answer)
        .iter()
        .filter_map(|one: &Attachment| AttachmentView::of(one))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_lang::ScriptForm;
    use munshi_types::{Effect, IdGenerator, Language};
    use serde_json::json;

    fn ear() -> VisitEventTranslator {
        let mut book = Phrasebook::clone(&munshi_server::phrases::default_phrasebook());
        for voice in Locale::all() {
            book.add(voice, "shop-doing-read = Looking in the shop…\n").unwrap();
        }
        let spec = |name: &str, scope: &str| {
            ToolSpec::read_only(name.parse().unwrap(), String::new(), scope.to_owned())
        };
        let tools = [
            spec("count", "shop.count"),
            spec("find", "else.find"),
            ToolSpec { effect: Effect::Inside, ..spec("note", "else.note") },
        ];
        let voice = Locale::new(Language::English, ScriptForm::Latin);
        VisitEventTranslator { book: Arc::new(book), tools: tools.into_iter().map(Arc::new).collect(), voice }
    }

    #[test]
    fn what_is_done_is_told_kindly_and_nothing_of_it_besides() {
        let call = |tool: &str| StreamEvent::ToolCall {
            call: "1".to_owned(),
            tool: tool.to_owned(),
            arguments: json!({ "secret": 1 }),
        };
        for (tool, words) in [
            ("count", "Looking in the shop…"),
            ("find", "Looking it up…"),
            ("note", "Writing it down…"),
            ("gone", "Looking it up…"),
        ] {
            let heard = serde_json::to_value(ear().translate(call(tool)).unwrap()).unwrap();
            assert_eq!(heard, json!({ "type": "doing", "words": words }));
        }
        let result = |result| StreamEvent::ToolResult {
            call: "1".to_owned(),
            tool: "count".to_owned(),
            ok: true,
            result,
            undo: None,
        };
        assert_eq!(
            ear().translate(result(json!({ "ok": true, "result": { "count": 4, "internal": "x" } }))),
            None
        );
        let given = json!({ "attachments": [{ "kind": "link", "url": "https://a.example", "title": "A" }] });
        let with = ear().translate(result(json!({ "ok": true, "result": given })));
        assert_eq!(with.unwrap().name(), "attached");
    }

    #[test]
    fn the_end_says_what_to_speak_and_not_what_it_cost() {
        let ids = IdGenerator::system();
        let usage = munshi_conversations::TurnUsage::default().into();
        let done = StreamEvent::Done {
            run: ids.next(),
            message: Some(ids.next()),
            decision_id: ids.next(),
            usage,
            state: "done".to_owned(),
            degraded: false,
            skipped: Vec::new(),
        };
        let heard = serde_json::to_value(ear().translate(done).unwrap()).unwrap();
        assert_eq!((&heard["voice"], &heard["usage"]), (&json!("en"), &json!(null)));
    }
}
