//! The eleven languages the product speaks, and the scripts they are written in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A language the product speaks by itself; others go through the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Language {
    #[serde(rename = "en")]
    English,
    #[serde(rename = "hi")]
    Hindi,
    #[serde(rename = "bn")]
    Bengali,
    #[serde(rename = "gu")]
    Gujarati,
    #[serde(rename = "kn")]
    Kannada,
    #[serde(rename = "ml")]
    Malayalam,
    #[serde(rename = "mr")]
    Marathi,
    #[serde(rename = "or")]
    Odia,
    #[serde(rename = "pa")]
    Punjabi,
    #[serde(rename = "ta")]
    Tamil,
    #[serde(rename = "te")]
    Telugu,
}

/// What a text is written in. One block of Unicode each; Latin also carries English.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Script {
    Latin,
    Devanagari,
    Bengali,
    Gujarati,
    Kannada,
    Malayalam,
    Odia,
    Gurmukhi,
    Tamil,
    Telugu,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a supported language: use one of en hi bn gu kn ml mr or pa ta te")]
pub struct LanguageError(String);

impl Language {
    pub const ALL: [Self; 11] = [
        Self::English,
        Self::Hindi,
        Self::Bengali,
        Self::Gujarati,
        Self::Kannada,
        Self::Malayalam,
        Self::Marathi,
        Self::Odia,
        Self::Punjabi,
        Self::Tamil,
        Self::Telugu,
    ];

    /// The ISO 639-1 code, as stored and sent.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Hindi => "hi",
            Self::Bengali => "bn",
            Self::Gujarati => "gu",
            Self::Kannada => "kn",
            Self::Malayalam => "ml",
            Self::Marathi => "mr",
            Self::Odia => "or",
            Self::Punjabi => "pa",
            Self::Tamil => "ta",
            Self::Telugu => "te",
        }
    }

    /// The script its own readers expect.
    pub const fn script(self) -> Script {
        match self {
            Self::English => Script::Latin,
            Self::Hindi | Self::Marathi => Script::Devanagari,
            Self::Bengali => Script::Bengali,
            Self::Gujarati => Script::Gujarati,
            Self::Kannada => Script::Kannada,
            Self::Malayalam => Script::Malayalam,
            Self::Odia => Script::Odia,
            Self::Punjabi => Script::Gurmukhi,
            Self::Tamil => Script::Tamil,
            Self::Telugu => Script::Telugu,
        }
    }

    /// Its place in [`Language::ALL`], for tables and bit sets.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl Script {
    pub const ALL: [Self; 10] = [
        Self::Latin,
        Self::Devanagari,
        Self::Bengali,
        Self::Gujarati,
        Self::Kannada,
        Self::Malayalam,
        Self::Odia,
        Self::Gurmukhi,
        Self::Tamil,
        Self::Telugu,
    ];

    /// The script a letter belongs to; none for digits of ASCII, punctuation, emoji and other alphabets.
    pub const fn from_char(letter: char) -> Option<Self> {
        match letter {
            'a'..='z'
            | 'A'..='Z'
            | '\u{C0}'..='\u{24F}'
            | '\u{1E00}'..='\u{1EFF}'
            | '\u{2C60}'..='\u{2C7F}' => Some(Self::Latin),
            // The danda closes a sentence in every Indic script.
            '\u{964}' | '\u{965}' => None,
            '\u{900}'..='\u{97F}' => Some(Self::Devanagari),
            '\u{980}'..='\u{9FF}' => Some(Self::Bengali),
            '\u{A00}'..='\u{A7F}' => Some(Self::Gurmukhi),
            '\u{A80}'..='\u{AFF}' => Some(Self::Gujarati),
            '\u{B00}'..='\u{B7F}' => Some(Self::Odia),
            '\u{B80}'..='\u{BFF}' => Some(Self::Tamil),
            '\u{C00}'..='\u{C7F}' => Some(Self::Telugu),
            '\u{C80}'..='\u{CFF}' => Some(Self::Kannada),
            '\u{D00}'..='\u{D7F}' => Some(Self::Malayalam),
            _ => None,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Language {
    type Err = LanguageError;

    /// Reads a code, with or without a region or script (`hi`, `hi-IN`, `ta-Latn`).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let code = text.split(['-', '_']).next().unwrap_or_default();
        Self::ALL
            .into_iter()
            .find(|language| language.code().eq_ignore_ascii_case(code))
            .ok_or_else(|| LanguageError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_back_and_strangers_refused() {
        for language in Language::ALL {
            assert_eq!(language.code().parse::<Language>().unwrap(), language);
            assert_eq!(serde_json::to_value(language).unwrap(), language.code());
            assert_eq!(Language::ALL[language.index()], language);
        }
        assert_eq!("hi-IN".parse::<Language>().unwrap(), Language::Hindi);
        for stranger in ["", "xx", "hindi", "-hi"] {
            assert!(stranger.parse::<Language>().is_err(), "{stranger}");
        }
    }

    #[test]
    fn letters_tell_their_script() {
        for (letter, script) in [
            ('a', Some(Script::Latin)),
            ('क', Some(Script::Devanagari)),
            ('ৰ', Some(Script::Bengali)),
            ('ੳ', Some(Script::Gurmukhi)),
            ('ഴ', Some(Script::Malayalam)),
            ('।', None),
            ('7', None),
            ('😀', None),
            ('ع', None),
        ] {
            assert_eq!(Script::from_char(letter), script, "{letter}");
        }
    }
}
