//! Small words that are something else where they stand: at the beginning, before a number, before another verb.

use munshi_types::Language;

use crate::reading::{CAREFUL, OfflineWord, WordOwner};
use crate::small_words::{SmallWordClass, SmallWordClassSet};

/// Whoever is called before anything is said, and what gives only together with another verb.
pub(crate) fn reclassify_vocatives(words: &mut [OfflineWord<'_>]) {
    const SMALL: SmallWordClassSet = SmallWordClassSet::of(&[SmallWordClass::Small]);
    // "Suna hai" is hearsay, and calls nobody.
    const NEVER: SmallWordClassSet = SmallWordClassSet::of(&[
        SmallWordClass::Doubt,
        SmallWordClass::If,
        SmallWordClass::Not,
        SmallWordClass::No,
        SmallWordClass::Question,
        SmallWordClass::Will,
    ]);
    let is_call =
        |word: &OfflineWord<'_>| word.classes.has(SmallWordClass::Call) && !word.classes.intersects(NEVER);
    let calls = |word: &&mut OfflineWord<'_>| word.is_sign || is_call(word);
    for word in words.iter_mut().take_while(calls).filter(|word| !word.is_sign) {
        word.classes = SMALL;
    }
    let went: Vec<bool> = words.iter().skip(1).map(|next| next.classes.has(SmallWordClass::Went)).collect();
    for (word, _) in
        words.iter_mut().zip(went).filter(|(word, went)| *went && word.classes.has(SmallWordClass::Gave))
    {
        word.classes =
            word.classes.without(SmallWordClassSet::of(&[SmallWordClass::Small, SmallWordClass::In]));
    }
}

/// What begins a message marks nothing before it: Gujarati's "of" is there its "no".
pub(crate) fn reclassify_first_word(words: &mut [OfflineWord<'_>], languages: &[Language]) {
    const MARKS: SmallWordClassSet = SmallWordClassSet::of(&[
        SmallWordClass::To,
        SmallWordClass::By,
        SmallWordClass::From,
        SmallWordClass::Of,
        SmallWordClass::In,
    ]);
    let is_english = languages.first() == Some(&Language::English);
    if let Some(first) = words.iter_mut().find(|word| !word.is_sign).filter(|_| !is_english)
        && first.classes.intersects(CAREFUL)
    {
        first.classes = first.classes.without(MARKS);
    }
}

/// "Bhada na 80" are the fare's 80: what is both "of" and "not" denies nothing between a thing and its number.
pub(crate) fn reclassify_possessive(words: &mut [OfflineWord<'_>]) {
    const NO: SmallWordClassSet = SmallWordClassSet::of(&[SmallWordClass::Not, SmallWordClass::No]);
    for at in 1..words.len().saturating_sub(1) {
        let is_number = |word: &OfflineWord<'_>| matches!(word.held, Some(WordOwner::Number(_)));
        let is_between = words.get(at - 1).is_some_and(OfflineWord::is_content)
            && words.get(at + 1).is_some_and(is_number);
        if let Some(word) =
            words.get_mut(at).filter(|word| is_between && word.classes.has(SmallWordClass::Of))
        {
            word.classes = word.classes.without(NO);
        }
    }
}
