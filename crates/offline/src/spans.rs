//! The words of a message that name somebody or something.
//!
//! Nobody tells the model who the contacts are, so names are taken by grammar: by a case marker or ending, a word of
//! respect, a capital letter, or by being what is left over. The tool decides who is meant.

use munshi_lang::names::{is_honorific, strip_case_words};
use munshi_lang::{NumberKind, NumberMention};
use munshi_types::Language;

use crate::name_roles::{CASES, NameRole, NameRoleReading, find_role, strip_case};
use crate::reading::{OfflineReading, OfflineWord, WordOwner};
use crate::small_words::{SmallWordClass, SmallWordClassSet, SmallWords};
use crate::stems::restore_name;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NameSpan {
    /// Its words, as places in the reading.
    pub from: usize,
    pub to: usize,
    /// As said, without its case ending.
    pub text: String,
    pub told: Option<NameRoleReading>,
    /// By an ending, which was cut off.
    pub is_fused: bool,
    pub is_capital: bool,
    pub has_honorific: bool,
    /// A quantity stands right beside it.
    pub is_counted: bool,
}

impl NameSpan {
    pub(crate) fn role(&self) -> Option<NameRole> {
        self.told.map(|told| told.role)
    }

    /// Whether something says outright that it gives or takes, as people do.
    pub(crate) fn takes_part(&self) -> bool {
        self.told.is_some_and(|told| told.is_marked && told.role != NameRole::Of)
    }
}

/// What the tools' phrases say of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordKnowledge {
    /// Nothing.
    No,
    /// It says what is wanted.
    Cue,
    /// It names a thing, whole as it stands: what looks like an ending is none.
    Thing,
}

/// Every run of words that may be a name.
pub(crate) fn find_spans(
    reading: &OfflineReading<'_>,
    known: impl Fn(usize) -> WordKnowledge,
) -> Vec<NameSpan> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < reading.words.len() {
        if !is_free(reading, at, &known) {
            at += 1;
            continue;
        }
        let to = run_end(reading, at, &known);
        found.push(span(reading, at, to, &known));
        at = to;
    }
    restore(reading, &mut found);
    found
}

/// Gives a thing back what only looked like an ending: after its price saruku is no case of saru, when somebody else
/// already has that part.
fn restore(reading: &OfflineReading<'_>, spans: &mut [NameSpan]) {
    let is_priced = |span: &NameSpan| {
        let before = span.from.checked_sub(1).and_then(|at| reading.words.get(at));
        before.is_some_and(|word| matches!(word.held, Some(WordOwner::Number(_))))
    };
    for at in 0..spans.len() {
        let others = spans.iter().enumerate().any(|(other, span)| other != at && span.takes_part());
        // What is counted right before it is nobody's: fifteen boxes of kshira.
        let is_owner = |span: &NameSpan| span.role() == Some(NameRole::Of);
        if let Some(span) = spans.get_mut(at)
            && ((others || is_owner(span)) && span.is_fused && is_priced(span))
        {
            span.told = None;
            reading.text(span.from, span.to).clone_into(&mut span.text);
        }
    }
}

fn is_free(reading: &OfflineReading<'_>, at: usize, known: &impl Fn(usize) -> WordKnowledge) -> bool {
    const NEVER: SmallWordClassSet = SmallWordClassSet::of(&[
        SmallWordClass::Question,
        SmallWordClass::Not,
        SmallWordClass::If,
        SmallWordClass::Doubt,
    ]);
    // "Market mein": where it is. With a capital it may be a name's: Big Bazaar.
    let is_place = |word: &OfflineWord<'_>| word.classes.has(SmallWordClass::Place) && !word.is_capital;
    // "Haan Suresh ko": what answers before a name is no part of it.
    const ANSWERS: SmallWordClassSet = SmallWordClassSet::of(&[SmallWordClass::Yes, SmallWordClass::No]);
    let leads =
        |word: &OfflineWord<'_>| at == 0 && word.classes.intersects(ANSWERS) && reading.words.len() > 1;
    reading.words.get(at).is_some_and(|word| {
        let is_trade = word.is_trade;
        (word.is_content() || (is_trade && word.held.is_none()))
            && !word.classes.intersects(NEVER)
            && !is_place(word)
            && !leads(word)
            && !is_measure_of(reading, at)
            && (is_trade || known(at) != WordKnowledge::Cue)
    })
}

