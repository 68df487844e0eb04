//! What people are asked to agree to: purposes, in the words that are put to them.

use std::collections::BTreeMap;

use munshi_types::ConsentPurposeName;
use munshi_types::tier::LanguageCode;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};

/// Ten years: by then nobody knows what they agreed to.
pub(super) const MOST_DAYS: u32 = 3_650;
/// In letters.
pub(super) const LONGEST_WORDS: usize = 2_000;

/// The purposes of a tenant. A tool that names another one is not offered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConsentRules {
    pub purposes: BTreeMap<ConsentPurposeName, ConsentPurpose>,
}

impl ConsentRules {
    /// Whether a tool that names this may be offered.
    pub fn declares(&self, purpose: Option<&ConsentPurposeName>) -> bool {
        purpose.is_none_or(|purpose| self.purposes.contains_key(purpose))
    }

    /// Whether people are asked for this purpose in these words today. Who agreed to others, or for another time, has not agreed to these.
    pub fn asks_so(&self, purpose: &ConsentPurposeName, wording: &ConsentWording) -> bool {
        self.purposes.get(purpose).is_some_and(|purpose| purpose.wordings().any(|known| known == *wording))
    }
}

/// What somebody agrees to, by its hash: the words, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ConsentWording(String);

impl ConsentWording {
    pub fn compute(words: &str, days: u32) -> Self {
        let hash = Sha256::new().chain_update(days.to_be_bytes()).chain_update(words).finalize();
        Self(hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }

    /// As it is stored.
    pub(crate) fn from_stored(text: String) -> Self {
        Self(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// One purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsentPurpose {
    /// How long a consent is good for.
    #[serde(deserialize_with = "deserialize_days")]
    pub days: u32,
    #[serde(deserialize_with = "deserialize_words")]
    pub words: ConsentWords,
}

/// What is put to the person, to the letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ConsentWords {
    /// To everybody.
    One(String),
    /// To each in their language.
    ByLanguage(BTreeMap<LanguageCode, String>),
}

impl ConsentPurpose {
    /// The words for somebody who speaks a language, and which language they are in where the policy says that: theirs, else the same
    /// in another script, else English, else the first there are.
    pub fn choose_words(&self, spoken: Option<&LanguageCode>) -> (&str, Option<&LanguageCode>) {
        let texts = match &self.words {
            ConsentWords::One(text) => return (text, None),
            ConsentWords::ByLanguage(texts) => texts,
        };
        let same = |code: &LanguageCode| {
            let language = |code: &LanguageCode| code.as_str().split('-').next().map(str::to_owned);
            spoken.is_some_and(|spoken| language(code) == language(spoken))
        };
        let english = |code: &LanguageCode| code.as_str() == "en";
        let exact = spoken.and_then(|spoken| texts.get_key_value(spoken));
        let chosen = exact
            .or_else(|| texts.iter().find(|(code, _)| same(code)))
            .or_else(|| texts.iter().find(|(code, _)| english(code)))
            .or_else(|| texts.iter().next());
        chosen.map_or(("", None), |(code, text)| (text.as_str(), Some(code)))
    }

    pub(super) fn holds_nul(&self) -> bool {
        self.texts().any(|text| text.contains('\0'))
    }

    /// Each of its texts, in whichever language.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let (one, by_language) = match &self.words {
            ConsentWords::One(text) => (Some(text), None),
            ConsentWords::ByLanguage(texts) => (None, Some(texts.values())),
        };
        one.into_iter().chain(by_language.into_iter().flatten()).map(String::as_str)
    }

    fn wordings(&self) -> impl Iterator<Item = ConsentWording> {
        self.texts().map(|text| ConsentWording::compute(text, self.days))
    }
}

fn deserialize_days<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let given = i64::deserialize(deserializer)?;
    let fits = u32::try_from(given).ok().filter(|days| (1..=MOST_DAYS).contains(days));
    fits.ok_or_else(|| serde::de::Error::custom(format!("a consent must be valid for 1 to {MOST_DAYS} days")))
}

fn deserialize_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ConsentWords, D::Error> {
    let words = ConsentWords::deserialize(deserializer)?;
    let fits = |text: &String| !text.trim().is_empty() && text.chars().count() <= LONGEST_WORDS;
    let is_sound = match &words {
        ConsentWords::One(text) => fits(text),
        ConsentWords::ByLanguage(texts) => !texts.is_empty() && texts.values().all(fits),
    };
    if is_sound {
        return Ok(words);
    }
    let what = format!(
        "the words of a purpose must be a text, or one for each language, of 1 to {LONGEST_WORDS} letters"
    );
    Err(serde::de::Error::custom(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> LanguageCode {
        text.parse().unwrap()
    }

    #[test]
    fn everybody_is_asked_in_words_they_can_read() {
        let texts = [("en", "English"), ("hi", "Hindi"), ("mr", "Marathi")];
        let texts = texts.map(|(language, text)| (code(language), text.to_owned())).into();
        let purpose = ConsentPurpose { days: 1, words: ConsentWords::ByLanguage(texts) };
        for (spoken, expected) in
            [(Some("hi"), "Hindi"), (Some("hi-latn"), "Hindi"), (Some("ta"), "English"), (None, "English")]
        {
            let (words, language) = purpose.choose_words(spoken.map(code).as_ref());
            assert_eq!(words, expected);
            assert!(language.is_some());
        }
        let one = ConsentPurpose { days: 1, words: ConsentWords::One("All".to_owned()) };
        assert_eq!(one.choose_words(Some(&code("ta"))), ("All", None));
    }

    #[test]
    fn other_words_or_another_time_are_another_wording() {
        let rules = |days: u32, words: &str| {
            let text = format!("[consent.purposes.credit_check]\ndays = {days}\nwords = {words}\n");
            super::super::parse(&text).unwrap().consent
        };
        let (purpose, other) = ("credit_check".parse().unwrap(), "marketing".parse().unwrap());
        let agreed = ConsentWording::compute("May we?", 30);
        for (days, words, holds) in [
            (30, "\"May we?\"", true),
            (30, "{ hi = \"क्या हम?\", en = \"May we?\" }", true),
            (31, "\"May we?\"", false),
            (30, "\"May we ask everybody?\"", false),
            (30, "{ hi = \"क्या हम?\" }", false),
        ] {
            let rules = rules(days, words);
            assert_eq!(rules.asks_so(&purpose, &agreed), holds, "{days} {words}");
            assert!(!rules.asks_so(&other, &agreed));
        }
    }

    #[test]
    fn what_nobody_can_agree_to_is_no_purpose() {
        let read = |text: &str| super::super::parse(text).map(|policy| policy.consent.purposes.len());
        assert_eq!(read("[consent.purposes.credit_check]\ndays = 90\nwords = \"May we ask?\"\n").unwrap(), 1);
        for (text, what) in [
            ("[consent.purposes.a]\nwords = \"x\"\n", "days"),
            ("[consent.purposes.a]\ndays = 0\nwords = \"x\"\n", "1 to 3650 days"),
            ("[consent.purposes.a]\ndays = 1\nwords = \" \"\n", "the words of a purpose"),
            ("[consent.purposes.a]\ndays = 1\nwords = {}\n", "the words of a purpose"),
            ("[consent.purposes.\"A b\"]\ndays = 1\nwords = \"x\"\n", "not a valid purpose"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
