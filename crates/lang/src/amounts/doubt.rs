//! What the languages make of a number together, and what makes it unsure.

use munshi_types::{Language, Script};

use crate::lexicon::{Languages, Meaning};
use crate::numbers::{self, Certainty, Found};
use crate::reader::Reader;
use crate::token::Token;

/// Words that make a bare scale say nothing exact: a couple of hundred, kuch hazaar. As the fold leaves them.
const VAGUE: &[&str] =
    &["of", "few", "several", "some", "kuch", "kai", "thode", "anek", "kichu", "kahi", "ketlak"];

/// What the languages the message may be in make of the number at a token, taken together.
pub(super) fn agree(reader: &Reader<'_>, at: usize) -> Option<Found> {
    let mut all = reader.numbers(at, reader.tokens.len());
    let mut best = all.next()?;
    for other in all {
        // What one language knows outweighs what another only guesses.
        if best.guessed != other.guessed && best.to == other.to {
            if best.guessed {
                best = other;
            }
            continue;
        }
        if other.to > best.to {
            // A longer reading understood more; the shorter one is kept as a doubt only if it says otherwise.
            best = other;
            continue;
        }
        if other.to < best.to {
            continue;
        }
        best.weak = best.weak && other.weak;
        for value in other.spoken.readings {
            if !best.spoken.readings.contains(&value) {
                best.spoken.readings.push(value);
                best.spoken.certainty = Certainty::Ambiguous;
            }
        }
    }
    doubt_verb(reader, &mut best);
    doubt_neighbours(reader, &mut best);
    doubt_letter(reader, &mut best);
    super::scales::doubt_scale(reader, &mut best);
    super::rivals::doubt(reader, &mut best);
    Some(best)
}

/// A word beside number words that begins like one but is none may be part of the number, misspelled. What is
/// left of the number is then not to be trusted.
fn doubt_neighbours(reader: &Reader<'_>, found: &mut Found) {
    let like = |at: usize, least: usize| {
        reader.token(at).is_some_and(|token| numbers::looks_like_number(token, reader.language(), least))
    };
    let before = found.from.checked_sub(1).is_some_and(|at| match found.bare_scale {
        true => {
            like(at, 3) || reader.token(at).is_some_and(|token| may_count_hundreds(token, reader.language()))
        }
        false => like(at, 4),
    });
    let vague = found.bare_scale
        && found
            .from
            .checked_sub(1)
            .and_then(|at| reader.token(at))
            .is_some_and(|token| VAGUE.contains(&token.key.as_str()));
    // A saade that found no number to change still says that this is not the whole of it.
    let left_over = found.from.checked_sub(1).and_then(|at| {
        reader.token(at)?.find(Languages::EVERY, |meaning| {
            matches!(meaning, Meaning::Plus(_) | Meaning::Minus(_)).then_some(())
        })
    });
    if !found.digits && (before || vague || left_over.is_some() || (found.scaled && like(found.to, 3))) {
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// Whether an unknown word right before a bare scale may say how many. The north seldom says a bare hundred after
/// a name without its case word, and a name has its capital; the south says a bare thousand all the time.
fn may_count_hundreds(token: &Token<'_>, language: Language) -> bool {
    let unknown = token.senses.is_empty() && token.script() == Some(Script::Latin);
    let capital = token.text.starts_with(|letter: char| letter.is_ascii_uppercase());
    unknown && !capital && !Languages::DRAVIDIAN.has(language)
}

/// `teen sau do` is 302, or "give three hundred".
fn doubt_verb(reader: &Reader<'_>, found: &mut Found) {
    let last = found.to.saturating_sub(1);
    let verb = reader
        .token(last)
        .is_some_and(|token| matches!(token.text.to_lowercase().as_str(), "do" | "दो" | "ਦੋ" | "no" | "na"));
    if !verb || last <= found.from || super::counts(reader, found.to) {
        return;
    }
    let shorter = reader.number_before(found.from, last);
    for value in shorter.into_iter().flat_map(|found| found.spoken.readings) {
        found.spoken.readings.push(value);
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// `five k` may be five thousand, but `500 k liye` is not.
fn doubt_letter(reader: &Reader<'_>, found: &mut Found) {
    let scale = match reader.token(found.to).filter(|token| !token.glued).map(|token| token.text) {
        Some("k" | "K") => 1_000,
        Some("L") => 100_000,
        _ => return,
    };
    if let Some(value) = found.spoken.readings.first().and_then(|value| value.times(scale)) {
        found.spoken.readings.push(value);
        found.spoken.certainty = Certainty::Ambiguous;
    }
}
