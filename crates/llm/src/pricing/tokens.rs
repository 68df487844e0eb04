//! Tokens counted here: before a call, to know what it may cost, and after one whose provider did not say.
//!
//! One tokenizer serves all; a fixed factor for each provider makes it err on the high side.

use std::sync::LazyLock;

use super::token_cache::TokenCountCache;
use crate::chat::{ChatMessage, ChatRequest, ModelMedia, ModelMediaSource, ModelMessagePart, ReplyFormat};
use crate::target::{ModelTarget, WireFormat};

/// What an image costs at most, and a page of a document with its picture.
const PAGE_TOKENS: u64 = 3_000;
/// A document that only the provider will see.
const UNSEEN_TOKENS: u64 = 32_000;
/// Of a document whose pages can't be counted.
const BYTES_A_TOKEN: u64 = 20;
/// The wrapping of a message, a tool, a call.
const WRAPPING_TOKENS: u64 = 8;

/// Counts of shorter texts are made sooner than found.
const WORTH_KEEPING: usize = 200;

/// Prompts and histories come again with every call; their counts are kept.
static KEPT: LazyLock<TokenCountCache> = LazyLock::new(TokenCountCache::default);

/// How many tokens a provider's models make of a hundred of ours, in Latin letters and in others. Ours is unusually
/// dense in Indian scripts, so the others' figures there are far higher; they are chosen to err on the high side and not
/// measured, since no provider's counter is at hand.
const fn factors(provider: &str, wire: WireFormat) -> (u64, u64) {
    match (provider.as_bytes(), wire) {
        (b"openai" | b"azure" | b"offline", _) | (_, WireFormat::Offline) => (100, 100),
        (b"google" | b"gemini", _) | (_, WireFormat::Gemini) => (110, 150),
        (b"anthropic", _) | (_, WireFormat::Anthropic) => (125, 300),
        _ => (125, 350),
    }
}

/// By OpenAI's own count: what is stored with a text, whoever will read it.
pub fn count_tokens(text: &str) -> u64 {
    if text.len() < WORTH_KEEPING {
        munshi_tokens::count(text)
    } else {
        KEPT.get_or_count(text, || munshi_tokens::count(text))
    }
}

/// What the text is likely to count as at a target.
pub fn count_tokens_for(target: &ModelTarget, text: &str) -> u64 {
    let (latin, other) = factors(target.provider_name(), target.wire);
    let bytes = text.len().max(1) as u64;
    let foreign = text.bytes().filter(|byte| !byte.is_ascii()).count() as u64;
    let factor = latin + (other - latin) * foreign / bytes;
    (count_tokens(text) * factor).div_ceil(100)
}

/// What a message says, without pictures.
pub fn count_message(target: &ModelTarget, message: &ChatMessage) -> u64 {
    message.parts.iter().map(|part| estimate_part(target, part)).sum()
}

/// What a request is likely to use as input.
pub fn estimate_request(target: &ModelTarget, request: &ChatRequest) -> u64 {
    let system: u64 = request.system.iter().map(|block| count_tokens_for(target, block)).sum();
    let tools = request.tools.iter().map(|tool| {
        let texts = [tool.name.as_str(), &tool.description, &tool.model_parameters().to_string()];
        texts.iter().map(|text| count_tokens_for(target, text)).sum::<u64>() + WRAPPING_TOKENS
    });
    let messages = request.messages.iter().flat_map(|message| &message.parts);
    let messages: u64 = messages.map(|part| WRAPPING_TOKENS + estimate_part(target, part)).sum();
    let form = match &request.output {
        ReplyFormat::Json { schema, .. } => count_tokens_for(target, &schema.to_string()) + WRAPPING_TOKENS,
        ReplyFormat::Text => 0,
    };
    system + tools.sum::<u64>() + messages + form
}

fn estimate_part(target: &ModelTarget, part: &ModelMessagePart) -> u64 {
    match part {
        ModelMessagePart::Text { text } | ModelMessagePart::Thinking { text, .. } => {
            count_tokens_for(target, text)
        }
        ModelMessagePart::Image(_) => PAGE_TOKENS,
        ModelMessagePart::Document(media) => estimate_document(target, media),
        ModelMessagePart::ToolCall(call) => {
            count_tokens_for(target, &call.name) + count_tokens_for(target, &call.arguments.to_string())
        }
        ModelMessagePart::ToolResult(result) => count_tokens_for(target, &result.content),
        ModelMessagePart::SealedThinking { data } => count_tokens_for(target, data),
        ModelMessagePart::State { .. } => 0,
    }
}

/// Text is counted; pages are, where the file says them openly, and reckoned by its size where not.
fn estimate_document(target: &ModelTarget, media: &ModelMedia) -> u64 {
    let ModelMediaSource::Data(data) = &media.source else { return UNSEEN_TOKENS };
    if let Ok(Some(text)) = crate::media::text(media) {
        return count_tokens_for(target, &text) + WRAPPING_TOKENS;
    }
    let bytes = crate::media::bytes(media).unwrap_or_default();
    let pages = memchr::memmem::find_iter(&bytes, b"/Type/Page").count()
        + memchr::memmem::find_iter(&bytes, b"/Type /Page").count();
    let by_size = data.len() as u64 / BYTES_A_TOKEN;
    (pages as u64 * PAGE_TOKENS).max(by_size).max(PAGE_TOKENS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(provider: &str, wire: WireFormat) -> ModelTarget {
        ModelTarget { price_provider: provider.to_owned(), ..ModelTarget::new("t", wire, "", "m") }
    }

    #[test]
    fn every_script_counts_and_no_provider_counts_less_than_ours() {
        let others = [
            ("anthropic", WireFormat::Anthropic),
            ("google", WireFormat::Gemini),
            ("mistral", WireFormat::OpenAi),
        ];
        for text in ["hello", "नमस्ते दुकान", "வணக்கம்", "🙏"] {
            assert!(count_tokens(text) > 0);
            for (provider, wire) in others {
                let theirs = count_tokens_for(&at(provider, wire), text);
                let factor = if text.is_ascii() { 1 } else { 3 };
                assert!(theirs * 2 >= count_tokens(text) * factor, "{provider} {text}");
            }
        }
        assert_eq!(count_tokens(""), 0);
        assert_eq!(count_tokens_for(&at("openai", WireFormat::OpenAi), "hello"), count_tokens("hello"));
    }

    #[test]
    fn a_document_counts_for_what_is_in_it() {
        use base64::Engine;
        let document = |media_type: &str, bytes: &[u8]| {
            let source = ModelMediaSource::Data(base64::engine::general_purpose::STANDARD.encode(bytes));
            let part = ModelMessagePart::Document(ModelMedia { media_type: media_type.to_owned(), source });
            estimate_part(&at("openai", WireFormat::OpenAi), &part)
        };
        let text = "a line of the ledger\n".repeat(10_000);
        assert!(document("text/plain", text.as_bytes()) > 40_000);
        assert!(document("application/pdf", "<< /Type /Page >>".repeat(100).as_bytes()) >= 300_000);
        assert!(document("application/pdf", b"%PDF") >= PAGE_TOKENS);
    }

    #[test]
    fn a_longer_request_never_counts_less() {
        let target = crate::target::ModelTarget::offline();
        let mut request = ChatRequest { system: vec!["Be kind.".to_owned()], ..ChatRequest::default() };
        let mut last = estimate_request(&target, &request);
        for _ in 0..5 {
            request.messages.push(ChatMessage::user("how much does Ramesh owe me?"));
            let now = estimate_request(&target, &request);
            assert!(now > last);
            last = now;
        }
    }
}
