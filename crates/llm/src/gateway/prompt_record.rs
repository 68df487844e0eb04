//! What is kept of a prompt: what it was made of, a hash of its text, and the text for those who want it.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::prompt_text::PromptText;
use crate::chat::{ChatRequest, ModelMediaSource, ModelMessagePart};

/// What is kept of a call's prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptRecord {
    /// Tokens of each section, what was cut and why; none for prompts that are not made of sections.
    pub sections: Option<Value>,
    /// Of the system's text, the messages and the names of the tools, in hex. The same prompt has the same.
    pub hash: String,
    /// Only where whoever asks keeps prompts. [`record`](crate::calls::record) does not store it.
    pub text: Option<PromptText>,
}

impl PromptRecord {
    pub fn new(request: &ChatRequest, sections: Option<Value>) -> Self {
        Self { sections, hash: hash_request(request), text: None }
    }

    /// The same with its text, to be stored by whoever stores the call.
    #[must_use]
    pub fn with_text(self, text: PromptText) -> Self {
        Self { text: Some(text), ..self }
    }
}

/// Each part with its length, so that no two prompts are cut into the same bytes.
fn hash_request(request: &ChatRequest) -> String {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(&(request.system.len() as u64).to_le_bytes());
    request.system.iter().for_each(|part| add(part.as_bytes()));
    for message in &request.messages {
        add(format!("{:?}", message.role).as_bytes());
        for part in &message.parts {
            match part {
                ModelMessagePart::Text { text } | ModelMessagePart::Thinking { text, .. } => {
                    add(text.as_bytes());
                }
                ModelMessagePart::Image(media) | ModelMessagePart::Document(media) => {
                    add(media.media_type.as_bytes());
                    match &media.source {
                        ModelMediaSource::Data(text) | ModelMediaSource::Url(text) => add(text.as_bytes()),
                    }
                }
                ModelMessagePart::ToolCall(call) => {
                    add(call.name.as_bytes());
                    add(call.arguments.to_string().as_bytes());
                }
                ModelMessagePart::ToolResult(result) => {
                    add(result.name.as_bytes());
                    add(result.content.as_bytes());
                }
                ModelMessagePart::SealedThinking { data } | ModelMessagePart::State { data } => {
                    add(data.as_bytes());
                }
            }
        }
    }
    request.tools.iter().for_each(|tool| add(tool.name.as_str().as_bytes()));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::ChatMessage;

    fn hash(system: &[&str], said: &[&str]) -> String {
        let system = system.iter().map(|&text| text.to_owned()).collect();
        let messages = said.iter().map(|text| ChatMessage::user(*text)).collect();
        hash_request(&ChatRequest { system, messages, ..ChatRequest::default() })
    }

    #[test]
    fn the_same_prompt_has_the_same_hash_and_no_other_has_it() {
        assert_eq!(hash(&["be kind"], &["hello"]), hash(&["be kind"], &["hello"]));
        assert_ne!(hash(&["be kind"], &["hello"]), hash(&["be kind"], &["hello!"]));
        assert_ne!(hash(&["be", "kind"], &[]), hash(&["bekind"], &[]));
        assert_ne!(hash(&["a"], &["b"]), hash(&["a", "b"], &[]));
    }
}
