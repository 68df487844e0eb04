//! Numbers in words and digits: found, put together, and honest about doubt.
//!
//! - [`compose`]: the grammar of groups and scales
//! - [`digits`]: runs of digits and their commas
//! - [`segment`]: words that hold several number words
//! - [`read`]: the number that begins at a token, in the languages given

mod compose;
pub(crate) mod digits;
mod segment;

use munshi_types::{Language, Script};
use serde::Serialize;

use crate::fold;
use crate::lexicon::{self, End, Languages, Sense};
use crate::number::Number;
use crate::token::{Kind, Token};
use compose::{Composer, Tens};

/// Right, or visibly unsure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    Exact,
    Ambiguous,
}

/// What a run of words or digits may mean; the likeliest reading first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    pub certainty: Certainty,
    pub readings: Vec<Number>,
}

/// A part a number is put together from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Cardinal(u64),
    Digits(Number),
    Scale(u64),
    Plus(u16),
    Minus(u16),
    Fraction(u16),
    Suffix(u16),
    /// Turns the number before it into quarters: three quarters.
    Quarters,
}

/// A number found in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The tokens it covers: from, and one past the last.
    pub from: usize,
    pub to: usize,
    pub spoken: Spoken,
    /// It rests on words that are also ordinary words or names, or on a near spelling: without something
    /// beside it that speaks of numbers it is none.
    pub weak: bool,
    /// It has a scale word in it: do lakh, 2k.
    pub scaled: bool,
    /// It is digits and nothing else.
    pub digits: bool,
    /// It begins with its scale: hazaar, without ek.
    pub bare_scale: bool,
}

/// Where a token stands in the number being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    First,
    Inside,
    /// After a word that only joins: two and a *half*.
    Joined,
}

/// How a token reads as parts of a number.
#[derive(Clone, Debug)]
struct Lexeme {
    parts: Vec<Part>,
    /// Other parts the same spelling may stand for in the same language.
    other: Option<Part>,
    tens: Tens,
    weak: bool,
}

