//! What keeps a sentence from telling a plain fact, and who acted in it.

use munshi_lang::lexicon::{Languages, Meaning};
use munshi_lang::token::MessageToken;
use munshi_lang::{DateExpression, DateMention};
use munshi_types::Language;

use crate::reading::OfflineWord;
use crate::small_words::{SmallWordClass, SmallWordClassSet, SmallWords};

/// Who did it, where the grammar says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SentenceActor {
    Me,
    Other,
}

/// What keeps a sentence from telling a plain fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SentenceMood(u8);

impl SentenceMood {
    pub(crate) const QUESTION: u8 = 1;
    pub(crate) const NEGATED: u8 = 2;
    pub(crate) const CONDITIONAL: u8 = 4;
    pub(crate) const FUTURE: u8 = 8;

    pub(crate) const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// What this sentence has and the other lacks.
    pub(crate) const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn is_plain(self) -> bool {
        self.0 == 0
    }
}

pub(crate) fn detect_mood(
    words: &[OfflineWord<'_>],
    tokens: &[MessageToken<'_>],
    languages: &[Language],
    dates: &[DateMention],
) -> SentenceMood {
    let known = languages.iter().fold(Languages::NONE, |set, language| set.with(*language));
    let small = SmallWords::get();
    let lies_ahead = |date: &DateMention| {
        date.readings.iter().all(|one| matches!(one.when, DateExpression::Day { offset: 1.. }))
    };
    let mut bits = if dates.iter().any(lies_ahead) { SentenceMood::FUTURE } else { 0 };
    let mut past = false;
    let is_said = |word: &&OfflineWord<'_>| !word.is_sign && word.held.is_none();
    // Verbs stand at the end; only a condition comes before.
    let verbs = words.iter().filter(is_said).rev().nth(1).map_or(0, |word| word.start);
    let last = words.iter().rfind(is_said).map_or(0, |word| word.start);
    for (word, token) in words.iter().zip(tokens) {
        if word.is_sign && matches!(word.text, "?" | "？" | "؟") {
            bits |= SentenceMood::QUESTION;
        }
        if word.held.is_some() || word.is_sign {
            continue;
        }
        for (class, bit) in [
            (SmallWordClass::Question, SentenceMood::QUESTION),
            (SmallWordClass::Not, SentenceMood::NEGATED),
            (SmallWordClass::If, SentenceMood::CONDITIONAL),
            (SmallWordClass::Will, SentenceMood::FUTURE),
        ] {
            if word.classes.has(class) && !word.classes.has(SmallWordClass::Small) {
                bits |= bit;
            }
        }
        if token.means(Meaning::Future, known) {
            bits |= SentenceMood::FUTURE;
        }
        past |= token.means(Meaning::Past, known);
        // Names end like anything; verbs are written small.
        if !word.is_capital && word.text.chars().count() > 4 {
            let wanted = match word.start {
                start if start >= last => SmallWordClassSet::of(&[
                    SmallWordClass::Question,
                    SmallWordClass::Not,
                    SmallWordClass::If,
                    SmallWordClass::Will,
                ]),
                start if start >= verbs => {
                    SmallWordClassSet::of(&[SmallWordClass::Not, SmallWordClass::If, SmallWordClass::Will])
                }
                _ => SmallWordClassSet::of(&[SmallWordClass::If]),
            };
            match small.strip_ending(word.text, languages, wanted) {
                Some((_, SmallWordClass::Not)) => bits |= SentenceMood::NEGATED,
                Some((_, SmallWordClass::If)) => bits |= SentenceMood::CONDITIONAL,
                Some((_, SmallWordClass::Will)) => bits |= SentenceMood::FUTURE,
                Some((_, SmallWordClass::Question)) => bits |= SentenceMood::QUESTION,
                _ => {}
            }
        }
    }
    // "Diya hai" has happened, though "dena hai" has not.
    if past {
        bits &= !SentenceMood::FUTURE;
    }
    SentenceMood(bits)
}

/// Who acted: a pronoun says it, or the ending of the verb, which stands last.
pub(crate) fn find_actor(words: &[OfflineWord<'_>], languages: &[Language]) -> Option<SentenceActor> {
    let said = |class| words.iter().any(|word| word.held.is_none() && word.classes.has(class));
    if said(SmallWordClass::ToMe) {
        return Some(SentenceActor::Other);
    }
    if said(SmallWordClass::Me) {
        return Some(SentenceActor::Me);
    }
    let wanted = SmallWordClassSet::of(&[SmallWordClass::Me, SmallWordClass::Other]);
    let verbs = words.iter().rev().filter(|word| !word.is_sign && word.held.is_none()).take(2);
    verbs.into_iter().find_map(|word| match SmallWords::get().strip_ending(word.text, languages, wanted)? {
        (front, _) if front.chars().count() < 2 => None,
        (_, SmallWordClass::Me) => Some(SentenceActor::Me),
        _ => Some(SentenceActor::Other),
    })
}
