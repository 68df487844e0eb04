//! The words of a message that name somebody or something, and the part each has in it.
//!
//! Nobody tells the model who the contacts are, so names are taken by grammar: by a case marker or ending, a word of
//! respect, a capital letter, or by being what is left over. The tool decides who is meant.

use munshi_lang::names::is_honorific;
use munshi_types::Language;

use crate::reading::{Held, Reading, Word};
use crate::words::{Class, Classes, SmallWords};

/// The part of a name in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    To,
    By,
    From,
    Of,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    /// Its words, as places in the reading.
    pub from: usize,
    pub to: usize,
    /// As said, without its case ending.
    pub text: String,
    pub role: Option<Role>,
    /// Two languages read the marker differently, and nothing tells which it is.
    pub is_unclear: bool,
    pub is_capital: bool,
    pub has_honorific: bool,
    /// A quantity stands right beside it.
    pub is_counted: bool,
}

const CASES: Classes = Classes::of(&[Class::To, Class::By, Class::From, Class::Of]);

fn role(class: Class) -> Option<Role> {
    Some(match class {
        Class::To => Role::To,
        Class::By => Role::By,
        Class::From => Role::From,
        Class::Of => Role::Of,
        _ => return None,
    })
}

/// Every run of words that may be a name. `is_cue` says which words the tools' phrases claim.
pub(crate) fn spans(reading: &Reading<'_>, is_cue: impl Fn(usize) -> bool) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < reading.words.len() {
        if !is_free(reading, at, &is_cue) {
            at += 1;
            continue;
        }
        let to = run_end(reading, at, &is_cue);
        found.push(span(reading, at, to, &is_cue));
        at = to;
    }
    found
}

fn is_free(reading: &Reading<'_>, at: usize, is_cue: &impl Fn(usize) -> bool) -> bool {
    const NEVER: Classes = Classes::of(&[Class::Question, Class::Not, Class::If]);
    reading.words.get(at).is_some_and(|word| {
        let is_trade = word.classes.has(Class::Trade);
        (word.is_content() || (is_trade && word.held.is_none()))
            && !word.classes.meets(NEVER)
            && (is_trade || !is_cue(at))
    })
}

/// Where the run that begins at a word ends.
fn run_end(reading: &Reading<'_>, from: usize, is_cue: &impl Fn(usize) -> bool) -> usize {
    let mut at = from;
    while is_free(reading, at, is_cue) {
        let ends = has_ending(reading, at) || splits(reading, from, at);
        at += 1;
        if ends {
            break;
        }
    }
    at
}

/// Whether a word carries a case of its own, so that what follows is another thing.
fn has_ending(reading: &Reading<'_>, at: usize) -> bool {
    let next_is_case = reading.words.get(at + 1).is_some_and(|next| next.classes.meets(CASES));
    reading.words.get(at).is_some_and(|word| !next_is_case && ending(word, &reading.languages).is_some())
}

/// Whether a name ends between a word and the next: gave Ramesh goods.
fn splits(reading: &Reading<'_>, from: usize, at: usize) -> bool {
    let (Some(word), Some(next)) = (reading.words.get(at), reading.words.get(at + 1)) else { return false };
    // The first word of a sentence is written large whatever it is.
    reading.is_latin() && from > 0 && word.is_capital != next.is_capital && !next.classes.has(Class::Trade)
}

/// The word without its case ending, and the case.
fn ending<'w>(word: &Word<'w>, languages: &[Language]) -> Option<(&'w str, Role)> {
    if word.classes.has(Class::Trade) {
        return None;
    }
    let (front, class) = SmallWords::get().ending(word.text, languages, CASES)?;
    let ending = word.text.len() - front.len();
    let letters = front.chars().filter(|letter| letter.is_alphabetic()).count();
    // One letter of an ending is as likely the name's own: Kumar, Mohan.
    let single = word.text.get(front.len()..).is_some_and(|tail| tail.chars().count() == 1);
    let latin = word.text.is_ascii();
    let enough = match (single, latin) {
        (true, _) => 3,
        (_, true) if ending < 3 => 4,
        _ => 2,
    };
    (letters >= enough).then_some(front).zip(role(class))
}

fn span(reading: &Reading<'_>, from: usize, to: usize, is_cue: &impl Fn(usize) -> bool) -> Span {
    let words = reading.words.get(from..to).unwrap_or_default();
    let mut text = reading.text(from, to).to_owned();
    let mut after = to;
    let mut has_honorific = words.iter().any(|word| is_honorific(&word.key));
    while reading.words.get(after).is_some_and(|word| is_honorific(&word.key) && word.held.is_none()) {
        has_honorific = true;
        after += 1;
    }
    let (mut role, mut is_unclear) = marked(reading, from, after, is_cue);
    if role.is_none()
        && let Some((last, case)) = words.last().and_then(|word| ending(word, &reading.languages))
    {
        role = Some(case);
        text.truncate(text.len() - words.last().map_or(0, |word| word.text.len() - last.len()));
        is_unclear = false;
    }
    if role == Some(Role::Of)
        && let Some((front, _)) =
            SmallWords::get().ending(&text, &reading.languages, Classes::of(&[Class::Many]))
        && front.chars().count() > 3
    {
        text.truncate(front.len());
    }
    let counts = |at: Option<usize>| {
        let held = at.and_then(|at| reading.words.get(at)).and_then(|word| word.held);
        matches!(held, Some(Held::Number(at)) if reading.numbers.get(at).is_some_and(|number| number.unit.is_some()))
    };
    let marker = usize::from(role.is_some() && after < reading.words.len());
    let before = |steps: usize| from.checked_sub(steps);
    let is_counted = counts(Some(after))
        || counts(Some(after + marker))
        || counts(before(1))
        || (role == Some(Role::Of) && counts(before(2)));
    let is_capital = words.iter().any(|word| word.is_capital);
    Span { from, to: after, text, role, is_unclear, is_capital, has_honorific, is_counted }
}

/// The role a separate marker gives: after the name, in English before it.
fn marked(
    reading: &Reading<'_>,
    from: usize,
    to: usize,
    is_cue: &impl Fn(usize) -> bool,
) -> (Option<Role>, bool) {
    let is_english = |language: &Language| *language == Language::English;
    let small = SmallWords::get();
    let mut roles: Vec<Role> = Vec::new();
    if let Some(next) = reading.words.get(to).filter(|next| next.held.is_none()) {
        for language in reading.languages.iter().filter(|language| !is_english(language)) {
            let classes = small.classes(&next.key, std::slice::from_ref(language));
            let cases = [Class::To, Class::By, Class::From, Class::Of];
            roles.extend(cases.into_iter().filter(|case| classes.has(*case)).filter_map(role));
        }
    }
    if roles.is_empty() && reading.languages.iter().any(is_english) {
        roles.extend(english(reading, from, is_cue));
    }
    roles.dedup();
    (roles.first().copied(), roles.len() > 1)
}

/// Prepositions stand before the name; without one, who stands before the verb does it.
fn english(reading: &Reading<'_>, from: usize, is_cue: &impl Fn(usize) -> bool) -> Option<Role> {
    let before = from.checked_sub(1).and_then(|at| reading.words.get(at));
    if let Some(before) = before.filter(|before| before.held.is_none()) {
        let cases = [Class::To, Class::From, Class::Of, Class::By];
        if let Some(case) = cases.into_iter().find(|case| before.classes.has(*case)) {
            return role(case);
        }
    }
    if from == 0 {
        return Some(Role::By);
    }
    is_cue(from - 1).then_some(Role::To)
}