/// Whether a word only says in what the next thing is counted: how many packets of salt.
fn is_measure_of(reading: &OfflineReading<'_>, at: usize) -> bool {
    let is_of = |word: &&OfflineWord<'_>| word.classes.has(SmallWordClass::Of) && !word.is_content();
    let next = reading.words.get(at + 1).filter(is_of).and_then(|_| reading.words.get(at + 2));
    let is_english = reading.languages.first() == Some(&Language::English);
    is_english
        && next.is_some_and(OfflineWord::is_content)
        && reading.words.get(at).is_some_and(|word| word.is_unit)
}

/// Where the run that begins at a word ends.
fn run_end(reading: &OfflineReading<'_>, from: usize, known: &impl Fn(usize) -> WordKnowledge) -> usize {
    let mut at = from;
    while is_free(reading, at, known) {
        let ends = has_ending(reading, at, known) || ends_name(reading, from, at);
        at += 1;
        if ends {
            break;
        }
    }
    at
}

/// Whether a word carries a case of its own, so that what follows is another thing.
fn has_ending(reading: &OfflineReading<'_>, at: usize, known: &impl Fn(usize) -> WordKnowledge) -> bool {
    let next = reading.words.get(at + 1);
    // What looks like an ending before a trade is the name's own: Khanna.
    let next_is_case = next.is_some_and(|next| next.classes.intersects(CASES) || next.is_trade);
    let ends = |word: &OfflineWord<'_>| strip_case(word, &reading.languages).is_some();
    known(at) != WordKnowledge::Thing && !next_is_case && reading.words.get(at).is_some_and(ends)
}

/// Whether a name ends between a word and the next: gave Ramesh goods.
fn ends_name(reading: &OfflineReading<'_>, from: usize, at: usize) -> bool {
    let (Some(word), Some(next)) = (reading.words.get(at), reading.words.get(at + 1)) else { return false };
    // The first word of a sentence is written large whatever it is.
    let is_told = from > 0 || !word.is_capital;
    reading.is_latin() && is_told && word.is_capital != next.is_capital && !next.is_trade
}

fn span(
    reading: &OfflineReading<'_>,
    from: usize,
    to: usize,
    known: &impl Fn(usize) -> WordKnowledge,
) -> NameSpan {
    let language = reading.languages.first().copied();
    let words = reading.words.get(from..to).unwrap_or_default();
    let mut text = reading.text(from, to).to_owned();
    // Bengali's word of respect is Punjabi's "of".
    let is_respect = |word: &OfflineWord<'_>| {
        is_honorific(&word.key) && word.held.is_none() && !word.classes.intersects(CASES)
    };
    // What says what is wanted is no respect: aaya, that it came.
    let behind = reading.words.iter().enumerate().skip(to);
    let respect =
        behind.take_while(|(at, word)| is_respect(word) && known(*at) != WordKnowledge::Cue).count();
    let after = to + respect;
    let is_goods = |word: &OfflineWord<'_>| word.classes.has(SmallWordClass::Goods);
    let is_english = language == Some(Language::English);
    // "For groceries" is for nobody.
    let is_thing = is_english && words.iter().all(is_goods);
    let mut told = if is_thing { None } else { find_role(reading, from, after, known) };
    let mut is_fused = false;
    let last = words.last().filter(|_| known(to - 1) != WordKnowledge::Thing);
    if told.is_none()
        && let Some((word, (front, role))) =
            last.and_then(|word| Some((word, strip_case(word, &reading.languages)?)))
    {
        told = Some(NameRoleReading { role, is_marked: true, is_unclear: false });
        text.truncate(text.len() - word.text.len());
        text.push_str(&restore_name(front, word.text.get(front.len()..).unwrap_or_default(), language));
        is_fused = true;
    }
    if !is_fused
        && told.is_some()
        && let Some(word) = words.last()
        && let Some(front) = strip_owner_case(word, &reading.languages)
    {
        text.truncate(text.len() - word.text.len());
        text.push_str(&restore_name(front, word.text.get(front.len()..).unwrap_or_default(), language));
    }
    let is_of = told.is_some_and(|told| told.role == NameRole::Of);
    if is_of
        && let Some((front, _)) = SmallWords::get().strip_ending(
            &text,
            &reading.languages,
            SmallWordClassSet::of(&[SmallWordClass::Many]),
        )
        && front.chars().count() >= if front.is_ascii() { 4 } else { 3 }
    {
        text.truncate(front.len());
    }
    // A case of a language that the message was not read in.
    let length = strip_case_words(&text).len();
    text.truncate(length);
    NameSpan {
        from,
        to: after,
        text,
        told,
        is_fused,
        is_capital: words.iter().any(|word| word.is_capital),
        has_honorific: respect > 0 || words.iter().any(is_respect),
        is_counted: is_counted(reading, from, after, told, known),
    }
}

