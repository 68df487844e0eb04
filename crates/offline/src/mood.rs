//! What keeps a sentence from telling a plain fact, and who acted in it.

use munshi_lang::lexicon::{Languages, Meaning};
use munshi_lang::token::Token;
use munshi_lang::{DateFound, When};
use munshi_types::Language;

use crate::reading::Word;
use crate::words::{Class, Classes, SmallWords};

/// Who did it, where the grammar says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    Me,
    Other,
}

/// What keeps a sentence from telling a plain fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mood(u8);

impl Mood {
    pub(crate) const QUESTION: u8 = 1;
    pub(crate) const NEGATED: u8 = 2;
    pub(crate) const CONDITIONAL: u8 = 4;
    pub(crate) const FUTURE: u8 = 8;

    pub(crate) const fn is(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// What this sentence has and the other lacks.
    pub(crate) const fn beyond(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn is_plain(self) -> bool {
        self.0 == 0
    }
}

pub(crate) fn mood(
    words: &[Word<'_>],
    tokens: &[Token<'_>],
    languages: &[Language],
    dates: &[DateFound],
) -> Mood {
    let known = languages.iter().fold(Languages::NONE, |set, language| set.with(*language));
    let small = SmallWords::get();
    let lies_ahead =
        |date: &DateFound| date.readings.iter().all(|one| matches!(one.when, When::Day { offset: 1.. }));
    let mut bits = if dates.iter().any(lies_ahead) { Mood::FUTURE } else { 0 };
    let mut past = false;
    let is_said = |word: &&Word<'_>| !word.is_sign && word.held.is_none();
    // Verbs stand at the end; only a condition comes before.
    let verbs = words.iter().filter(is_said).rev().nth(1).map_or(0, |word| word.start);
    let last = words.iter().rfind(is_said).map_or(0, |word| word.start);
    for (word, token) in words.iter().zip(tokens) {
        if word.is_sign && matches!(word.text, "?" | "？" | "؟") {
            bits |= Mood::QUESTION;
        }
        if word.held.is_some() || word.is_sign {
            continue;
        }
        for (class, bit) in [
            (Class::Question, Mood::QUESTION),
            (Class::Not, Mood::NEGATED),
            (Class::If, Mood::CONDITIONAL),
            (Class::Will, Mood::FUTURE),
        ] {
            if word.classes.has(class) && !word.classes.has(Class::Small) {
                bits |= bit;
            }
        }
        if token.means(Meaning::Future, known) {
            bits |= Mood::FUTURE;
        }
        past |= token.means(Meaning::Past, known);
        // Names end like anything; verbs are written small.
        if !word.is_capital && word.text.chars().count() > 4 {
            let wanted = match word.start {
                start if start >= last => Classes::of(&[Class::Question, Class::Not, Class::If, Class::Will]),
                start if start >= verbs => Classes::of(&[Class::Not, Class::If, Class::Will]),
                _ => Classes::of(&[Class::If]),
            };
            match small.ending(word.text, languages, wanted) {
                Some((_, Class::Not)) => bits |= Mood::NEGATED,
                Some((_, Class::If)) => bits |= Mood::CONDITIONAL,
                Some((_, Class::Will)) => bits |= Mood::FUTURE,
                Some((_, Class::Question)) => bits |= Mood::QUESTION,
                _ => {}
            }
        }
    }
    // "Diya hai" has happened, though "dena hai" has not.
    if past {
        bits &= !Mood::FUTURE;
    }
    Mood(bits)
}

/// Who acted: a pronoun says it, or the ending of the verb, which stands last.
pub(crate) fn actor(words: &[Word<'_>], languages: &[Language]) -> Option<Actor> {
    let said = |class| words.iter().any(|word| word.held.is_none() && word.classes.has(class));
    if said(Class::ToMe) {
        return Some(Actor::Other);
    }
    if said(Class::Me) {
        return Some(Actor::Me);
    }
    let wanted = Classes::of(&[Class::Me, Class::Other]);
    let verbs = words.iter().rev().filter(|word| !word.is_sign && word.held.is_none()).take(2);
    verbs.into_iter().find_map(|word| match SmallWords::get().ending(word.text, languages, wanted)? {
        (front, _) if front.chars().count() < 2 => None,
        (_, Class::Me) => Some(Actor::Me),
        _ => Some(Actor::Other),
    })
}
