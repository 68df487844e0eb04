//! A message with what its readers need to know of it: tokens, languages, words with their endings.

use std::cell::OnceCell;

use munshi_types::Language;

use crate::lexicon::{self, Languages, Meaning, Sense};
use crate::name_likelihood;
use crate::numbers::{LanguageLexemes, NumberSpan};
use crate::token::MessageToken;

/// Case endings of all the languages, as the fold leaves them: rupaiku, kilola, rupiaman.
const ENDINGS: &[&str] = &[
    "ku", "uku", "iku", "ki", "ke", "ge", "ige", "la", "li", "lo", "le", "lu", "na", "ne", "ni", "nu", "no",
    "ma", "man", "mam", "thi", "cha", "chi", "che", "chya", "chia", "anna", "ana", "ra", "re", "r", "er",
    "te", "t", "at", "ta", "il", "in", "ai", "um", "inu", "nte", "da", "di", "de", "an", "on", "o", "e", "a",
    "s", "galu", "kal", "gal",
];

pub(crate) struct TokenizedMessage<'t> {
    pub tokens: Vec<MessageToken<'t>>,
    /// The languages the message may be in, the likeliest first. Never empty.
    pub languages: Vec<Language>,
    /// Those, and English, which is mixed into all of them.
    pub known: Languages,
    /// The tokens as numbers in every language, each made when it is first asked for.
    lines: [OnceCell<LanguageLexemes>; Language::ALL.len()],
    /// The language was given, or the words leave no doubt of it.
    pub sure: bool,
    /// What each token means under a case ending.
    inflected: Vec<Vec<Sense>>,
}

impl<'t> TokenizedMessage<'t> {
    pub(crate) fn new(mut tokens: Vec<MessageToken<'t>>, languages: Vec<Language>, sure: bool) -> Self {
        reclassify_day_words(&mut tokens, &languages, sure);
        name_likelihood::mark_names(&mut tokens);
        let known =
            languages.iter().fold(Languages::only(Language::English), |set, language| set.with(*language));
        let inflected = tokens.iter().map(|token| inflections(token, known)).collect();
        Self { tokens, languages, known, lines: Default::default(), sure, inflected }
    }

    pub(crate) fn language(&self) -> Language {
        self.languages.first().copied().unwrap_or(Language::English)
    }

