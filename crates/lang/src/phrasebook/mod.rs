//! What the product says without a model, in every voice.
//!
//! A phrase has a name and, in each [`Locale`], a text with named slots. Core phrases are in `phrases/`; packs
//! bring their own files and [`Phrasebook::add`] them. [`Phrasebook::check`] holds all of them to one rule:
//! every phrase exists in every voice with the same slots, so that nobody gets half an answer.
//!
//! To add a phrase, add a line to every file of `phrases/`. To add phrases of another crate, write a file for each voice
//! and hand [`phrase_files!`](crate::phrase_files) to [`Phrasebook::add_files`].

mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::{Date, Time};
use munshi_types::Money;
use munshi_types::word_list::read_lines;

use crate::format::{self, Locale};
use template::PhraseTemplate;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PhraseError {
    #[error("line {line} of the {voice} phrases is invalid: {why}")]
    Unreadable { voice: String, line: usize, why: &'static str },
    #[error("the phrase `{phrase}` is in the {voice} phrases twice")]
    Twice { phrase: String, voice: String },
    #[error("there is no phrase `{0}`: add it to every phrase file")]
    Unknown(String),
    #[error("the phrase `{phrase}` has no {voice} text")]
    Missing { phrase: String, voice: String },
    #[error("the placeholders of phrase `{phrase}` in {voice} differ from the other languages")]
    Slots { phrase: String, voice: String },
    #[error("the phrase `{phrase}` needs a value for `{slot}`")]
    Unfilled { phrase: String, slot: String },
}

/// What fills a slot; each kind is written as the voice writes it.
#[derive(Clone, Copy, Debug)]
pub enum PlaceholderValue<'f> {
    Text(&'f str),
    Money(Money),
    /// Also picks between one and many.
    Count(u64),
    Day(Date),
    Time(Time),
}

impl PlaceholderValue<'_> {
    fn write(self, voice: Locale, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Money(amount) => out.push_str(&format::rupees(amount)),
            Self::Count(count) => out.push_str(&format::group_digits(count)),
            Self::Day(day) => out.push_str(&format::date(day, voice)),
            Self::Time(time) => out.push_str(&format::time(time, voice)),
        }
    }
}

/// Phrases by name and voice. Read-only once built; a clone shares its phrases.
#[derive(Clone, Debug, Default)]
pub struct Phrasebook {
    phrases: BTreeMap<Arc<str>, Arc<BTreeMap<Locale, PhraseTemplate>>>,
}

/// The phrase files of a folder, one for each voice, as they are when the program is built. The folder is named as seen
/// from the file that asks: `phrase_files!("../phrases")`.
#[macro_export]
macro_rules! phrase_files {
    ($folder:literal) => {
        $crate::phrase_files!($folder,
            English Latin "en",
            Hindi Native "hi", Hindi Latin "hi-latn",
            Bengali Native "bn", Bengali Latin "bn-latn",
            Gujarati Native "gu", Gujarati Latin "gu-latn",
            Kannada Native "kn", Kannada Latin "kn-latn",
            Malayalam Native "ml", Malayalam Latin "ml-latn",
            Marathi Native "mr", Marathi Latin "mr-latn",
            Odia Native "or", Odia Latin "or-latn",
            Punjabi Native "pa", Punjabi Latin "pa-latn",
            Tamil Native "ta", Tamil Latin "ta-latn",
            Telugu Native "te", Telugu Latin "te-latn",
        )
    };
    ($folder:literal, $($language:ident $form:ident $code:literal,)*) => {
        [$((
            $crate::Locale { language: $crate::Language::$language, form: $crate::ScriptForm::$form },
            include_str!(concat!($folder, "/", $code, ".txt")),
        )),*]
    };
}

impl Phrasebook {
    /// The phrases the core says: questions back, fallbacks, confirmations, greetings, errors.
    pub fn core() -> Result<Self, PhraseError> {
        let mut book = Self::default();
        book.add_files(&crate::phrase_files!("../../phrases"))?;
        Ok(book)
    }

    /// Adds the files that [`phrase_files!`](crate::phrase_files) names.
    pub fn add_files(&mut self, files: &[(Locale, &str)]) -> Result<(), PhraseError> {
        files.iter().try_for_each(|(voice, text)| self.add(*voice, text))
    }

    /// Adds a file of phrases in one voice. A pack names its own with its prefix: `ledger-sale-recorded`.
    pub fn add(&mut self, voice: Locale, text: &str) -> Result<(), PhraseError> {
        for line in read_lines(text) {
            let unreadable = |why| PhraseError::Unreadable { voice: voice.code(), line: line.number, why };
            let (name, text) = line.text.split_once(" = ").ok_or_else(|| unreadable("it has no ` = `"))?;
            let template = PhraseTemplate::parse(text.trim()).map_err(unreadable)?;
            let name = name.trim();
            let voices = self.phrases.entry(name.into()).or_default();
            if voices.contains_key(&voice) {
                return Err(PhraseError::Twice { phrase: name.to_owned(), voice: voice.code() });
            }
            Arc::make_mut(voices).insert(voice, template);
        }
        Ok(())
    }

    /// Adds every phrase of another book. None may be in both.
    pub fn add_book(&mut self, other: &Self) -> Result<(), PhraseError> {
        if let Some((name, known)) = self.phrases.iter().find(|(name, _)| other.phrases.contains_key(*name)) {
            let voice = known.keys().next().map(|voice| voice.code()).unwrap_or_default();
            return Err(PhraseError::Twice { phrase: name.to_string(), voice });
        }
        self.phrases.extend(other.phrases.clone());
        Ok(())
    }

    /// Whether every phrase exists in every voice with the same slots.
    pub fn check(&self) -> Result<(), PhraseError> {
        for (name, voices) in &self.phrases {
            let mut expected: Option<BTreeSet<&str>> = None;
            for voice in Locale::all() {
                let missing = || PhraseError::Missing { phrase: name.to_string(), voice: voice.code() };
                let slots = voices.get(&voice).ok_or_else(missing)?.placeholders();
                if *expected.get_or_insert_with(|| slots.clone()) != slots {
                    return Err(PhraseError::Slots { phrase: name.to_string(), voice: voice.code() });
                }
            }
        }
        Ok(())
    }

    /// The names of all phrases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.phrases.keys().map(AsRef::as_ref)
    }

    /// The slots a phrase has.
    pub fn placeholders(&self, name: &str) -> BTreeSet<&str> {
        let any = self.phrases.get(name).and_then(|voices| voices.values().next());
        any.map(PhraseTemplate::placeholders).unwrap_or_default()
    }

    /// A phrase with its slots filled, in a voice.
    pub fn render(
        &self,
        name: &str,
        voice: Locale,
        fills: &[(&str, PlaceholderValue<'_>)],
    ) -> Result<String, PhraseError> {
        let voices = self.phrases.get(name).ok_or_else(|| PhraseError::Unknown(name.to_owned()))?;
        let missing = || PhraseError::Missing { phrase: name.to_owned(), voice: voice.code() };
        let template = voices.get(&voice).ok_or_else(missing)?;
        template
            .fill(voice, fills)
            .map_err(|slot| PhraseError::Unfilled { phrase: name.to_owned(), slot: slot.to_owned() })
    }
}

#[cfg(test)]
mod tests;
