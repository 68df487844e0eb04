//! Answers in JSON for servers that know no JSON schema: the schema goes into words, or into a tool that must be
//! called and whose arguments come out as the answer's text. Callers see text on every wire.

use std::borrow::Cow;
use std::sync::Arc;

use munshi_types::tool::{ToolName, ToolSpec};

use crate::chat::{ChatEvent, ChatRequest, ReplyFormat, StopReason, ToolChoice};
use crate::dialect::JsonMode;
use crate::target::{ModelTarget, WireFormat};

/// The name of the tool that stands for the answer.
const ANSWER: &str = "give_answer";

/// The request as the wire is to see it.
pub(crate) fn prepare_request<'a>(target: &ModelTarget, request: &'a ChatRequest) -> Cow<'a, ChatRequest> {
    let ReplyFormat::Json { schema, .. } = &request.output else { return Cow::Borrowed(request) };
    match target.dialect.json {
        JsonMode::Schema => Cow::Borrowed(request),
        JsonMode::Tool => Cow::Owned(with_answer_tool(target, request)),
        JsonMode::Object | JsonMode::Words => {
            let mut request = request.clone();
            let words = "Answer with one JSON object and nothing else. It must match this JSON schema:";
            request.system.push(format!("{words}\n{schema}"));
            Cow::Owned(request)
        }
    }
}

fn with_answer_tool(target: &ModelTarget, request: &ChatRequest) -> ChatRequest {
    let mut request = request.clone();
    let ReplyFormat::Json { schema, .. } = std::mem::take(&mut request.output) else { return request };
    let Ok(name) = ANSWER.parse::<ToolName>() else { return request };
    let spec = ToolSpec { parameters: schema, ..ToolSpec::read_only(name, "Gives the answer.", "") };
    // Anthropic refuses to think when a tool is forced.
    if target.wire == WireFormat::Anthropic {
        request.thinking = None;
    }
    request.tools.push(Arc::new(spec));
    request.tool_choice = ToolChoice::Named(ANSWER.to_owned());
    request
}

/// Turns the answer's tool call into text, event by event.
#[derive(Debug, Default)]
pub(crate) struct AnswerToolUnwrapper {
    is_wanted: bool,
    answer: Option<usize>,
    has_other_calls: bool,
}

impl AnswerToolUnwrapper {
    pub(crate) fn new(target: &ModelTarget, request: &ChatRequest) -> Self {
        let is_wanted = request.output != ReplyFormat::Text && target.dialect.json == JsonMode::Tool;
        Self { is_wanted, ..Self::default() }
    }

    /// None for what the caller has no use for.
    pub(crate) fn unwrap_event(&mut self, event: ChatEvent) -> Option<ChatEvent> {
        if !self.is_wanted {
            return Some(event);
        }
        match event {
            ChatEvent::ToolCallStarted { index, name, .. } if name == ANSWER => {
                self.answer = Some(index);
                None
            }
            ChatEvent::ToolCallStarted { .. } => {
                self.has_other_calls = true;
                Some(event)
            }
            ChatEvent::ToolCallArguments { index, fragment } if self.answer == Some(index) => {
                Some(ChatEvent::Text(fragment))
            }
            // What it says beside the answer is no part of it.
            ChatEvent::Text(_) => None,
            ChatEvent::Finished { stop: StopReason::ToolUse, usage } if !self.has_other_calls => {
                Some(ChatEvent::Finished { stop: StopReason::EndTurn, usage })
            }
            other => Some(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chat::TokenUsage;

    fn request() -> ChatRequest {
        let output = ReplyFormat::Json { name: "fruit".to_owned(), schema: json!({"type": "object"}) };
        ChatRequest { output, ..ChatRequest::default() }
    }

    fn target(json: JsonMode) -> ModelTarget {
        let mut target = ModelTarget::new("t", WireFormat::Anthropic, "", "m");
        target.dialect.json = json;
        target
    }

    #[test]
    fn the_tools_arguments_are_the_answers_text() {
        let (target, request) = (target(JsonMode::Tool), request());
        let asked = prepare_request(&target, &request);
        assert_eq!(asked.tool_choice, ToolChoice::Named(ANSWER.to_owned()));
        assert_eq!(asked.tools[0].parameters, json!({"type": "object"}));

        let mut unwrap = AnswerToolUnwrapper::new(&target, &request);
        let events = [
            ChatEvent::Text("Here you are:".to_owned()),
            ChatEvent::ToolCallStarted { index: 1, id: "c".to_owned(), name: ANSWER.to_owned() },
            ChatEvent::ToolCallArguments { index: 1, fragment: "{\"a\":1}".to_owned() },
            ChatEvent::Finished { stop: StopReason::ToolUse, usage: TokenUsage::default() },
        ];
        let seen: Vec<_> = events.into_iter().filter_map(|event| unwrap.unwrap_event(event)).collect();
        let end = ChatEvent::Finished { stop: StopReason::EndTurn, usage: TokenUsage::default() };
        assert_eq!(seen, [ChatEvent::Text("{\"a\":1}".to_owned()), end]);
    }

    #[test]
    fn words_follow_the_system_text_and_a_schema_changes_nothing() {
        let request = request();
        let words = prepare_request(&target(JsonMode::Words), &request);
        assert!(words.system[0].ends_with("{\"type\":\"object\"}"));
        assert!(matches!(prepare_request(&target(JsonMode::Schema), &request), Cow::Borrowed(_)));
    }
}
