//! Small words that are something else where they stand: at the beginning, before a number, before another verb.

use munshi_types::Language;

use crate::reading::{CAREFUL, Held, Word};
use crate::words::{Class, Classes};

/// Whoever is called before anything is said, and what gives only together with another verb.
pub(crate) fn called(words: &mut [Word<'_>]) {
    const SMALL: Classes = Classes::of(&[Class::Small]);
    // "Suna hai" is hearsay, and calls nobody.
    const NEVER: Classes =
        Classes::of(&[Class::Doubt, Class::If, Class::Not, Class::No, Class::Question, Class::Will]);
    let is_call = |word: &Word<'_>| word.classes.has(Class::Call) && !word.classes.meets(NEVER);
    let calls = |word: &&mut Word<'_>| word.is_sign || is_call(word);
    for word in words.iter_mut().take_while(calls).filter(|word| !word.is_sign) {
        word.classes = SMALL;
    }
    let went: Vec<bool> = words.iter().skip(1).map(|next| next.classes.has(Class::Went)).collect();
    for (word, _) in words.iter_mut().zip(went).filter(|(word, went)| *went && word.classes.has(Class::Gave))
    {
        word.classes = word.classes.without(Classes::of(&[Class::Small, Class::In]));
    }
}

/// What begins a message marks nothing before it: Gujarati's "of" is there its "no".
pub(crate) fn lead(words: &mut [Word<'_>], languages: &[Language]) {
    const MARKS: Classes = Classes::of(&[Class::To, Class::By, Class::From, Class::Of, Class::In]);
    let is_english = languages.first() == Some(&Language::English);
    if let Some(first) = words.iter_mut().find(|word| !word.is_sign).filter(|_| !is_english)
        && first.classes.meets(CAREFUL)
    {
        first.classes = first.classes.without(MARKS);
    }
}

/// "Bhada na 80" are the fare's 80: what is both "of" and "not" denies nothing between a thing and its number.
pub(crate) fn own_before_number(words: &mut [Word<'_>]) {
    const NO: Classes = Classes::of(&[Class::Not, Class::No]);
    for at in 1..words.len().saturating_sub(1) {
        let is_number = |word: &Word<'_>| matches!(word.held, Some(Held::Number(_)));
        let is_between =
            words.get(at - 1).is_some_and(Word::is_content) && words.get(at + 1).is_some_and(is_number);
        if let Some(word) = words.get_mut(at).filter(|word| is_between && word.classes.has(Class::Of)) {
            word.classes = word.classes.without(NO);
        }
    }
}