/// The number that begins at a token; none when none does.
pub(crate) fn read(tokens: &[Token<'_>], from: usize, language: Language) -> Option<Found> {
    let mut composer = Composer::default();
    let mut steps: Vec<Composer> = Vec::new();
    let mut lexemes: Vec<(usize, Lexeme)> = Vec::new();
    let mut at = from;
    while let Some(token) = tokens.get(at) {
        if joins_parts(tokens, at, &lexemes, language) {
            at += 1;
            continue;
        }
        let place = match lexemes.last() {
            None => Place::First,
            Some((last, _)) if last + 1 < at => Place::Joined,
            Some(_) => Place::Inside,
        };
        let Some(lexeme) = lexeme(token, place, language) else { break };
        let mut next = composer;
        if !lexeme.parts.iter().all(|part| next.push(*part, lexeme.tens)) {
            give_back(&lexeme, &mut lexemes, &mut steps);
            break;
        }
        composer = next;
        steps.push(composer);
        lexemes.push((at, lexeme));
        at += 1;
    }
    while steps.last().is_some_and(|step| step.value().is_none()) {
        steps.pop();
        lexemes.pop();
    }
    let composer = steps.last()?;
    let to = lexemes.last().map(|(last, _)| last + 1)?;
    Some(finish(tokens, from, to, composer, &lexemes))
}

/// A scale that does not fit begins another number with the words before it: do hazaar, teen hazaar.
fn give_back(refused: &Lexeme, lexemes: &mut Vec<(usize, Lexeme)>, steps: &mut Vec<Composer>) {
    let scale = |lexeme: &Lexeme| matches!(lexeme.parts.last(), Some(Part::Scale(_)));
    if !matches!(refused.parts.first(), Some(Part::Scale(_)))
        || !lexemes.iter().any(|(_, lexeme)| scale(lexeme))
    {
        return;
    }
    while lexemes.last().is_some_and(|(_, lexeme)| !scale(lexeme)) {
        lexemes.pop();
        steps.pop();
    }
}

/// Signs and small words inside a number: twenty-five, two hundred and fifty, two and a half.
fn joins_parts(tokens: &[Token<'_>], at: usize, before: &[(usize, Lexeme)], language: Language) -> bool {
    let (Some(token), Some((_, last))) = (tokens.get(at), before.last()) else { return false };
    let Some(next) = tokens.get(at + 1) else { return false };
    if token.text == "-" {
        // A hyphen joins what the grammar puts together; do-teen is a range.
        let tens = matches!(last.parts.last(), Some(Part::Cardinal(20 | 30 | 40 | 50 | 60 | 70 | 80 | 90)));
        let scale = matches!(last.parts.last(), Some(Part::Scale(_) | Part::Plus(_) | Part::Minus(_)));
        let words = token.glued && next.glued && next.is_word();
        let scale_next = lexeme(next, Place::Joined, language)
            .is_some_and(|next| matches!(next.parts.first(), Some(Part::Scale(_))));
        return words && ((tens && last.tens == Tens::Apart) || scale || scale_next);
    }
    let english = token.text.eq_ignore_ascii_case("and") || token.text.eq_ignore_ascii_case("a");
    english && lexeme(next, Place::Joined, language).is_some_and(|next| english_join(last, &next))
        || (token.text.eq_ignore_ascii_case("and")
            && next.text.eq_ignore_ascii_case("a")
            && tokens.get(at + 2).is_some_and(|after| after.key == "half"))
}

fn english_join(last: &Lexeme, next: &Lexeme) -> bool {
    let fraction = matches!(next.parts.first(), Some(Part::Suffix(_)));
    let scale = matches!(last.parts.last(), Some(Part::Scale(_)));
    let small = matches!(next.parts.first(), Some(Part::Cardinal(1..=99) | Part::Digits(_)));
    let half_a_lakh =
        matches!((last.parts.last(), next.parts.first()), (Some(Part::Fraction(_)), Some(Part::Scale(_))));
    fraction || (scale && small) || half_a_lakh
}

fn finish(
    tokens: &[Token<'_>],
    from: usize,
    to: usize,
    composer: &Composer,
    lexemes: &[(usize, Lexeme)],
) -> Found {
    let mut readings: Vec<Number> = composer.value().into_iter().chain(composer.other_value()).collect();
    for changed in 0..lexemes.len() {
        if let Some(value) = with_other(lexemes, changed)
            && !readings.contains(&value)
        {
            readings.push(value);
        }
    }
    let digits_alone = match lexemes {
        [(at, _)] => tokens.get(*at).filter(|token| token.kind == Kind::Digits),
        _ => None,
    };
    let mut certainty = if readings.len() > 1 { Certainty::Ambiguous } else { Certainty::Exact };
    if let Some(written) = digits_alone.and_then(|token| digits::read(token.text)) {
        (certainty, readings) = (written.certainty, written.readings);
    }
    let weak = lexemes.iter().all(|(_, lexeme)| lexeme.weak);
    let spoken = Spoken { certainty, readings };
    let bare_scale =
        lexemes.first().is_some_and(|(_, lexeme)| matches!(lexeme.parts.first(), Some(Part::Scale(_))));
    Found { from, to, spoken, weak, scaled: composer.has_scale(), digits: digits_alone.is_some(), bare_scale }
}

/// The number when one word is read as its other meaning.
fn with_other(lexemes: &[(usize, Lexeme)], changed: usize) -> Option<Number> {
    let other = lexemes.get(changed)?.1.other?;
    let mut composer = Composer::default();
    for (place, (_, lexeme)) in lexemes.iter().enumerate() {
        let parts = if place == changed { std::slice::from_ref(&other) } else { lexeme.parts.as_slice() };
        if !parts.iter().all(|part| composer.push(*part, lexeme.tens)) {
            return None;
        }
    }
    composer.value()
}

fn lexeme(token: &Token<'_>, place: Place, language: Language) -> Option<Lexeme> {
    match token.kind {
        Kind::Digits => {
            let value = *digits::read(token.text)?.readings.first()?;
            Some(Lexeme { parts: vec![Part::Digits(value)], other: None, tens: Tens::InOneWord, weak: false })
        }
        Kind::Word(_) => word(token, place, language),
        Kind::Sign => {
            let part = match token.text {
                "½" => Part::Suffix(50),
                "¼" => Part::Suffix(25),
                "¾" => Part::Suffix(75),
                _ => return None,
            };
            Some(Lexeme { parts: vec![part], other: None, tens: Tens::InOneWord, weak: false })
        }
        Kind::Foreign => None,
    }
}

fn word(token: &Token<'_>, place: Place, language: Language) -> Option<Lexeme> {
    if let Some(parts) = shorthand(token, place) {
        return Some(Lexeme { parts, other: None, tens: Tens::InOneWord, weak: false });
    }
    known(token, language)
        .or_else(|| known(token, Language::English))
        .map(|lexeme| half(token, lexeme, place))
        .or_else(|| near(token, language))
        .or_else(|| elsewhere(token, language))
}

/// `k`, `L` and `cr` right after digits.
fn shorthand(token: &Token<'_>, place: Place) -> Option<Vec<Part>> {
    if place == Place::First {
        return None;
    }
    let scale = match token.text {
        "k" | "K" if token.glued => 1_000,
        "L" | "l" if token.glued => 100_000,
        "lk" | "lkh" | "Lk" | "Lakh" => 100_000,
        "cr" | "Cr" | "CR" => 10_000_000,
        _ => return None,
    };
    Some(vec![Part::Scale(scale)])
}

/// After a number English `half` and `quarter` add to it, or count it: two and a half, three quarters.
fn half(token: &Token<'_>, mut lexeme: Lexeme, place: Place) -> Lexeme {
    let part = match (token.key.as_str(), place) {
        ("half", Place::Inside | Place::Joined) => Part::Suffix(50),
        ("kuarter" | "kuarters", Place::Joined) => Part::Suffix(25),
        ("kuarter" | "kuarters", Place::Inside) => Part::Quarters,
        _ => return lexeme,
    };
    lexeme.parts = vec![part];
    lexeme
}

/// How a language itself reads the word.
fn known(token: &Token<'_>, language: Language) -> Option<Lexeme> {
    if !script_fits(token, language) {
        return None;
    }
    let only = Languages::only(language);
    let (first, other) = two(token.senses, only);
    if let Some(first) = first {
        let tens = if language == Language::English { Tens::Apart } else { Tens::InOneWord };
        let (first, other) = match two(if other.is_some() { lexicon::spelled(token.text) } else { &[] }, only)
        {
            (Some(spelled), rest) => (spelled, rest),
            (None, _) => (first, other),
        };
        return Some(Lexeme { parts: vec![first], other, tens, weak: token.clashes() });
    }
    if Languages::DRAVIDIAN.has(language) {
        let (parts, end) = segment::pieces(&token.key, language)?;
        return Some(Lexeme {
            parts,
            other: None,
            tens: Tens::Apart,
            weak: end == End::Open || token.clashes(),
        });
    }
    let parts = segment::fused(&token.key, token.script()?, only)?;
    Some(Lexeme { parts, other: None, tens: Tens::InOneWord, weak: token.clashes() })
}

/// The first two number meanings among senses.
fn two(senses: &[Sense], languages: Languages) -> (Option<Part>, Option<Part>) {
    let mut parts = senses
        .iter()
        .filter(|sense| sense.languages.meets(languages))
        .filter_map(|sense| segment::meaning_part(sense.meaning));
    (parts.next(), parts.next())
}

fn script_fits(token: &Token<'_>, language: Language) -> bool {
    token.script().is_some_and(|script| script == Script::Latin || script == language.script())
}

/// A spelling close to one number word of the language and to no other.
fn near(token: &Token<'_>, language: Language) -> Option<Lexeme> {
    let everyday = token.senses.iter().any(|sense| sense.languages.has(language));
    let latin = token.script() == Some(Script::Latin);
    if token.key.len() < 4 || everyday || !latin || token.clashes() {
        return None;
    }
    let skeleton = fold::skeleton(&token.key);
    let (first, other) = two(lexicon::near_numbers(&skeleton), Languages::only(language));
    Some(Lexeme { parts: vec![first?], other, tens: Tens::InOneWord, weak: true })
}

/// A word of another language in a mixed message, when every language that has it means the same.
fn elsewhere(token: &Token<'_>, language: Language) -> Option<Lexeme> {
    if token.clashes() {
        return None;
    }
    let everyday = token
        .senses
        .iter()
        .any(|sense| sense.languages.has(language) && segment::meaning_part(sense.meaning).is_none());
    let mut found: Option<Part> = None;
    for sense in token.senses {
        let Some(part) = segment::meaning_part(sense.meaning) else { continue };
        let fits = sense.languages.iter().any(|language| script_fits(token, language));
        if !fits {
            continue;
        }
        if everyday || found.is_some_and(|other| other != part) {
            return None;
        }
        found = Some(part);
    }
    found.map(|part| Lexeme { parts: vec![part], other: None, tens: Tens::InOneWord, weak: false })
}

/// Whether an unknown word shares at least so many letters with the beginning of a number word of the
/// language: it may be one, misspelled.
pub(crate) fn looks_like_number(token: &Token<'_>, language: Language, least: usize) -> bool {
    if !token.is_word() || !token.senses.is_empty() || token.key.len() < 4 || !script_fits(token, language) {
        return false;
    }
    // Names in Latin letters are many; a native word must share less to be doubted.
    let least = least + usize::from(token.script() == Some(Script::Latin));
    if Languages::DRAVIDIAN.has(language) {
        return segment::begins_with_piece(&token.key, language, least);
    }
    let Some(front) = token.key.get(..least) else { return false };
    lexicon::starting_with(front).iter().any(|(_, senses)| two(senses, Languages::only(language)).0.is_some())
}

/// The languages among those given in which a key is a run-together number word.
pub(crate) fn number_word_in(key: &str, script: Script, languages: Languages) -> Languages {
    if key.len() < 3 {
        return Languages::NONE;
    }
    let is_number = |language: &Language| match Languages::DRAVIDIAN.has(*language) {
        true => segment::pieces(key, *language).is_some(),
        false => segment::fused(key, script, Languages::only(*language)).is_some(),
    };
    languages.iter().filter(is_number).fold(Languages::NONE, Languages::with)
}
