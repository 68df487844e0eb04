//! A message's tokens read in one language, and the number that begins at one of them.

use std::borrow::Cow;
use std::cell::OnceCell;

use munshi_types::{Language, Script};

use super::compose::{NumberComposer, TensStyle};
use super::lexeme::{
    CreditLikelihood, Lexeme, LexemePosition, credit_likelihood, read_lexeme, read_positioned,
};
use super::{Certainty, NumberPart, NumberReadings, NumberSpan, digits};
use crate::lexicon::Languages;
use crate::number::Number;
use crate::token::{MessageToken, MessageTokenKind, NameLikelihood};

/// What every token of a message contributes to numbers in one language. One for each language of a message:
/// dates, times and amounts all read from it, and a token is looked up when the first of them comes to it.
pub(crate) struct LanguageLexemes {
    lexemes: Vec<OnceCell<Option<Lexeme>>>,
    language: Language,
}

impl LanguageLexemes {
    pub(crate) fn new(tokens: &[MessageToken<'_>], language: Language) -> Self {
        Self { lexemes: vec![OnceCell::new(); tokens.len()], language }
    }

    /// What a token contributes wherever it stands.
    fn lexeme(&self, tokens: &[MessageToken<'_>], at: usize) -> Option<&Lexeme> {
        let token = tokens.get(at)?;
        self.lexemes.get(at)?.get_or_init(|| read_lexeme(token, self.language)).as_ref()
    }

    /// Whether a token is a scale, or ends in one.
    pub(crate) fn is_scale(&self, tokens: &[MessageToken<'_>], at: usize) -> bool {
        let last = self.lexeme(tokens, at).and_then(|lexeme| lexeme.parts.last());
        matches!(last, Some(NumberPart::Scale(_)))
    }

    /// What a token contributes where it stands.
    fn lexeme_at(
        &self,
        tokens: &[MessageToken<'_>],
        at: usize,
        place: LexemePosition,
    ) -> Option<Cow<'_, Lexeme>> {
        let token = tokens.get(at)?;
        if credit_likelihood(tokens, at) != CreditLikelihood::No {
            return None;
        }
        read_positioned(token, place).map(Cow::Owned).or_else(|| self.lexeme(tokens, at).map(Cow::Borrowed))
    }

    /// The number that begins at a token; none when none does. `tokens` may be cut short of the message.
    pub(crate) fn read(&self, tokens: &[MessageToken<'_>], from: usize) -> Option<NumberSpan> {
        let first = self.lexeme(tokens, from)?;
        let mut found = read(self, tokens, from)?;
        // A doubtful word before a number may be no part of it: `so` do din, `Tina` sau rupaye.
        let doubtful = first.guessed
            || (matches!(first.parts.first(), Some(NumberPart::Scale(_)))
                && tokens.get(from).is_some_and(MessageToken::clashes))
            || is_everyday(tokens, from, self.language)
            || self.is_apart(tokens, from, first);
        if found.to == from + 1 {
            // What only sounds like a native number word is none by itself.
            return (!first.guessed || is_latin(tokens, from)).then_some(found);
        }
        if doubtful && let Some(rest) = read(self, tokens, from + 1) {
            let more = rest.spoken.readings.into_iter().chain(as_seven(tokens, from, &found));
            let more: Vec<Number> = more.filter(|value| !found.spoken.readings.contains(value)).collect();
            // Per hundred two: what an ending closes is no part of what follows.
            let apart = first.inflected || tokens.get(from).is_some_and(is_percent);
            let at = if apart { 0 } else { found.spoken.readings.len() };
            found.spoken.readings.splice(at..at, more);
            found.spoken.certainty = Certainty::Ambiguous;
        }
        self.doubt_tail(tokens, &mut found);
        Some(found)
    }

    /// Whether a first word may have nothing to do with the scale after it: it is as likely another word, it may be a
    /// name, an ending closes it, it is itself a scale, or the two are of different languages.
    fn is_apart(&self, tokens: &[MessageToken<'_>], from: usize, first: &Lexeme) -> bool {
        let Some(token) = tokens.get(from) else { return false };
        let Some(next) = self.lexeme(tokens, from + 1) else { return first.inflected };
        let scale = |lexeme: &Lexeme| matches!(lexeme.parts.first(), Some(NumberPart::Scale(_)));
        let latin = is_latin(tokens, from);
        let southern = Languages::DRAVIDIAN.has(self.language);
        let mixed = latin && southern && !first.foreign && next.foreign;
        let scales = latin
            && matches!((first.parts.as_slice(), next.parts.first()), ([NumberPart::Scale(low)], Some(NumberPart::Scale(high))) if low < high);
        let other = token.is_everyday(self.language) || token.named == NameLikelihood::Maybe;
        let digits =
            token.named == NameLikelihood::Maybe && matches!(next.parts.first(), Some(NumberPart::Digits(_)));
        first.inflected || digits || is_percent(token) || (scale(next) && (other || mixed || scales))
    }

    /// A last word that is only guessed is likelier no part of the number: nau hazaar *bhar* diya.
    fn doubt_tail(&self, tokens: &[MessageToken<'_>], found: &mut NumberSpan) {
        let last = found.to.saturating_sub(1);
        let guessed = last > found.from && self.lexeme(tokens, last).is_some_and(|lexeme| lexeme.guessed);
        let Some(shorter) =
            tokens.get(..last).filter(|_| guessed).and_then(|cut| read(self, cut, found.from))
        else {
            return;
        };
        if shorter.to == last && !shorter.guessed {
            let longer = std::mem::replace(&mut found.spoken.readings, shorter.spoken.readings);
            found.spoken.readings.extend(longer);
            found.spoken.certainty = Certainty::Ambiguous;
        }
    }
}

/// Number words that are likelier something else before a scale: tera sau is thirteen hundred, or your hundred;
/// ke saath hazaar is sixty thousand, or a thousand along with.
fn is_everyday(tokens: &[MessageToken<'_>], at: usize, language: Language) -> bool {
    const OF: &[&str] =
        &["ke", "mere", "tere", "uske", "iske", "unke", "apne", "hamare", "apke", "de", "sade"];
    let Some(token) = tokens.get(at) else { return false };
    let after_of = at
        .checked_sub(1)
        .and_then(|at| tokens.get(at))
        .is_some_and(|before| OF.contains(&before.key.as_str()));
    match token.text.to_lowercase().as_str() {
        "no" | "na" | "naa" | "chai" => language != Language::Odia,
        "tera" | "तेरा" => language != Language::Marathi,
        "saath" | "sath" | "साथ" => after_of,
        // An oil tin, hundred.
        "tin" => tokens.get(at + 1).is_some_and(|next| matches!(next.key.as_str(), "hundred" | "thousand")),
        _ => false,
    }
}

fn is_latin(tokens: &[MessageToken<'_>], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| token.script() == Some(Script::Latin))
}

/// Of every hundred: saikda do rupaye byaj.
fn is_percent(token: &MessageToken<'_>) -> bool {
    const PERCENT: &[&str] =
        &["saikda", "sainkda", "saikra", "sainkra", "sekda", "shekda", "shekada", "sekada"];
    PERCENT.contains(&token.key.as_str())
}

/// Saath is sixty, and seven as many type it.
fn as_seven(tokens: &[MessageToken<'_>], from: usize, found: &NumberSpan) -> Option<Number> {
    let saath = ["saath", "sath"]
        .iter()
        .any(|text| tokens.get(from).is_some_and(|token| token.text.eq_ignore_ascii_case(text)));
    let sixty = found.spoken.readings.first()?.as_whole().filter(|value| saath && value % 60 == 0)?;
    Some(Number::from_whole(sixty / 60 * 7))
}

type Said<'l> = (usize, Cow<'l, Lexeme>);

fn read(line: &LanguageLexemes, tokens: &[MessageToken<'_>], from: usize) -> Option<NumberSpan> {
    let mut composer = NumberComposer::default();
    let mut steps: Vec<NumberComposer> = Vec::new();
    let mut lexemes: Vec<Said<'_>> = Vec::new();
    let mut at = from;
    while at < tokens.len() {
        if joins_parts(line, tokens, at, &lexemes) {
            at += 1;
            continue;
        }
        let place = match lexemes.last() {
            None => LexemePosition::First,
            Some((last, _)) if last + 1 < at => LexemePosition::Joined,
            Some(_) => LexemePosition::Inside,
        };
        let Some(lexeme) = line.lexeme_at(tokens, at, place) else { break };
        let mut next = composer;
        if !lexeme.parts.iter().all(|part| next.push(*part, lexeme.tens)) {
            pop_to_last_scale(&lexeme, &mut lexemes, &mut steps);
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
    Some(build_span(tokens, from, to, composer, &lexemes))
}

/// A scale that does not fit begins another number with the words before it: do hazaar, teen hazaar.
fn pop_to_last_scale(refused: &Lexeme, lexemes: &mut Vec<Said<'_>>, steps: &mut Vec<NumberComposer>) {
    let scale = |lexeme: &Lexeme| matches!(lexeme.parts.last(), Some(NumberPart::Scale(_)));
    if !matches!(refused.parts.first(), Some(NumberPart::Scale(_)))
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
fn joins_parts(line: &LanguageLexemes, tokens: &[MessageToken<'_>], at: usize, before: &[Said<'_>]) -> bool {
    let (Some(token), Some((_, last))) = (tokens.get(at), before.last()) else { return false };
    let Some(next) = tokens.get(at + 1) else { return false };
    if token.text == "-" {
        // A hyphen joins what the grammar puts together; do-teen is a range.
        let tens =
            matches!(last.parts.last(), Some(NumberPart::Cardinal(20 | 30 | 40 | 50 | 60 | 70 | 80 | 90)));
        let scale = matches!(
            last.parts.last(),
            Some(NumberPart::Scale(_) | NumberPart::Plus(_) | NumberPart::Minus(_))
        );
        let words = token.glued && next.glued && next.is_word();
        let scale_next = line
            .lexeme_at(tokens, at + 1, LexemePosition::Joined)
            .is_some_and(|next| matches!(next.parts.first(), Some(NumberPart::Scale(_))));
        return words && ((tens && last.tens == TensStyle::Apart) || scale || scale_next);
    }
    let english = token.text.eq_ignore_ascii_case("and") || token.text.eq_ignore_ascii_case("a");
    english
        && line
            .lexeme_at(tokens, at + 1, LexemePosition::Joined)
            .is_some_and(|next| can_join_in_english(last, &next))
        || (token.text.eq_ignore_ascii_case("and")
            && next.text.eq_ignore_ascii_case("a")
            && tokens.get(at + 2).is_some_and(|after| after.key == "half"))
}

fn can_join_in_english(last: &Lexeme, next: &Lexeme) -> bool {
    let fraction = matches!(next.parts.first(), Some(NumberPart::Suffix(_)));
    let scale = matches!(last.parts.last(), Some(NumberPart::Scale(_)));
    let small = matches!(next.parts.first(), Some(NumberPart::Cardinal(1..=99) | NumberPart::Digits(_)));
    let half_a_lakh = matches!(
        (last.parts.last(), next.parts.first()),
        (Some(NumberPart::Fraction(_)), Some(NumberPart::Scale(_)))
    );
    fraction || (scale && small) || half_a_lakh
}

fn build_span(
    tokens: &[MessageToken<'_>],
    from: usize,
    to: usize,
    composer: &NumberComposer,
    lexemes: &[Said<'_>],
) -> NumberSpan {
    let mut readings: Vec<Number> = composer.value().into_iter().chain(composer.other_value()).collect();
    for (changed, (_, lexeme)) in lexemes.iter().enumerate() {
        for value in lexeme.others.iter().filter_map(|other| compose_with_other(lexemes, changed, other)) {
            if !readings.contains(&value) {
                readings.push(value);
            }
        }
    }
    let digits_alone = match lexemes {
        [(at, _)] => tokens.get(*at).filter(|token| token.kind == MessageTokenKind::Digits),
        _ => None,
    };
    let guessed = lexemes.iter().any(|(_, lexeme)| lexeme.guessed);
    let unclear = lexemes.iter().any(|(_, lexeme)| lexeme.unclear);
    let mut certainty =
        if readings.len() > 1 || guessed || unclear { Certainty::Ambiguous } else { Certainty::Exact };
    if let Some(written) = digits_alone.and_then(|token| digits::read(token.text)) {
        (certainty, readings) = (written.certainty, written.readings);
    }
    // Guesses that fit together into a scaled number are doubted, not dropped.
    let fits = guessed && lexemes.len() > 1 && composer.has_scale();
    let weak = !fits && lexemes.iter().all(|(_, lexeme)| lexeme.weak);
    let spoken = NumberReadings { certainty, readings };
    let bare_scale =
        lexemes.first().is_some_and(|(_, lexeme)| matches!(lexeme.parts.first(), Some(NumberPart::Scale(_))));
    NumberSpan {
        from,
        to,
        spoken,
        weak,
        scaled: composer.has_scale(),
        digits: digits_alone.is_some(),
        guessed,
        bare_scale,
    }
}

/// The number when one word is read as its other meaning.
fn compose_with_other(lexemes: &[Said<'_>], changed: usize, other: &[NumberPart]) -> Option<Number> {
    let mut composer = NumberComposer::default();
    for (place, (_, lexeme)) in lexemes.iter().enumerate() {
        let parts = if place == changed { other } else { lexeme.parts.as_slice() };
        if !parts.iter().all(|part| composer.push(*part, lexeme.tens)) {
            return None;
        }
    }
    composer.value()
}
