//! An open question, carried over turns as opaque text in the assistant's message.
//!
//! The text comes back through stores and channels, so it is believed no more than a message: what can't be read, is
//! too long, or names a tool that is not offered is as if it were not there.

use munshi_lang::Locale;
use munshi_llm::{ChatRequest, ModelMessagePart, ModelRole};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Longer state is neither written nor read.
const MOST: usize = 8 * 1024;

/// Raised when the form changes; another number is as if nothing were there.
const VERSION: u8 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OfflineQuestion {
    #[serde(rename = "offline")]
    version: u8,
    pub wants: OfflineQuestionKind,
    /// The tools it is about; one unless the question is which.
    pub tools: Vec<String>,
    pub arguments: Map<String, Value>,
    /// The voice of the question, as its code.
    voice: String,
    /// How often it was asked in vain.
    pub tries: u8,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OfflineQuestionKind {
    /// A field, and the readings to choose from where there are several.
    Field { name: String, choices: Vec<Value> },
    /// Yes or no.
    GoAhead,
    /// Which of the tools; the message that left it open.
    Tool { said: String },
}

impl OfflineQuestion {
    pub(crate) fn new(
        wants: OfflineQuestionKind,
        tools: Vec<String>,
        arguments: Map<String, Value>,
        voice: Locale,
    ) -> Self {
        Self { version: VERSION, wants, tools, arguments, voice: voice.code(), tries: 0 }
    }

    pub(crate) fn voice(&self) -> Option<Locale> {
        Locale::all().find(|voice| voice.code() == self.voice)
    }

    /// As text; none when it would be too long, and then the question is simply not remembered.
    pub(crate) fn write(&self) -> Option<String> {
        serde_json::to_string(self).ok().filter(|text| text.len() <= MOST)
    }

    fn read(text: &str) -> Option<Self> {
        let open: Self = (text.len() <= MOST).then(|| serde_json::from_str(text).ok())??;
        (open.version == VERSION && !open.tools.is_empty()).then_some(open)
    }

    /// The question the last message answers: the one in the assistant's message right before it.
    pub(crate) fn find(request: &ChatRequest) -> Option<Self> {
        let before = request.messages.len().checked_sub(2)?;
        let message = request.messages.get(before).filter(|message| message.role == ModelRole::Assistant)?;
        message.parts.iter().rev().find_map(|part| match part {
            ModelMessagePart::State { data } => Self::read(data),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_lang::ScriptForm;
    use munshi_types::Language;

    #[test]
    fn what_is_written_is_read_and_nothing_else_is() {
        let voice = Locale::new(Language::Hindi, ScriptForm::Latin);
        let wants = OfflineQuestionKind::Field { name: "amount".to_owned(), choices: Vec::new() };
        let open = OfflineQuestion::new(wants, vec!["credit_given".to_owned()], Map::new(), voice);
        assert_eq!(OfflineQuestion::read(&open.write().unwrap()), Some(open.clone()));
        assert_eq!(open.voice(), Some(voice));
        for garbage in ["", "{}", "null", "{\"offline\":2}", "x", "[1]"] {
            assert_eq!(OfflineQuestion::read(garbage), None, "{garbage}");
        }
        let long = OfflineQuestion { tools: vec!["x".repeat(MOST)], ..open };
        assert_eq!(long.write(), None);
    }
}