    pub(crate) fn token(&self, at: usize) -> Option<&MessageToken<'t>> {
        self.tokens.get(at)
    }

    pub(crate) fn token_before(&self, at: usize) -> Option<&MessageToken<'t>> {
        at.checked_sub(1).and_then(|at| self.tokens.get(at))
    }

    pub(crate) fn means(&self, at: usize, meaning: Meaning) -> bool {
        self.token(at).is_some_and(|token| token.means(meaning, self.known))
    }

    pub(crate) fn find<T>(&self, at: usize, want: impl Fn(Meaning) -> Option<T>) -> Option<T> {
        self.token(at)?.find(self.known, want)
    }

    /// As [`TokenizedMessage::find`], also under a case ending and in any language, for words all of them share.
    pub(crate) fn find_inflected<T>(&self, at: usize, want: impl Fn(Meaning) -> Option<T>) -> Option<T> {
        let token = self.token(at).filter(|token| token.is_word())?;
        if let Some(found) = token.find(Languages::EVERY, &want) {
            return Some(found);
        }
        // What a word itself means comes before what it may be under an ending: kattanu is "paid" and no bag.
        let own = |sense: &Sense| sense.meaning != Meaning::Word && sense.languages.intersects(self.known);
        if token.senses.iter().any(own) {
            return None;
        }
        self.inflected.get(at)?.iter().find_map(|sense| want(sense.meaning))
    }

    /// The tokens as numbers in one language.
    pub(crate) fn lexemes(&self, language: Language) -> &LanguageLexemes {
        self.lines[language.index()].get_or_init(|| LanguageLexemes::new(&self.tokens, language))
    }

    /// The number that begins at a token, in the likeliest language.
    pub(crate) fn number(&self, from: usize) -> Option<NumberSpan> {
        self.lexemes(self.language()).read(&self.tokens, from)
    }

    /// As [`TokenizedMessage::number`], with the message cut before a token.
    pub(crate) fn number_before(&self, from: usize, end: usize) -> Option<NumberSpan> {
        self.lexemes(self.language()).read(self.tokens.get(..end)?, from)
    }

    /// The numbers that begin at a token in each of the languages, the message cut before `end`.
    pub(crate) fn numbers(&self, from: usize, end: usize) -> impl Iterator<Item = NumberSpan> {
        let tokens = self.tokens.get(..end).unwrap_or(&self.tokens);
        self.languages.iter().filter_map(move |language| self.lexemes(*language).read(tokens, from))
    }

    /// The text from one token to before another, as written.
    pub(crate) fn text(&self, message: &'t str, from: usize, to: usize) -> &'t str {
        let start = self.token(from).map_or(0, |token| token.start);
        let end = to.checked_sub(1).and_then(|last| self.token(last)).map_or(start, MessageToken::end);
        message.get(start..end).unwrap_or_default()
    }

    /// Whether every word and number of the message lies between two tokens.
    pub(crate) fn covers_message(&self, from: usize, to: usize) -> bool {
        self.tokens.iter().enumerate().all(|(at, token)| {
            (from..to).contains(&at) || matches!(token.kind, crate::token::MessageTokenKind::Sign)
        })
    }

    /// Whether any word of the message has a meaning.
    pub(crate) fn mentions(&self, meaning: Meaning) -> bool {
        self.tokens.iter().any(|token| token.means(meaning, self.known))
    }
}

/// An English number word that folds like a day (nine, ninne) is that day where the message is surely in the
/// day's language and nothing follows that numbers count.
fn reclassify_day_words(tokens: &mut [MessageToken<'_>], languages: &[Language], sure: bool) {
    let Some(language) = languages.first().filter(|language| sure && **language != Language::English) else {
        return;
    };
    for at in 0..tokens.len() {
        let counted = |meaning| {
            matches!(meaning, Meaning::Scale(_) | Meaning::Rupee | Meaning::Paisa | Meaning::Unit(_))
                .then_some(())
        };
        let next = tokens.get(at + 1).is_some_and(|next| next.find(Languages::EVERY, counted).is_some());
        if let Some(token) = tokens.get_mut(at).filter(|_| !next) {
            token.read_as_day(Languages::only(*language));
        }
    }
}

/// What a word means under a case ending, among the meanings that take one.
fn inflections(token: &MessageToken<'_>, known: Languages) -> Vec<Sense> {
    let mut found = Vec::new();
    if !token.is_word() || token.key.len() < 4 {
        return found;
    }
    for ending in ENDINGS {
        let Some(stem) = token.key.strip_suffix(ending).filter(|stem| stem.len() > 2) else { continue };
        let senses = lexicon::senses(stem).iter().filter(|sense| sense.languages.intersects(known));
        found.extend(senses.filter(|sense| takes_ending(sense.meaning)));
    }
    found
}

const fn takes_ending(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::Rupee
            | Meaning::Paisa
            | Meaning::Unit(_)
            | Meaning::Week
            | Meaning::Month
            | Meaning::Year
            | Meaning::Weekday(_)
            | Meaning::DayOfMonth
            | Meaning::Clock
            | Meaning::Morning
            | Meaning::Noon
            | Meaning::Evening
            | Meaning::Night
    )
}

/// The fold of a sign or word written as an abbreviation: `Rs`, `रु`.
pub(crate) fn is_short_rupee(token: &MessageToken<'_>) -> bool {
    const SHORT: &[&str] = &["rs", "inr", "re", "tk", "ru"];
    matches!(token.text, "₹" | "৳" | "૱" | "௹" | "₨")
        || (token.is_word() && SHORT.contains(&token.key.as_str()))
}
