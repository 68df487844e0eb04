//! Tokens counted here: before a call, to know what it may cost, and after one whose provider did not say.
//!
//! One tokenizer serves all; a fixed factor per wire makes it err on the high side. It is loaded when first needed.

use std::sync::LazyLock;

use super::kept::Kept;
use crate::chat::{ChatRequest, Message, Part};
use crate::target::{Target, Wire};

/// What an image or a page costs roughly, everywhere.
const MEDIA_TOKENS: u64 = 1_600;
/// The wrapping of a message, a tool, a call.
const WRAPPING_TOKENS: u64 = 8;

static TOKENIZER: LazyLock<&'static bpe_openai::Tokenizer> = LazyLock::new(bpe_openai::o200k_base);

/// Counts of shorter texts are made sooner than found.
const WORTH_KEEPING: usize = 200;

/// Prompts and histories come again with every call; their counts are kept.
static KEPT: LazyLock<Kept> = LazyLock::new(Kept::default);

/// In hundredths: how many tokens the wire's own models make of one of ours.
const fn factor(wire: Wire) -> u64 {
    match wire {
        Wire::Anthropic => 125,
        Wire::OpenAi | Wire::Offline => 100,
        Wire::Gemini => 110,
    }
}

pub fn count(wire: Wire, text: &str) -> u64 {
    let tokens = if text.len() < WORTH_KEEPING { counted(text) } else { KEPT.get(text, || counted(text)) };
    (tokens * factor(wire)).div_ceil(100)
}

fn counted(text: &str) -> u64 {
    TOKENIZER.count(text) as u64
}

/// What a message says, without pictures.
pub fn count_message(wire: Wire, message: &Message) -> u64 {
    message.parts.iter().map(|part| estimate_part(wire, part)).sum()
}

/// What a request is likely to use as input.
pub fn estimate_request(target: &Target, request: &ChatRequest) -> u64 {
    let wire = target.wire;
    let system: u64 = request.system.iter().map(|block| count(wire, block)).sum();
    let tools: u64 = request
        .tools
        .iter()
        .map(|tool| {
            count(wire, &tool.description) + count(wire, &tool.parameters.to_string()) + WRAPPING_TOKENS
        })
        .sum();
    let messages: u64 = request
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .map(|part| WRAPPING_TOKENS + estimate_part(wire, part))
        .sum();
    system + tools + messages
}

fn estimate_part(wire: Wire, part: &Part) -> u64 {
    match part {
        Part::Text { text } | Part::Thinking { text, .. } => count(wire, text),
        Part::Image(_) | Part::Document(_) => MEDIA_TOKENS,
        Part::ToolCall(call) => count(wire, &call.name) + count(wire, &call.arguments.to_string()),
        Part::ToolResult(result) => count(wire, &result.content),
        Part::SealedThinking { data } => count(wire, data),
        Part::State { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_counts_and_no_wire_counts_less_than_ours() {
        for text in ["hello", "नमस्ते दुकान", "வணக்கம்", "🙏"] {
            let plain = count(Wire::OpenAi, text);
            assert!(plain > 0 && count(Wire::Anthropic, text) >= plain && count(Wire::Gemini, text) >= plain);
        }
        assert_eq!(count(Wire::OpenAi, ""), 0);
    }

    #[test]
    fn a_longer_request_never_counts_less() {
        let target = crate::target::Target::offline();
        let mut request = ChatRequest { system: vec!["Be kind.".to_owned()], ..ChatRequest::default() };
        let mut last = estimate_request(&target, &request);
        for _ in 0..5 {
            request.messages.push(Message::user("how much does Ramesh owe me?"));
            let now = estimate_request(&target, &request);
            assert!(now > last);
            last = now;
        }
    }
}
