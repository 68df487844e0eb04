//! What a turn brings along: the message, and what a file says is known and was said before.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use munshi_lang::detect;
use munshi_tiers::prompt::{
    FenceKey, PersonFact, PromptSpeaker, PromptTurn, RecallItem, TenantWord, TurnContext, TurnEnvelope,
    UntrustedText, UtteranceText,
};
use munshi_types::tier::LanguageCode;
use munshi_types::{Language, Script, TenantPacks};
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Deserialize;

/// More than this is no message, nor is it a file of what is known.
const LONGEST: u64 = 1 << 20;

/// What memory, documents and the conversation would bring, written down to try it out.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PromptFixture {
    /// What the visitor's page says of them.
    profile: Vec<String>,
    facts: Vec<Remembered>,
    recall: Vec<Found>,
    summary: Option<String>,
    /// The oldest first.
    history: Vec<Said>,
    /// What the tenant calls things.
    words: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Remembered {
    text: String,
    /// In thousandths.
    #[serde(default = "default_confidence")]
    confidence: u16,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    text: String,
    /// Where it stands, for a passage of a document.
    source: Option<String>,
    /// In thousandths.
    #[serde(default = "default_confidence")]
    score: u16,
}

const fn default_confidence() -> u16 {
    1_000
}

/// `{"person": "…"}` or `{"persona": "…"}`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    Person(String),
    Persona(String),
}

impl PromptFixture {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let file = std::fs::File::open(path)
            .map_err(|error| CommandFailure::not_found(format!("{shown} can't be read: {error}")))?;
        let text = read_bounded(file).map_err(|what| CommandFailure::usage(format!("{shown} {what}")))?;
        serde_json::from_str(&text).map_err(|error| {
            CommandFailure::usage(format!("{shown} is not a valid context file: {error}"))
                .hint("docs/prompt.md has an example")
        })
    }

    pub(super) fn into_turn_context(
        self,
        envelope: TurnEnvelope,
        message: UtteranceText,
        key: FenceKey,
    ) -> TurnContext {
        let recalled = |found: Found| match &found.source {
            Some(source) => RecallItem::passage(source, &found.text, found.score),
            None => RecallItem::episode(UntrustedText::new(&found.text), found.score),
        };
        let said = |said: Said| match said {
            Said::Person(text) => {
                PromptTurn { speaker: PromptSpeaker::Person, text: UtteranceText::new(&text) }
            }
            Said::Persona(text) => {
                PromptTurn { speaker: PromptSpeaker::Persona, text: UtteranceText::new(&text) }
            }
        };
        let fact = |fact: Remembered| PersonFact {
            text: UntrustedText::new(&fact.text),
            confidence: fact.confidence,
        };
        TurnContext {
            envelope,
            profile: self.profile.iter().map(|text| UntrustedText::new(text)).collect(),
            facts: self.facts.into_iter().map(fact).collect(),
            recall: self.recall.into_iter().map(recalled).collect(),
            summary: self.summary.as_deref().map(UntrustedText::new),
            history: self.history.into_iter().map(said).collect(),
            message,
            whispers: Vec::new(),
            exchanges: Vec::new(),
            tools: Vec::new(),
            packs: TenantPacks::all(),
            purposes: None,
            words: self.words.iter().map(|(thing, called)| TenantWord::new(thing, called)).collect(),
            key,
        }
    }
}

/// What the person writes; `-` reads it from standard input.
pub(super) fn message(given: &str) -> Result<UtteranceText> {
    let text = match given {
        "-" => read_bounded(std::io::stdin())
            .map_err(|what| CommandFailure::usage(format!("the message from standard input {what}")))?,
        text => text.to_owned(),
    };
    let spoken = UtteranceText::new(&text);
    if spoken.as_str().trim().is_empty() {
        return Err(CommandFailure::usage("the message is empty")
            .hint("pass it with --message \"…\", or - for standard input"));
    }
    Ok(spoken)
}

fn read_bounded(from: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = from.take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("can't be read: {error}"))?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("is longer than {LONGEST} bytes, the maximum of every channel"));
    }
    String::from_utf8(bytes).map_err(|_| "is not valid UTF-8".to_owned())
}

/// The language a message is in, where it is sure.
pub(super) fn detect_language(message: &str) -> Option<LanguageCode> {
    let found = detect(message).filter(munshi_lang::LanguageDetection::is_sure)?;
    let is_latin = found.script == Script::Latin && found.language != Language::English;
    let code = found.language.code();
    if is_latin { format!("{code}-latn").parse().ok() } else { code.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_told_with_its_letters() {
        let code = |text: &str| detect_language(text).map(|code| code.to_string());
        assert_eq!(code("bhai kal ka hisaab bata do").as_deref(), Some("hi-latn"));
        assert_eq!(code("மூணு நாளா தண்ணி வரல").as_deref(), Some("ta"));
        assert_eq!(code("could you send me the bill").as_deref(), Some("en"));
        assert_eq!(code("42"), None);
    }

    #[test]
    fn what_is_longer_than_any_message_is_refused() {
        assert!(read_bounded(std::io::repeat(b'a')).unwrap_err().contains("longer than"));
        assert!(read_bounded(&[0xff_u8][..]).unwrap_err().contains("UTF-8"));
    }
}
