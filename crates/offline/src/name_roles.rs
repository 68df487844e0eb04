//! The part a name has in its sentence: by a marker beside it, an ending on it, or in English by its place.

use munshi_lang::fold;
use munshi_types::Language;

use crate::reading::{OfflineReading, OfflineWord};
use crate::small_words::{SmallWordClass, SmallWordClassSet, SmallWords};
use crate::spans::WordKnowledge;

/// The part of a name in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRole {
    To,
    By,
    From,
    Of,
}

/// How a role was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameRoleReading {
    pub role: NameRole,
    /// A marker or an ending says it, not merely its place in an English sentence.
    pub is_marked: bool,
    /// Two languages read the marker differently, and nothing tells which it is.
    pub is_unclear: bool,
}

pub(crate) const CASES: SmallWordClassSet = SmallWordClassSet::of(&[
    SmallWordClass::To,
    SmallWordClass::By,
    SmallWordClass::From,
    SmallWordClass::Of,
]);

const EACH: [SmallWordClass; 4] =
    [SmallWordClass::To, SmallWordClass::By, SmallWordClass::From, SmallWordClass::Of];

fn role(class: SmallWordClass) -> Option<NameRole> {
    Some(match class {
        SmallWordClass::To => NameRole::To,
        SmallWordClass::By => NameRole::By,
        SmallWordClass::From => NameRole::From,
        SmallWordClass::Of => NameRole::Of,
        _ => return None,
    })
}

/// Whether one gives where the other receives.
pub(crate) const fn is_opposite(one: NameRole, other: NameRole) -> bool {
    matches!(
        (one, other),
        (NameRole::To, NameRole::By | NameRole::From) | (NameRole::By | NameRole::From, NameRole::To)
    )
}

/// Whether a word is a trade with an ending.
pub(crate) fn is_trade(text: &str, languages: &[Language]) -> bool {
    let of = |key: &str| SmallWords::get().classes(key, languages).has(SmallWordClass::Trade);
    if has_trade(text, languages) {
        return true;
    }
    let cut = SmallWords::get().strip_ending(text, languages, CASES);
    if cut.is_some_and(|(front, _)| has_trade(front, languages)) {
        return true;
    }
    // The ending may have taken the place of the sign that no vowel follows.
    cut.map(|(front, _)| fold::key(front)).is_some_and(|key| of(&key) || of(key.trim_end_matches('a')))
}

/// Whether a word ends as those are called who deal in something: doodhwala. Who is written large has it for a name.
fn has_trade(text: &str, languages: &[Language]) -> bool {
    let is_name = text.starts_with(|letter: char| letter.is_uppercase());
    let wanted = SmallWordClassSet::of(&[SmallWordClass::Trade]);
    let cut = SmallWords::get().strip_ending(text, languages, wanted).filter(|_| !is_name);
    cut.is_some_and(|(front, _)| front.chars().filter(|letter| letter.is_alphabetic()).count() >= 2)
}

/// The word without its case ending, and the case.
pub(crate) fn strip_case<'w>(word: &OfflineWord<'w>, languages: &[Language]) -> Option<(&'w str, NameRole)> {
    if word.classes.has(SmallWordClass::Trade) {
        return None;
    }
    let (front, class) = SmallWords::get().strip_ending(word.text, languages, CASES)?;
    let tail = word.text.get(front.len()..)?;
    // After a consonant Bengali's "of" has a vowel: শঙ্কর is a name, and not শঙ্ক's.
    if tail == "র" && front.ends_with(|letter: char| ('ক'..='হ').contains(&letter)) {
        return None;
    }
    let letters = front.chars().filter(|letter| letter.is_alphabetic()).count();
    // One letter of an ending is as likely the name's own: Kumar, Mohan.
    let enough = match tail.chars().count() {
        1 => 3,
        2 if word.text.is_ascii() => 4,
        _ => 2,
    };
    (letters >= enough).then_some(front).zip(role(class))
}

/// The role of the words from one place to another, by what stands beside them.
pub(crate) fn find_role(
    reading: &OfflineReading<'_>,
    from: usize,
    to: usize,
    known: &impl Fn(usize) -> WordKnowledge,
) -> Option<NameRoleReading> {
    let is_english = |language: &Language| *language == Language::English;
    let mut roles: Vec<NameRole> = Vec::new();
    if let Some(next) = reading.words.get(to).filter(|next| next.held.is_none()) {
        for language in reading.languages.iter().filter(|language| !is_english(language)) {
            let mut classes = SmallWords::get().classes(&next.key, std::slice::from_ref(language));
            // Punjabi's "ne" at the end is its "are".
            if *language == Language::Punjabi && reading.words.iter().skip(to + 1).all(|word| word.is_sign) {
                classes = classes.without(SmallWordClassSet::of(&[SmallWordClass::By]));
            }
            roles.extend(EACH.into_iter().filter(|case| classes.has(*case)).filter_map(role));
        }
    }
    roles.dedup();
    // "Deepa r jonno", "Rameshinte kayyil ninnu": whose it is leads on to the part.
    if roles.first() == Some(&NameRole::Of)
        && let Some(further) = find_marker_role(reading, to + 1)
    {
        return Some(NameRoleReading { role: further, is_marked: true, is_unclear: false });
    }
    if let Some(role) = roles.first() {
        return Some(NameRoleReading {
            role: *role,
            is_marked: true,
            is_unclear: roles.iter().any(|other| is_opposite(*role, *other)),
        });
    }
    let speaks_english = reading.languages.iter().any(is_english);
    speaks_english.then(|| find_english_role(reading, from, to, known)).flatten()
}

/// Who gives or takes by a marker at a place.
fn find_marker_role(reading: &OfflineReading<'_>, at: usize) -> Option<NameRole> {
    let language = reading.languages.first().filter(|language| **language != Language::English)?;
    let word = reading.words.get(at).filter(|word| word.held.is_none())?;
    let classes = SmallWords::get().classes(&word.key, std::slice::from_ref(language));
    [SmallWordClass::From, SmallWordClass::To].into_iter().find(|case| classes.has(*case)).and_then(role)
}

/// Prepositions stand before the name; without one, who stands before the verb does it.
fn find_english_role(
    reading: &OfflineReading<'_>,
    from: usize,
    to: usize,
    known: &impl Fn(usize) -> WordKnowledge,
) -> Option<NameRoleReading> {
    let last = to.checked_sub(1).and_then(|at| reading.words.get(at));
    if last.is_some_and(|word| word.text.ends_with("'s") || word.text.ends_with("’s")) {
        return Some(NameRoleReading { role: NameRole::Of, is_marked: true, is_unclear: false });
    }
    let is_article =
        |at: usize| reading.words.get(at).is_some_and(|word| word.classes.has(SmallWordClass::Article));
    // "Gave the milkman": what stands before an article tells.
    let from = (1..=from).rev().find(|at| !is_article(at - 1)).unwrap_or(0);
    let before = from.checked_sub(1).and_then(|at| reading.words.get(at));
    let case = before
        .filter(|before| before.held.is_none())
        .and_then(|before| EACH.into_iter().find(|case| before.classes.has(*case)).and_then(role));
    if let Some(role) = case {
        return Some(NameRoleReading { role, is_marked: true, is_unclear: false });
    }
    let role = match from.checked_sub(1) {
        None => NameRole::By,
        Some(before) => (known(before) == WordKnowledge::Cue).then_some(NameRole::To)?,
    };
    Some(NameRoleReading { role, is_marked: false, is_unclear: false })
}
