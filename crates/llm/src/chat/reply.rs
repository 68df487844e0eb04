//! A whole reply, put together from its events.

use std::collections::BTreeMap;

use serde_json::Value;

use super::event::{ChatEvent, StopReason};
use super::limits::RateLimits;
use super::message::{ChatMessage, ModelMessagePart, ModelRole, ToolCall};
use super::usage::TokenUsage;
use crate::error::ModelError;
use crate::pricing::count_tokens_for;
use crate::target::ModelTarget;

#[derive(Clone, Debug, PartialEq)]
pub struct ChatReply {
    pub message: ChatMessage,
    pub stop: StopReason,
    pub usage: TokenUsage,
    pub request_id: Option<String>,
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    pub limits: RateLimits,
}

impl ChatReply {
    pub fn text(&self) -> String {
        self.message.text()
    }

    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.message.parts.iter().filter_map(|part| match part {
            ModelMessagePart::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

impl ChatReply {
    /// The events it would have come as.
    pub fn into_events(self) -> Vec<ChatEvent> {
        let mut events = vec![ChatEvent::Started { request_id: self.request_id, model: self.model }];
        if !self.limits.is_empty() {
            events.push(ChatEvent::Limits(self.limits));
        }
        let mut calls = 0;
        for part in self.message.parts {
            match part {
                ModelMessagePart::Text { text } => events.push(ChatEvent::Text(text)),
                ModelMessagePart::Thinking { text, signature } => {
                    events.extend((!text.is_empty()).then_some(ChatEvent::Thinking(text)));
                    events.extend(signature.map(ChatEvent::ThinkingSignature));
                }
                ModelMessagePart::SealedThinking { data } => events.push(ChatEvent::SealedThinking(data)),
                ModelMessagePart::State { data } => events.push(ChatEvent::State(data)),
                ModelMessagePart::ToolCall(ToolCall { id, name, arguments }) => {
                    events.push(ChatEvent::ToolCallStarted { index: calls, id, name });
                    let fragment = arguments.to_string();
                    events.push(ChatEvent::ToolCallArguments { index: calls, fragment });
                    calls += 1;
                }
                // A model says none of these.
                ModelMessagePart::Image(_)
                | ModelMessagePart::Document(_)
                | ModelMessagePart::ToolResult(_) => {}
            }
        }
        events.push(ChatEvent::Finished { stop: self.stop, usage: self.usage });
        events
    }
}

/// Collects events into a reply. Parts keep the order in which they began.
#[derive(Debug, Default)]
pub struct ModelReplyAssembler {
    parts: Vec<Piece>,
    calls: BTreeMap<usize, usize>,
    request_id: Option<String>,
    model: Option<String>,
    limits: RateLimits,
    usage: Option<TokenUsage>,
    end: Option<(StopReason, TokenUsage)>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Thinking { text: String, signature: Option<String> },
    Sealed(String),
    State(String),
    Call { id: String, name: String, arguments: String },
}

impl ModelReplyAssembler {
    pub fn push(&mut self, event: &ChatEvent) -> Result<(), ModelError> {
        match event {
            ChatEvent::Started { request_id, model } => {
                self.request_id.clone_from(request_id);
                self.model.clone_from(model);
            }
            ChatEvent::Text(more) => match self.parts.last_mut() {
                Some(Piece::Text(text)) => text.push_str(more),
                _ => self.parts.push(Piece::Text(more.clone())),
            },
            ChatEvent::Thinking(more) => match self.parts.last_mut() {
                Some(Piece::Thinking { text, signature: None }) => text.push_str(more),
                _ => self.parts.push(Piece::Thinking { text: more.clone(), signature: None }),
            },
            ChatEvent::ThinkingSignature(sign) => match self.parts.last_mut() {
                Some(Piece::Thinking { signature: slot @ None, .. }) => *slot = Some(sign.clone()),
                _ => self.parts.push(Piece::Thinking { text: String::new(), signature: Some(sign.clone()) }),
            },
            ChatEvent::SealedThinking(data) => self.parts.push(Piece::Sealed(data.clone())),
            ChatEvent::State(data) => self.parts.push(Piece::State(data.clone())),
            ChatEvent::ToolCallStarted { index, id, name } => self.begin_call(*index, id, name)?,
            ChatEvent::ToolCallArguments { index, fragment } => self.extend_call(*index, fragment)?,
            ChatEvent::Limits(limits) => self.limits.clone_from(limits),
            ChatEvent::Usage(usage) => self.usage = Some(*usage),
            ChatEvent::Finished { stop, usage } => self.end = Some((stop.clone(), *usage)),
        }
        Ok(())
    }

    /// What was used so far, as far as the provider has said; known even when the stream breaks off.
    pub fn usage(&self) -> Option<TokenUsage> {
        self.end.as_ref().map(|(_, usage)| *usage).or(self.usage)
    }

    /// Whether the proper end has come.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// The text said so far.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The tokens said so far, counted here.
    pub fn count_tokens(&self, target: &ModelTarget) -> u64 {
        let texts = self.parts.iter().map(|piece| match piece {
            Piece::Text(text) | Piece::Thinking { text, .. } => count_tokens_for(target, text),
            Piece::Call { name, arguments, .. } => {
                count_tokens_for(target, name) + count_tokens_for(target, arguments)
            }
            Piece::Sealed(_) | Piece::State(_) => 0,
        });
        texts.sum()
    }

    fn begin_call(&mut self, index: usize, id: &str, name: &str) -> Result<(), ModelError> {
        if self.calls.insert(index, self.parts.len()).is_some() {
            return Err(ModelError::Garbled(format!("duplicate tool call index {index}")));
        }
        self.parts.push(Piece::Call { id: id.to_owned(), name: name.to_owned(), arguments: String::new() });
        Ok(())
    }

    fn extend_call(&mut self, index: usize, fragment: &str) -> Result<(), ModelError> {
        let piece = self.calls.get(&index).and_then(|at| self.parts.get_mut(*at));
        match piece {
            Some(Piece::Call { arguments, .. }) => arguments.push_str(fragment),
            _ => {
                return Err(ModelError::Garbled(format!("arguments for unknown tool call {index}")));
            }
        }
        Ok(())
    }

    /// The reply, once it has properly ended. Arguments that are no JSON object are a fault of their own, so that the
    /// caller can ask again; they are never guessed.
    pub fn finish(self) -> Result<ChatReply, ModelError> {
        let Some((stop, usage)) = self.end else { return Err(ModelError::Interrupted) };
        let was_cut = stop == StopReason::MaxTokens;
        let parts =
            self.parts.into_iter().map(|piece| piece.into_part(was_cut)).collect::<Result<Vec<_>, _>>()?;
        let message = ChatMessage { role: ModelRole::Assistant, parts };
        let (request_id, model, limits) = (self.request_id, self.model, self.limits);
        Ok(ChatReply { message, stop, usage, request_id, model, limits })
    }
}

impl Piece {
    fn into_part(self, was_cut: bool) -> Result<ModelMessagePart, ModelError> {
        Ok(match self {
            Self::Text(text) => ModelMessagePart::Text { text },
            Self::Thinking { text, signature } => ModelMessagePart::Thinking { text, signature },
            Self::Sealed(data) => ModelMessagePart::SealedThinking { data },
            Self::State(data) => ModelMessagePart::State { data },
            Self::Call { id, name, arguments } => {
                // No arguments are an empty object, unless they may have been cut off.
                let is_bare = arguments.trim().is_empty() && !was_cut;
                let text = if is_bare { "{}" } else { &arguments };
                match serde_json::from_str::<Value>(text) {
                    Ok(arguments @ Value::Object(_)) => {
                        ModelMessagePart::ToolCall(ToolCall { id, name, arguments })
                    }
                    _ => return Err(ModelError::MalformedArguments { tool: name, text: arguments }),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assemble(events: &[ChatEvent]) -> Result<ChatReply, ModelError> {
        let mut assembler = ModelReplyAssembler::default();
        events.iter().try_for_each(|event| assembler.push(event))?;
        assembler.finish()
    }

    fn end() -> ChatEvent {
        ChatEvent::Finished { stop: StopReason::ToolUse, usage: TokenUsage::default() }
    }

    #[test]
    fn two_tool_calls_at_once_keep_their_own_arguments() {
        let fragment = |index, text: &str| ChatEvent::ToolCallArguments { index, fragment: text.to_owned() };
        let started = |index, name: &str| ChatEvent::ToolCallStarted {
            index,
            id: format!("c{index}"),
            name: name.to_owned(),
        };
        let reply = assemble(&[
            ChatEvent::Text("let me ".to_owned()),
            ChatEvent::Text("look".to_owned()),
            started(0, "a"),
            started(1, "b"),
            fragment(1, "{\"y\":"),
            fragment(0, "{\"x\":1}"),
            fragment(1, "2}"),
            end(),
        ])
        .unwrap();
        assert_eq!(reply.text(), "let me look");
        let calls: Vec<_> =
            reply.tool_calls().map(|call| (call.name.as_str(), call.arguments.to_string())).collect();
        assert_eq!(calls, [("a", "{\"x\":1}".to_owned()), ("b", "{\"y\":2}".to_owned())]);
    }

    #[test]
    fn each_signature_has_its_own_thought() {
        let sign = |text: &str| ChatEvent::ThinkingSignature(text.to_owned());
        let events = [
            ChatEvent::Thinking("a".to_owned()),
            sign("1"),
            sign("2"),
            ChatEvent::Thinking("b".to_owned()),
            end(),
        ];
        let thought = |text: &str, sign: Option<&str>| ModelMessagePart::Thinking {
            text: text.to_owned(),
            signature: sign.map(str::to_owned),
        };
        let expected = [thought("a", Some("1")), thought("", Some("2")), thought("b", None)];
        assert_eq!(assemble(&events).unwrap().message.parts, expected, "a hidden thought is one too");
    }

    #[test]
    fn a_whole_reply_can_be_told_as_events() {
        let call = |index| {
            [
                ChatEvent::ToolCallStarted { index, id: format!("c{index}"), name: "a".to_owned() },
                ChatEvent::ToolCallArguments { index, fragment: "{\"x\":1}".to_owned() },
            ]
        };
        let mut events = vec![
            ChatEvent::Started { request_id: Some("r".to_owned()), model: None },
            ChatEvent::Thinking("hm".to_owned()),
            ChatEvent::ThinkingSignature("s".to_owned()),
            ChatEvent::Text("look".to_owned()),
            ChatEvent::State("q".to_owned()),
        ];
        events.extend([call(0), call(1)].concat());
        events.push(end());
        let reply = assemble(&events).unwrap();
        assert_eq!(reply.clone().into_events(), events);
    }

    #[test]
    fn what_does_not_end_properly_is_no_reply() {
        assert_eq!(assemble(&[ChatEvent::Text("almost every".to_owned())]), Err(ModelError::Interrupted));
    }

    #[test]
    fn arguments_are_never_guessed() {
        for text in ["{\"x\":", "[1]", "null", "x"] {
            let events = [
                ChatEvent::ToolCallStarted { index: 0, id: "c".to_owned(), name: "a".to_owned() },
                ChatEvent::ToolCallArguments { index: 0, fragment: text.to_owned() },
                end(),
            ];
            let expected = ModelError::MalformedArguments { tool: "a".to_owned(), text: text.to_owned() };
            assert_eq!(assemble(&events), Err(expected), "{text}");
        }
        let nothing =
            [ChatEvent::ToolCallStarted { index: 0, id: "c".to_owned(), name: "a".to_owned() }, end()];
        assert_eq!(assemble(&nothing).unwrap().tool_calls().next().unwrap().arguments, serde_json::json!({}));
    }
}
