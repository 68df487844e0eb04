//! A prompt as somebody reads it.

use serde::{Deserialize, Serialize};

use crate::chat::{ChatMessage, ChatRequest, ModelMessagePart, ModelRole};

/// In bytes, over all messages of one prompt. No budget of a turn pays for as much.
const LONGEST: usize = 1 << 20;

/// The words of a prompt: without the bytes of pictures and documents, and without what a model thought or wants back, which is of use to
/// that model alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptText {
    pub messages: Vec<PromptTextMessage>,
    /// The names of the tools that were offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// It was longer than what is kept of one; the oldest messages are missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Something stood in it that is not to be kept anywhere, so nothing of it is here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_withheld: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptTextMessage {
    pub role: PromptTextRole,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptTextRole {
    System,
    User,
    Assistant,
    Tool,
}

impl PromptText {
    pub fn of(request: &ChatRequest) -> Self {
        let to_system =
            |text: &String| PromptTextMessage { role: PromptTextRole::System, text: text.clone() };
        let system = request.system.iter().map(to_system);
        let said = request.messages.iter().flat_map(render_message);
        let tools = request.tools.iter().map(|tool| tool.name.as_str().to_owned()).collect();
        let (messages, is_cut) = keep_newest(system.collect(), said.collect());
        Self { messages, tools, is_cut, is_withheld: false }
    }

    /// That there was a prompt, and nothing of it.
    pub fn withheld() -> Self {
        Self { is_withheld: true, ..Self::default() }
    }
}

/// What frames a conversation, and as much of its end as fits.
fn keep_newest(
    mut frame: Vec<PromptTextMessage>,
    said: Vec<PromptTextMessage>,
) -> (Vec<PromptTextMessage>, bool) {
    let mut left = LONGEST;
    let mut fits = |message: &PromptTextMessage| match left.checked_sub(message.text.len()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let count = frame.len() + said.len();
    frame.retain(&mut fits);
    let first = said.iter().rposition(|message| !fits(message)).map_or(0, |last| last + 1);
    frame.extend(said.into_iter().skip(first));
    let is_cut = frame.len() < count;
    (frame, is_cut)
}

/// What was said, and apart from it each answer of a tool.
fn render_message(message: &ChatMessage) -> Vec<PromptTextMessage> {
    let role = match message.role {
        ModelRole::User => PromptTextRole::User,
        ModelRole::Assistant => PromptTextRole::Assistant,
    };
    let (mut said, mut rendered) = (Vec::new(), Vec::new());
    for part in &message.parts {
        match part {
            ModelMessagePart::Text { text } => said.push(text.clone()),
            ModelMessagePart::Image(media) | ModelMessagePart::Document(media) => {
                said.push(format!("[{}]", media.media_type));
            }
            ModelMessagePart::ToolCall(call) => said.push(format!("{} {}", call.name, call.arguments)),
            ModelMessagePart::ToolResult(result) => {
                let text = format!("{} {}", result.name, result.content);
                rendered.push(PromptTextMessage { role: PromptTextRole::Tool, text });
            }
            ModelMessagePart::Thinking { .. }
            | ModelMessagePart::SealedThinking { .. }
            | ModelMessagePart::State { .. } => {}
        }
    }
    if !said.is_empty() {
        rendered.push(PromptTextMessage { role, text: said.join("\n") });
    }
    rendered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{ModelMedia, ModelMediaSource, ToolCall, ToolResult};
    use serde_json::json;

    fn assistant(parts: Vec<ModelMessagePart>) -> ChatMessage {
        ChatMessage { role: ModelRole::Assistant, parts }
    }

    #[test]
    fn a_prompt_is_read_without_pictures_and_thoughts() {
        let call =
            ToolCall { id: "1".to_owned(), name: "find".to_owned(), arguments: json!({ "q": "rice" }) };
        let result = ToolResult {
            call_id: "1".to_owned(),
            name: "find".to_owned(),
            content: "{\"kg\":2}".to_owned(),
            is_error: false,
        };
        let picture = ModelMedia {
            media_type: "image/jpeg".to_owned(),
            source: ModelMediaSource::Data("QUJD".to_owned()),
        };
        let thought = ModelMessagePart::Thinking { text: "hm".to_owned(), signature: None };
        let request = ChatRequest {
            system: vec!["Be kind.".to_owned()],
            messages: vec![
                ChatMessage {
                    role: ModelRole::User,
                    parts: vec![
                        ModelMessagePart::Text { text: "how much?".to_owned() },
                        ModelMessagePart::Image(picture),
                    ],
                },
                assistant(vec![thought, ModelMessagePart::ToolCall(call)]),
                ChatMessage { role: ModelRole::User, parts: vec![ModelMessagePart::ToolResult(result)] },
                assistant(vec![ModelMessagePart::State { data: "x".to_owned() }]),
            ],
            ..ChatRequest::default()
        };
        let text = PromptText::of(&request);
        let told: Vec<_> =
            text.messages.iter().map(|message| (message.role, message.text.as_str())).collect();
        assert_eq!(
            told,
            [
                (PromptTextRole::System, "Be kind."),
                (PromptTextRole::User, "how much?\n[image/jpeg]"),
                (PromptTextRole::Assistant, "find {\"q\":\"rice\"}"),
                (PromptTextRole::Tool, "find {\"kg\":2}"),
            ]
        );
        assert!(!text.is_cut && !text.is_withheld);
        let stored = serde_json::to_value(&text).unwrap();
        assert_eq!(serde_json::from_value::<PromptText>(stored).unwrap(), text);
    }

    #[test]
    fn of_a_prompt_that_is_too_long_its_frame_and_its_end_are_kept() {
        let messages = [LONGEST / 2, LONGEST / 2, 1, 1].map(|length| ChatMessage::user("x".repeat(length)));
        let request = ChatRequest {
            system: vec!["Be kind.".to_owned()],
            messages: messages.into(),
            ..ChatRequest::default()
        };
        let text = PromptText::of(&request);
        let lengths: Vec<usize> = text.messages.iter().map(|message| message.text.len()).collect();
        assert_eq!(lengths, ["Be kind.".len(), LONGEST / 2, 1, 1]);
        assert!(text.is_cut);
    }
}
