//! Chunks of a Gemini stream. [`super`] says what counts as the end.

use super::error;
use super::response::{GeminiCandidate, GeminiChunk, GeminiReplyCall, GeminiReplyPart, stop_reason};
use crate::chat::{ChatEvent, StopReason, TokenUsage};
use crate::error::ModelError;
use crate::protocol::{self, DecodeStatus, call_id};
use crate::sse;
use crate::target::WireFormat;
use crate::wire_prefix::add_wire_prefix;

#[derive(Debug)]
pub(super) struct GeminiDecoder {
    request_id: Option<String>,
    has_started: bool,
    answer_id: Option<String>,
    usage: Option<TokenUsage>,
    /// The reason and what was said about it.
    finish: Option<(String, Option<String>)>,
    is_blocked: bool,
    calls: usize,
}

impl GeminiDecoder {
    pub(super) fn new(request_id: Option<String>) -> Self {
        Self {
            request_id,
            has_started: false,
            answer_id: None,
            usage: None,
            finish: None,
            is_blocked: false,
            calls: 0,
        }
    }

    pub(super) fn chunk(&mut self, chunk: GeminiChunk, out: &mut Vec<ChatEvent>) -> Result<(), ModelError> {
        if let Some(error) = chunk.error {
            return Err(error::classify_stream_error(&error));
        }
        if !self.has_started {
            self.has_started = true;
            let request_id = self.request_id.take().or_else(|| chunk.response_id.clone());
            out.push(ChatEvent::Started { request_id, model: chunk.model_version });
            self.answer_id = chunk.response_id;
        }
        // Each chunk counts anew from the start; the last one is the bill.
        let usage = chunk.usage_metadata.map(|counts| counts.usage()).filter(|usage| !usage.estimated);
        if usage.is_some() && usage != self.usage {
            self.usage = usage;
            out.extend(usage.map(ChatEvent::Usage));
        }
        self.is_blocked |= chunk.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some());
        for candidate in chunk.candidates.into_iter().filter(|candidate| candidate.index == 0) {
            self.candidate(candidate, out);
        }
        Ok(())
    }

    fn candidate(&mut self, candidate: GeminiCandidate, out: &mut Vec<ChatEvent>) {
        for piece in candidate.content.parts {
            self.piece(piece, out);
        }
        if let Some(reason) = candidate.finish_reason {
            self.finish = Some((reason, candidate.finish_message));
        }
    }

    /// A signature goes out before the part that carried it, and goes back the same way.
    fn piece(&mut self, piece: GeminiReplyPart, out: &mut Vec<ChatEvent>) {
        let text = piece.text.filter(|text| !text.is_empty());
        let signature = piece
            .thought_signature
            .map(|sign| ChatEvent::ThinkingSignature(add_wire_prefix(WireFormat::Gemini, &sign)));
        if piece.thought {
            out.extend(text.map(ChatEvent::Thinking));
            out.extend(signature);
            return;
        }
        out.extend(signature);
        out.extend(text.map(ChatEvent::Text));
        if let Some(call) = piece.function_call {
            self.call(call, out);
        }
    }

    fn call(&mut self, call: GeminiReplyCall, out: &mut Vec<ChatEvent>) {
        let index = self.calls;
        self.calls += 1;
        let id = call.id.filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| call_id(self.answer_id.as_deref(), index));
        out.push(ChatEvent::ToolCallStarted { index, id, name: call.name });
        if !call.args.is_null() {
            out.push(ChatEvent::ToolCallArguments { index, fragment: call.args.to_string() });
        }
    }
}

impl protocol::StreamDecoder for GeminiDecoder {
    fn decode(
        &mut self,
        message: &sse::SseMessage,
        out: &mut Vec<ChatEvent>,
    ) -> Result<DecodeStatus, ModelError> {
        self.chunk(protocol::parse(message.data.as_bytes())?, out)?;
        Ok(DecodeStatus::More)
    }

    fn end(&mut self, out: &mut Vec<ChatEvent>) -> Result<(), ModelError> {
        let stop = match self.finish.take() {
            Some((reason, message)) => stop_reason(&reason, message, self.calls > 0)?,
            None if self.is_blocked => StopReason::Refused,
            None => return Err(ModelError::Interrupted),
        };
        let usage = self.usage.unwrap_or(TokenUsage { estimated: true, ..TokenUsage::default() });
        out.push(ChatEvent::Finished { stop, usage });
        Ok(())
    }
}
