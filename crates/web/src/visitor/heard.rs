//! A turn's events as visitors hear them: what is said, and what is being done in kind words. Names of tools, what they were
//! given and what they gave are not for them.

use std::sync::Arc;

use munshi_lang::{Locale, Phrasebook, ScriptForm};
use munshi_types::attachment::{self, Attachment};
use munshi_types::tier::LanguageCode;
use munshi_types::{ApprovalId, MessageId, RunId, ToolSpec};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::ApiState;
use crate::views::attachment::AttachmentView;
use crate::views::event::{IngestStatusView, StreamEvent};

/// The `data` of an event on a visitor's stream, whose name is `type`.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum VisitEvent {
    /// The first one: the message is stored.
    Received {
        #[schema(value_type = uuid::Uuid)]
        run: RunId,
        #[schema(value_type = uuid::Uuid)]
        message: MessageId,
        fate: IngestStatusView,
    },
    /// In a word: `preparing`, `waiting`, `another_stream`.
    Thinking { what: String },
    /// What is being done, in the person's language.
    Doing {
        #[schema(example = "Looking in the books…")]
        words: String,
    },
    /// More of the reply.
    Token { text: String },
    /// What comes with the reply beside its words.
    Attached { attachments: Vec<AttachmentView> },
    /// A question before an act: GET /visit/{place}/approvals/{id} says whose it is to answer.
    Approval {
        #[schema(value_type = uuid::Uuid)]
        approval: ApprovalId,
    },
    /// What one could say next.
    Suggestions { suggestions: Vec<String> },
    /// All of the reply so far is void; it begins again.
    Reset,
    /// The last one: the reply is whole and stored.
    Done {
        #[schema(value_type = uuid::Uuid)]
        run: RunId,
        #[schema(value_type = uuid::Uuid)]
        message: MessageId,
        /// `done`, `halted` or `waiting_approval`.
        state: String,
        /// What pages should speak from now on, as the person does.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(example = "hi-latn")]
        voice: Option<String>,
    },
    /// The last one: there is no reply, or not on this stream.
    Error { code: String, message: String, retryable: bool },
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
        Self { book: api.visits.book.clone(), tools: api.visits.tools.as_slice().into(), voice }
    }

    pub(crate) fn hear(&self, event: StreamEvent) -> Option<VisitEvent> {
        Some(match event {
            StreamEvent::Received { run, message, fate, .. } => VisitEvent::Received { run, message, fate },
            StreamEvent::Thinking { what, .. } => VisitEvent::Thinking { what },
            StreamEvent::Token { text } => VisitEvent::Token { text },
            StreamEvent::ToolCall { tool, .. } => VisitEvent::Doing { words: self.doing(&tool) },
            StreamEvent::ToolResult { result, .. } => {
                let attachments = shown(&result);
                (!attachments.is_empty()).then_some(VisitEvent::Attached { attachments })?
            }
            StreamEvent::Approval { approval, .. } => VisitEvent::Approval { approval },
            StreamEvent::Suggestions { suggestions } => VisitEvent::Suggestions { suggestions },
            StreamEvent::Reset { .. } => VisitEvent::Reset,
            StreamEvent::Done { run, message, state, .. } => {
                VisitEvent::Done { run, message, state, voice: Some(self.voice.code()) }
            }
            StreamEvent::Error { code, message, retryable } => VisitEvent::Error { code, message, retryable },
        })
    }

    /// By what the tool touches: a pack may have words of its own for that.
    fn doing(&self, tool: &str) -> String {
        let spec = self.tools.iter().find(|spec| spec.name.as_str() == tool);
        let how = if spec.is_some_and(|spec| spec.effect.writes()) { "write" } else { "read" };
        let module = spec.and_then(|spec| spec.scope.split('.').next()).unwrap_or("web");
        let say = |name: String| self.book.say(&name, self.voice, &[]);
        say(format!("{module}-doing-{how}")).or_else(|_| say(format!("web-doing-{how}"))).unwrap_or_default()
    }
}

/// What a tool gave to be shown.
pub(crate) fn shown(answer: &Value) -> Vec<AttachmentView> {
    attachment::of_result(answer).iter().filter_map(|one: &Attachment| AttachmentView::of(one)).collect()
}

/// What a text in a language is answered in.
pub(crate) fn voice_of(code: &LanguageCode) -> Option<Locale> {
    let form = if code.is_latin() { ScriptForm::Latin } else { ScriptForm::Native };
    code.language().map(|language| Locale::new(language, form))
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::{Effect, IdGenerator, Language};
    use serde_json::json;

    fn ear() -> VisitEventTranslator {
        let mut book = Phrasebook::clone(&super::super::words::own());
        for voice in Locale::all() {
            book.add(voice, "shop-doing-read = Looking in the shop…\n").unwrap();
        }
        let spec =
            |name: &str, scope: &str| ToolSpec::read(name.parse().unwrap(), String::new(), scope.to_owned());
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
            let heard = serde_json::to_value(ear().hear(call(tool)).unwrap()).unwrap();
            assert_eq!(heard, json!({ "type": "doing", "words": words }));
        }
        let result = |result| StreamEvent::ToolResult {
            call: "1".to_owned(),
            tool: "count".to_owned(),
            ok: true,
            result,
        };
        assert_eq!(
            ear().hear(result(json!({ "ok": true, "result": { "count": 4, "internal": "x" } }))),
            None
        );
        let given = json!({ "attachments": [{ "kind": "link", "url": "https://a.example", "title": "A" }] });
        let with = ear().hear(result(json!({ "ok": true, "result": given })));
        assert_eq!(with.unwrap().name(), "attached");
    }

    #[test]
    fn the_end_says_what_to_speak_and_not_what_it_cost() {
        let ids = IdGenerator::system();
        let usage = munshi_agent::TurnUsage::default().into();
        let done = StreamEvent::Done {
            run: ids.next(),
            message: ids.next(),
            decision_id: ids.next(),
            usage,
            state: "done".to_owned(),
            degraded: false,
        };
        let heard = serde_json::to_value(ear().hear(done).unwrap()).unwrap();
        assert_eq!((&heard["voice"], &heard["usage"]), (&json!("en"), &json!(null)));
    }
}
