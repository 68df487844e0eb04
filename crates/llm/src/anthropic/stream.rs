//! Anthropic's events. `message_stop` is the end; a stream that stops before it broke off.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::error;
use super::response::{AnthropicBlock, AnthropicMessage, AnthropicUsage, stop_reason};
use crate::chat::ChatEvent;
use crate::error::ModelError;
use crate::protocol::{self, DecodeStatus};
use crate::sse;
use crate::target::WireFormat;
use crate::wire_prefix::add_wire_prefix;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Frame {
    MessageStart {
        message: AnthropicMessage,
    },
    ContentBlockStart {
        index: usize,
        content_block: AnthropicBlock,
    },
    ContentBlockDelta {
        index: usize,
        delta: Delta,
    },
    MessageDelta {
        delta: End,
        #[serde(default)]
        usage: AnthropicUsage,
    },
    MessageStop,
    Error {
        error: Value,
    },
    /// Pings, ends of blocks, and what is new: the documentation asks to pass over it.
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: String },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
struct End {
    stop_reason: Option<String>,
}

#[derive(Debug)]
pub(super) struct AnthropicDecoder {
    request_id: Option<String>,
    counts: AnthropicUsage,
    stop: Option<String>,
    /// The blocks that are calls to our tools; the provider's own tools have arguments too.
    calls: BTreeSet<usize>,
}

impl AnthropicDecoder {
    pub(super) fn new(request_id: Option<String>) -> Self {
        Self { request_id, counts: AnthropicUsage::default(), stop: None, calls: BTreeSet::new() }
    }

    /// A message that came all at once.
    pub(super) fn decode_whole_message(&mut self, message: AnthropicMessage, out: &mut Vec<ChatEvent>) {
        self.stop.clone_from(&message.stop_reason);
        self.start(message, out);
        self.finish(out);
    }

    fn start(&mut self, message: AnthropicMessage, out: &mut Vec<ChatEvent>) {
        out.push(ChatEvent::Started { request_id: self.request_id.take(), model: message.model });
        self.update_usage(&message.usage, out);
        for (index, block) in message.content.into_iter().enumerate() {
            self.begin(index, block, out);
        }
    }

    fn begin(&mut self, index: usize, block: AnthropicBlock, out: &mut Vec<ChatEvent>) {
        match block {
            AnthropicBlock::Text { text } => out.extend((!text.is_empty()).then_some(ChatEvent::Text(text))),
            AnthropicBlock::Thinking { thinking, signature } => {
                out.extend((!thinking.is_empty()).then_some(ChatEvent::Thinking(thinking)));
                out.extend(signature_event(&signature));
            }
            AnthropicBlock::RedactedThinking { data } => {
                out.push(ChatEvent::SealedThinking(add_wire_prefix(WireFormat::Anthropic, &data)));
            }
            AnthropicBlock::ToolUse { id, name, input } => {
                self.calls.insert(index);
                out.push(ChatEvent::ToolCallStarted { index, id, name });
                // Empty in a stream, where the arguments follow; complete in a whole answer.
                let is_empty = input.is_null() || input.as_object().is_some_and(serde_json::Map::is_empty);
                out.extend(
                    (!is_empty).then(|| ChatEvent::ToolCallArguments { index, fragment: input.to_string() }),
                );
            }
            AnthropicBlock::Unknown => {}
        }
    }

    fn extend(&self, index: usize, delta: Delta, out: &mut Vec<ChatEvent>) {
        match delta {
            Delta::Text { text } => out.extend((!text.is_empty()).then_some(ChatEvent::Text(text))),
            Delta::Thinking { thinking } => {
                out.extend((!thinking.is_empty()).then_some(ChatEvent::Thinking(thinking)));
            }
            Delta::Signature { signature } => out.extend(signature_event(&signature)),
            Delta::InputJson { partial_json } if self.calls.contains(&index) && !partial_json.is_empty() => {
                out.push(ChatEvent::ToolCallArguments { index, fragment: partial_json });
            }
            Delta::InputJson { .. } | Delta::Unknown => {}
        }
    }

    fn update_usage(&mut self, counts: &AnthropicUsage, out: &mut Vec<ChatEvent>) {
        self.counts.update(counts);
        let usage = self.counts.usage();
        if !usage.estimated {
            out.push(ChatEvent::Usage(usage));
        }
    }

    fn finish(&mut self, out: &mut Vec<ChatEvent>) {
        let stop = stop_reason(self.stop.as_deref());
        out.push(ChatEvent::Finished { stop, usage: self.counts.usage() });
    }
}

impl protocol::StreamDecoder for AnthropicDecoder {
    fn decode(
        &mut self,
        message: &sse::SseMessage,
        out: &mut Vec<ChatEvent>,
    ) -> Result<DecodeStatus, ModelError> {
        match protocol::parse(message.data.as_bytes())? {
            Frame::MessageStart { message } => self.start(message, out),
            Frame::ContentBlockStart { index, content_block } => self.begin(index, content_block, out),
            Frame::ContentBlockDelta { index, delta } => self.extend(index, delta, out),
            Frame::MessageDelta { delta, usage } => {
                self.stop = delta.stop_reason.or(self.stop.take());
                self.update_usage(&usage, out);
            }
            Frame::MessageStop => {
                self.finish(out);
                return Ok(DecodeStatus::Done);
            }
            Frame::Error { error } => return Err(error::classify_stream_error(&error)),
            Frame::Unknown => {}
        }
        Ok(DecodeStatus::More)
    }

    fn end(&mut self, _out: &mut Vec<ChatEvent>) -> Result<(), ModelError> {
        Err(ModelError::Interrupted)
    }
}

fn signature_event(signature: &str) -> Option<ChatEvent> {
    (!signature.is_empty())
        .then(|| ChatEvent::ThinkingSignature(add_wire_prefix(WireFormat::Anthropic, signature)))
}