/// The name before a marker that wants it in a case of its own: Rameshinte kayyil ninnu.
fn strip_owner_case<'w>(word: &OfflineWord<'w>, languages: &[Language]) -> Option<&'w str> {
    let (front, _) = SmallWords::get().strip_ending(
        word.text,
        languages,
        SmallWordClassSet::of(&[SmallWordClass::Whose]),
    )?;
    // Sunil ninnu is of Sunil, and not of Sun.
    let least = if word.text.len() - front.len() == 2 { 5 } else { 3 };
    (front.chars().filter(|letter| letter.is_alphabetic()).count() >= least).then_some(front)
}

/// Whether a quantity stands beside some words, a marker between them left out.
fn is_counted(
    reading: &OfflineReading<'_>,
    from: usize,
    to: usize,
    told: Option<NameRoleReading>,
    known: &impl Fn(usize) -> WordKnowledge,
) -> bool {
    let counts = |at: Option<usize>| {
        let held = at.and_then(|at| reading.words.get(at)).and_then(|word| word.held);
        let is_count = |number: &NumberMention| number.unit.is_some() || number.kind == NumberKind::Quantity;
        matches!(held, Some(WordOwner::Number(at)) if reading.numbers.get(at).is_some_and(is_count))
    };
    let is_of = told.is_some_and(|told| told.role == NameRole::Of);
    // English marks a name before it, and counts what follows.
    let is_english = reading.languages.first() == Some(&Language::English);
    (counts(Some(to)) && !counts_next(reading, to, known))
        || (told.is_some() && !is_english && counts(Some(to + 1)))
        || counts(from.checked_sub(1))
        || (is_of && counts(from.checked_sub(2)))
}

/// Whether a quantity counts what follows it, and not the one before: gave Ramesh 2 kg sugar.
fn counts_next(reading: &OfflineReading<'_>, at: usize, known: &impl Fn(usize) -> WordKnowledge) -> bool {
    let held = reading.words.get(at).and_then(|word| word.held);
    let next =
        (at..reading.words.len()).find(|at| reading.words.get(*at).is_some_and(|word| word.held != held));
    let Some((next, word)) = next.and_then(|at| Some((at, reading.words.get(at)?))) else { return false };
    let takes = |role: NameRole| role != NameRole::Of;
    // Whoever gives or takes is counted by nobody: chini 2 kilo Ramesh ko.
    let takes_part = strip_case(word, &reading.languages).is_some_and(|(_, role)| takes(role))
        || find_role(reading, next, next + 1, known).is_some_and(|told| told.is_marked && takes(told.role));
    word.is_content() && !word.is_capital && known(next) != WordKnowledge::Cue && !takes_part
}
