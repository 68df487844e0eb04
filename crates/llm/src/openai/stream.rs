//! Chunks of chat completions. [`super`] says what counts as the end.

use std::collections::BTreeMap;

use serde_json::Value;

use super::error;
use super::response::{OpenAiCallDelta, OpenAiChoice, OpenAiChunk, OpenAiDelta, stop_reason};
use crate::chat::{ChatEvent, TokenUsage};
use crate::error::ModelError;
use crate::protocol::{self, DecodeStatus, call_id};
use crate::sse;

#[derive(Debug)]
pub(super) struct OpenAiDecoder {
    request_id: Option<String>,
    has_started: bool,
    answer_id: Option<String>,
    usage: Option<TokenUsage>,
    finish_reason: Option<String>,
    has_refused: bool,
    /// The server's index to ours and the call's id there: servers exist that give every call the index 0.
    calls: BTreeMap<usize, (usize, String)>,
    count: usize,
}

impl OpenAiDecoder {
    pub(super) fn new(request_id: Option<String>) -> Self {
        Self {
            request_id,
            has_started: false,
            answer_id: None,
            usage: None,
            finish_reason: None,
            has_refused: false,
            calls: BTreeMap::new(),
            count: 0,
        }
    }

    pub(super) fn chunk(&mut self, chunk: OpenAiChunk, out: &mut Vec<ChatEvent>) -> Result<(), ModelError> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(error::classify_stream_error(&error));
        }
        if !self.has_started {
            self.has_started = true;
            // Azure's first chunk only judges the prompt and names nothing.
            self.answer_id = chunk.id.filter(|id| !id.is_empty());
            let request_id = self.request_id.take().or_else(|| self.answer_id.clone());
            out.push(ChatEvent::Started { request_id, model: chunk.model.filter(|model| !model.is_empty()) });
        }
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            self.choice(choice, out)?;
        }
        let counts = chunk.usage.or_else(|| chunk.x_groq.and_then(|groq| groq.usage));
        let usage = counts.map(|counts| counts.usage()).filter(|usage| !usage.estimated);
        if usage.is_some() && usage != self.usage {
            self.usage = usage;
            out.extend(usage.map(ChatEvent::Usage));
        }
        Ok(())
    }

    fn choice(&mut self, choice: OpenAiChoice, out: &mut Vec<ChatEvent>) -> Result<(), ModelError> {
        let OpenAiDelta { content, refusal, reasoning_content, reasoning, tool_calls } = choice.delta;
        let said = |text: Option<String>| text.filter(|text| !text.is_empty());
        out.extend(said(reasoning_content).or_else(|| said(reasoning)).map(ChatEvent::Thinking));
        out.extend(said(content).map(ChatEvent::Text));
        if let Some(refusal) = said(refusal) {
            self.has_refused = true;
            out.push(ChatEvent::Text(refusal));
        }
        for (place, call) in tool_calls.unwrap_or_default().into_iter().enumerate() {
            self.call(place, call, out)?;
        }
        // Some servers write an empty reason until there is one.
        let reason = choice.finish_reason.filter(|reason| !reason.is_empty());
        self.finish_reason = reason.or(self.finish_reason.take());
        Ok(())
    }

    fn call(
        &mut self,
        place: usize,
        call: OpenAiCallDelta,
        out: &mut Vec<ChatEvent>,
    ) -> Result<(), ModelError> {
        let wire_index = call.index.unwrap_or(place);
        let id = call.id.unwrap_or_default();
        let (name, arguments) = call.function.map_or((None, Value::Null), |it| (it.name, it.arguments));
        let known = self.calls.get(&wire_index).filter(|(_, known)| id.is_empty() || *known == id);
        let index = match known {
            Some((index, _)) => *index,
            None => {
                // A call of nothing can't be made; servers that name it later have not been seen.
                let name = name.filter(|name| !name.is_empty());
                let name = name.ok_or_else(|| ModelError::Garbled("a tool call has no name".to_owned()))?;
                let index = self.count;
                self.count += 1;
                let given = if id.is_empty() { call_id(self.answer_id.as_deref(), index) } else { id };
                self.calls.insert(wire_index, (index, given.clone()));
                out.push(ChatEvent::ToolCallStarted { index, id: given, name });
                index
            }
        };
        let fragment = match arguments {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        };
        out.extend((!fragment.is_empty()).then_some(ChatEvent::ToolCallArguments { index, fragment }));
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<(), ModelError> {
        let reason = self.finish_reason.take().ok_or(ModelError::Interrupted)?;
        let stop = stop_reason(&reason, self.count > 0, self.has_refused);
        let usage = self.usage.unwrap_or(TokenUsage { estimated: true, ..TokenUsage::default() });
        out.push(ChatEvent::Finished { stop, usage });
        Ok(())
    }
}

impl protocol::StreamDecoder for OpenAiDecoder {
    fn decode(
        &mut self,
        message: &sse::SseMessage,
        out: &mut Vec<ChatEvent>,
    ) -> Result<DecodeStatus, ModelError> {
        if message.data.trim() == "[DONE]" {
            return self.finish(out).map(|()| DecodeStatus::Done);
        }
        if message.event == "error" {
            let body: Value = protocol::parse(message.data.as_bytes())?;
            return Err(error::classify_stream_error(body.get("error").unwrap_or(&body)));
        }
        self.chunk(protocol::parse(message.data.as_bytes())?, out)?;
        Ok(DecodeStatus::More)
    }

    fn end(&mut self, out: &mut Vec<ChatEvent>) -> Result<(), ModelError> {
        self.finish(out)
    }
}
