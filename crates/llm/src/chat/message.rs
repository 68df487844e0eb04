//! One turn of a conversation, in parts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    User,
    Assistant,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatMessage {
    pub role: ModelRole,
    pub parts: Vec<ModelMessagePart>,
}

/// Tool results are parts of a user's message, as on Anthropic's wire; the others take them apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum ModelMessagePart {
    Text {
        text: String,
    },
    Image(ModelMedia),
    Document(ModelMedia),
    ToolCall(ToolCall),
    ToolResult(ToolResult),
    /// What the model thought; the signature goes back unchanged or the provider refuses the conversation.
    Thinking {
        text: String,
        signature: Option<String>,
    },
    /// Thinking the provider keeps to itself; goes back unchanged.
    SealedThinking {
        data: String,
    },
    /// A provider's own state that must go back with its message, such as the offline model's open question.
    State {
        data: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelMedia {
    /// `image/jpeg`, `application/pdf`.
    pub media_type: String,
    #[serde(flatten)]
    pub source: ModelMediaSource,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelMediaSource {
    /// Base64, as every wire wants it.
    Data(String),
    Url(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id; its result carries the same.
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call_id: String,
    /// The tool's name: Gemini asks for it, the others don't mind.
    pub name: String,
    pub content: String,
    pub is_error: bool,
}

impl ChatMessage {
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: ModelRole::User, parts: vec![ModelMessagePart::Text { text: text.into() }] }
    }

    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: ModelRole::Assistant, parts: vec![ModelMessagePart::Text { text: text.into() }] }
    }

    /// How long it is, without pictures and documents.
    pub fn byte_len(&self) -> u64 {
        let sizes = self.parts.iter().map(|part| match part {
            ModelMessagePart::Text { text } | ModelMessagePart::Thinking { text, .. } => text.len(),
            ModelMessagePart::ToolCall(call) => call.name.len() + call.arguments.to_string().len(),
            ModelMessagePart::ToolResult(result) => result.content.len(),
            _ => 0,
        });
        sizes.sum::<usize>() as u64
    }

    /// All its text parts, one after another.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            ModelMessagePart::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}
