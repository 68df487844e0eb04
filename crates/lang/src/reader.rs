//! A message with what its readers need to know of it: tokens, languages, words with their endings.

use munshi_types::Language;

use crate::fold;
use crate::lexicon::{self, Languages, Meaning};
use crate::token::Token;

/// Case endings of all the languages, as the fold leaves them: rupaiku, kilola, rupiaman.
const ENDINGS: &[&str] = &[
    "ku", "uku", "iku", "ki", "ke", "ge", "ige", "la", "li", "lo", "le", "lu", "na", "ne", "ni", "nu", "no",
    "ma", "man", "mam", "thi", "cha", "chi", "che", "chya", "chia", "anna", "ana", "ra", "re", "r", "er",
    "te", "t", "at", "ta", "il", "in", "ai", "um", "inu", "nte", "da", "di", "de", "an", "on", "o", "e", "a",
    "s", "galu", "kal", "gal",
];

pub(crate) struct Reader<'t> {
    pub tokens: Vec<Token<'t>>,
    /// The languages the message may be in, the likeliest first. Never empty.
    pub languages: Vec<Language>,
    /// Those, and English, which is mixed into all of them.
    pub known: Languages,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(tokens: Vec<Token<'t>>, languages: Vec<Language>) -> Self {
        let known =
            languages.iter().fold(Languages::only(Language::English), |set, language| set.with(*language));
        Self { tokens, languages, known }
    }

    pub(crate) fn language(&self) -> Language {
        self.languages.first().copied().unwrap_or(Language::English)
    }

    pub(crate) fn token(&self, at: usize) -> Option<&Token<'t>> {
        self.tokens.get(at)
    }

    pub(crate) fn before(&self, at: usize) -> Option<&Token<'t>> {
        at.checked_sub(1).and_then(|at| self.tokens.get(at))
    }

    pub(crate) fn is(&self, at: usize, meaning: Meaning) -> bool {
        self.token(at).is_some_and(|token| token.means(meaning, self.known))
    }

    pub(crate) fn find<T>(&self, at: usize, want: impl Fn(Meaning) -> Option<T>) -> Option<T> {
        self.token(at)?.find(self.known, want)
    }

    /// As [`Reader::find`], also under a case ending and in any language, for words all of them share.
    pub(crate) fn find_inflected<T>(&self, at: usize, want: impl Fn(Meaning) -> Option<T>) -> Option<T> {
        let token = self.token(at).filter(|token| token.is_word())?;
        if let Some(found) = token.find(Languages::EVERY, &want) {
            return Some(found);
        }
        ENDINGS.iter().find_map(|ending| {
            let stem = token.key.strip_suffix(ending).filter(|stem| stem.len() > 2)?;
            let senses = lexicon::senses(stem);
            senses
                .iter()
                .filter(|sense| sense.languages.meets(self.known))
                .find_map(|sense| want(sense.meaning))
        })
    }

    /// The text from one token to before another, as written.
    pub(crate) fn text(&self, message: &'t str, from: usize, to: usize) -> &'t str {
        let start = self.token(from).map_or(0, |token| token.start);
        let end = to.checked_sub(1).and_then(|last| self.token(last)).map_or(start, Token::end);
        message.get(start..end).unwrap_or_default()
    }

    /// Whether every word and number of the message lies between two tokens.
    pub(crate) fn is_whole(&self, from: usize, to: usize) -> bool {
        self.tokens
            .iter()
            .enumerate()
            .all(|(at, token)| (from..to).contains(&at) || matches!(token.kind, crate::token::Kind::Sign))
    }

    /// Whether any word of the message has a meaning.
    pub(crate) fn speaks_of(&self, meaning: Meaning) -> bool {
        self.tokens.iter().any(|token| token.means(meaning, self.known))
    }
}

/// The fold of a sign or word written as an abbreviation: `Rs`, `रु`.
pub(crate) fn is_short_rupee(token: &Token<'_>) -> bool {
    const SHORT: &[&str] = &["rs", "inr", "re", "tk", "ru"];
    matches!(token.text, "₹" | "৳" | "૱" | "௹" | "₨")
        || (token.is_word() && SHORT.contains(&fold::key(token.text).as_str()))
}
