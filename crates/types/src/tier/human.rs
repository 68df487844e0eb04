//! The human: the character people meet.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::GuardrailRef;
use crate::language::Language;

/// Who speaks. Owns identity, tone and language; what may happen is for the team and the agent to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Human {
    /// As people see it: `Meera`.
    pub name: String,
    /// Who it is and for whom, in a sentence or two: the first words after the soul.
    pub identity: String,
    /// What it has lived through, as prose. Never trimmed, never touched: the same bytes in and out.
    #[serde(default)]
    pub soul: String,
    #[serde(default)]
    pub voice: HumanVoice,
    #[serde(default)]
    pub speech: HumanLanguages,
    /// The weakness that makes it somebody, and that is of use.
    #[serde(default)]
    pub flaw: String,
    /// What it never does, each a sentence.
    #[serde(default)]
    pub nevers: Vec<String>,
    #[serde(default)]
    pub guardrails: Vec<GuardrailRef>,
    /// Pattern rules of its own, as they were written; those who check replies read them.
    #[serde(default)]
    pub rules: Vec<Value>,
}

/// How it sounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HumanVoice {
    pub tone: String,
    /// How long its sentences are, in words: `short; one thought each`.
    pub sentences: String,
    pub humour: String,
    /// What it likes to say.
    pub phrases: Vec<String>,
    /// What it would never say.
    pub avoids: Vec<String>,
}

/// Which languages it speaks and how it moves between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HumanLanguages {
    /// The first is where it begins.
    pub languages: Vec<LanguageCode>,
    pub lock: LanguageLock,
    /// How languages mix, in a sentence: `Hinglish; pure English only to a whole English sentence`.
    pub mixing: String,
    /// Whose idiom it is: `Hyderabadi English`.
    pub culture: String,
}

impl Default for HumanLanguages {
    fn default() -> Self {
        Self {
            languages: vec![LanguageCode("en".to_owned())],
            lock: LanguageLock::default(),
            mixing: String::new(),
            culture: String::new(),
        }
    }
}

/// How far a person's own language may lead it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LanguageLock {
    /// The person's language, whichever it is.
    Open,
    /// The person's language where it is listed, else the first.
    #[default]
    Listed,
    /// Always the first. Money and safety texts still come in the person's own language.
    First,
}

/// A language by its ISO 639 code, such as `hi`; `hi-latn` is the same in Latin letters. It may be one that the
/// product does not speak by itself and leaves to the model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LanguageCode(String);

impl LanguageCode {
    const LATIN: &str = "-latn";

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The language, where it is one of those the product speaks by itself.
    pub fn language(&self) -> Option<Language> {
        self.0.trim_end_matches(Self::LATIN).parse().ok()
    }

    /// Whether it is written in Latin letters though its own are others.
    pub fn is_latin(&self) -> bool {
        self.0.ends_with(Self::LATIN)
    }
}

impl FromStr for LanguageCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let base = text.strip_suffix(Self::LATIN).unwrap_or(text);
        let fits = (2..=3).contains(&base.len()) && base.bytes().all(|byte| byte.is_ascii_lowercase());
        if fits {
            return Ok(Self(text.to_owned()));
        }
        Err(format!(
            "`{text}` is not a language code: use one such as hi, ta or en, or hi-latn for Latin script"
        ))
    }
}

impl TryFrom<String> for LanguageCode {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<LanguageCode> for String {
    fn from(code: LanguageCode) -> Self {
        code.0
    }
}

impl fmt::Display for LanguageCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_may_be_one_the_product_does_not_speak() {
        let code = |text: &str| text.parse::<LanguageCode>();
        assert_eq!(code("hi").unwrap().language(), Some(Language::Hindi));
        assert_eq!(code("hi-latn").unwrap().language(), Some(Language::Hindi));
        assert!(code("hi-latn").unwrap().is_latin() && !code("hi").unwrap().is_latin());
        assert_eq!(code("ar").unwrap().language(), None);
        for bad in ["", "h", "HI", "hindi", "hi-deva", "-latn"] {
            assert!(code(bad).is_err(), "{bad}");
        }
    }
}
