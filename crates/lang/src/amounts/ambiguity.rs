//! What the languages make of a number together, and what makes it unsure.

use munshi_types::{Language, Script};

use crate::lexicon::{self, Languages, Meaning};
use crate::number::Number;
use crate::numbers::{self, Certainty, NumberSpan};
use crate::token::{MessageToken, MessageTokenKind};
use crate::tokenized_message::TokenizedMessage;

/// Words that make a bare scale say nothing exact: a couple of hundred, kuch hazaar. As the fold leaves them.
const VAGUE: &[&str] =
    &["of", "few", "several", "some", "kuch", "kai", "thode", "anek", "kichu", "kahi", "ketlak"];

/// What the languages the message may be in make of the number at a token, taken together.
pub(super) fn reconcile_languages(reader: &TokenizedMessage<'_>, at: usize) -> Option<NumberSpan> {
    let mut all = reader.numbers(at, reader.tokens.len());
    let Some(mut best) = all.next() else { return read_other_languages(reader, at) };
    for other in all {
        // What one language knows outweighs what another only guesses.
        if best.guessed != other.guessed && best.to == other.to {
            if best.guessed {
                best = other;
            }
            continue;
        }
        if other.to > best.to {
            // A longer reading understood more.
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
    super::other_languages::doubt(reader, &mut best);
    doubt_particle(reader, &mut best);
    doubt_gap(reader, &mut best);
    doubt_and(reader, &mut best);
    doubt_hyphen(reader, &mut best);
    doubt_loan(reader, &mut best);
    doubt_kodi(reader, &mut best);
    Some(best)
}

/// A number that only languages know which the message was not taken to be in.
fn read_other_languages(reader: &TokenizedMessage<'_>, at: usize) -> Option<NumberSpan> {
    reader.token(at).filter(|token| !reader.sure && token.is_word())?;
    let counted =
        |found: &NumberSpan| !found.bare_scale && (found.scaled || super::is_countable(reader, found.to));
    let read = |language: Language| reader.lexemes(language).read(&reader.tokens, at);
    let mut all = Language::ALL.into_iter().filter_map(read).filter(|found| !found.guessed && counted(found));
    let mut best = all.next()?;
    // The first word may be none of the number: chhe is "is" in Gujarati.
    let rest = reader.number(at + 1).filter(|rest| rest.to == best.to);
    let others = all.filter(|other| other.to == best.to).chain(rest);
    for value in others.flat_map(|other| other.spoken.readings) {
        if !best.spoken.readings.contains(&value) {
            best.spoken.readings.push(value);
        }
    }
    best.spoken.certainty = Certainty::Ambiguous;
    Some(best)
}

/// A word beside number words that begins like one but is none may be part of the number, misspelled. What is
/// left of the number is then not to be trusted.
fn doubt_neighbours(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    let found_bare = found.bare_scale;
    let like = |at: usize, least: usize| {
        reader.token(at).is_some_and(|token| {
            let looks = |language: &Language| numbers::looks_like_number(token, *language, least);
            if reader.sure || !found_bare {
                reader.languages.iter().any(looks)
            } else {
                Language::ALL.iter().any(looks)
            }
        })
    };
    let before = found.from.checked_sub(1).is_some_and(|at| match found.bare_scale {
        true => like(at, 3) || reader.token(at).is_some_and(|token| may_count(reader, at, token)),
        false => like(at, 4) && reader.token(at).is_some_and(|token| may_begin(reader, token)),
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

/// Whether a word begins as a number word may; Latin letters spell anything.
fn may_begin(reader: &TokenizedMessage<'_>, token: &MessageToken<'_>) -> bool {
    token.script() == Some(Script::Latin) || lexicon::starts_like_number(token.text, reader.known)
}

/// Whether an unknown word right before a bare scale may say how many. The north seldom says a bare hundred after
/// a name without its case word, and a name has its capital; the south says a bare thousand all the time.
fn may_count(reader: &TokenizedMessage<'_>, at: usize, token: &MessageToken<'_>) -> bool {
    let known = token.senses.iter().any(|sense| sense.languages.intersects(reader.known));
    let capital = token.text.starts_with(|letter: char| letter.is_ascii_uppercase());
    let northern = reader.languages.iter().any(|language| !Languages::DRAVIDIAN.has(*language));
    let opens = at == 0 && !reader.sure;
    token.script() == Some(Script::Latin) && !known && !capital && (northern || opens)
}

/// `teen sau do` is 302, or "give three hundred".
fn doubt_verb(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    let last = found.to.saturating_sub(1);
    let verb = reader
        .token(last)
        .is_some_and(|token| matches!(token.text.to_lowercase().as_str(), "do" | "दो" | "ਦੋ" | "no" | "na"));
    let fraction = reader.find(last.saturating_sub(1), |meaning| {
        matches!(meaning, Meaning::Plus(_) | Meaning::Minus(_)).then_some(())
    });
    if !verb || fraction.is_some() || last <= found.from || super::is_countable(reader, found.to) {
        return;
    }
    let shorter = reader.numbers(found.from, last).filter(|shorter| shorter.to == last);
    for value in shorter.flat_map(|shorter| shorter.spoken.readings) {
        if !found.spoken.readings.contains(&value) {
            found.spoken.readings.push(value);
        }
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// `five k` may be five thousand, but `500 k liye` is not.
fn doubt_letter(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    let scale = match reader.token(found.to).filter(|token| !token.glued).map(|token| token.text) {
        Some("k" | "K") => 1_000,
        Some("L") => 100_000,
        _ => return,
    };
    let times = |value: &Number| value.checked_mul(scale);
    if let Some(value) = found.spoken.readings.first().and_then(times) {
        found.spoken.readings.push(value);
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// `2L doodh` is litres, `4K TV` no money: a letter run into digits is a scale for sure only beside money. `2k5` is
/// 2,005 or 2,500.
pub(super) fn doubt_run_in(reader: &TokenizedMessage<'_>, found: &mut NumberSpan, marked: bool) {
    let letter = |at: usize| reader.token(at).filter(|token| token.glued).map(|token| token.text);
    let digits = |at: usize| reader.token(at).filter(|token| token.kind == MessageTokenKind::Digits);
    let (Some(last), Some(count)) = (found.to.checked_sub(1), digits(found.from)) else { return };
    let count = numbers::digits::read(count.text).and_then(|spoken| spoken.readings.first().copied());
    const SCREENS: &[&str] = &["tv", "video", "led", "camera", "monitor", "display", "ultra", "smart"];
    let screen = reader
        .token(found.to)
        .is_some_and(|token| SCREENS.iter().any(|word| token.text.eq_ignore_ascii_case(word)));
    let run_in = matches!(letter(last), Some("L" | "l" | "K")) || (letter(last) == Some("k") && screen);
    if found.to == found.from + 2 && run_in && !marked {
        found.spoken.readings.extend(count);
        found.spoken.certainty = Certainty::Ambiguous;
    }
    let scale = letter(found.from + 1).filter(|text| matches!(*text, "k" | "K" | "L" | "l"));
    if found.to == found.from + 3 && scale.is_some() && digits(last).is_some_and(|token| token.glued) {
        let decimal = count.zip(digits(last)).and_then(|(count, rest)| {
            let scale = if matches!(scale, Some("k" | "K")) { 1_000 } else { 100_000 };
            Number::from_decimal(&format!("{count}.{}", rest.text))?.checked_mul(scale)
        });
        found.spoken.readings.extend(decimal);
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// `number 500 diya` may only name the 500.
pub(super) fn doubt_named(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    let phone = |meaning| (meaning == Meaning::Phone).then_some(());
    let named = found.from.checked_sub(1).and_then(|at| reader.token(at)).is_some_and(|token| {
        let number = ["num", "nam", "nem"].iter().any(|front| token.key.starts_with(front));
        number && token.find(Languages::EVERY, phone).is_some()
    });
    if named {
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// `do hi sau` is two hundred, and only that: a small word may stand between a scale and its count.
fn doubt_particle(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    const ONLY: &[&str] = &["hi", "bhi", "to", "toh", "ही", "भी", "तो", "च", "j", "જ", "ਹੀ"];
    let Some(at) = found.from.checked_sub(2).filter(|_| found.bare_scale) else { return };
    let only = reader.token(at + 1).is_some_and(|token| ONLY.contains(&token.text));
    let count = reader.numbers(at, at + 1).find_map(|count| count.spoken.readings.first()?.as_whole());
    if let Some(count) = count.filter(|_| only) {
        let times =
            found.spoken.readings.iter().filter_map(|value| value.checked_mul(count)).collect::<Vec<_>>();
        found.spoken.readings.splice(0..0, times);
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// A word nobody knows between a number and its money word may be the rest of the number: eksho *poncash* taka.
fn doubt_gap(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    let unknown = reader.token(found.to).is_some_and(|token| {
        let small = !token.text.starts_with(|letter: char| letter.is_uppercase());
        token.is_word() && token.senses.is_empty() && token.key.len() > 2 && small
    });
    let rupee = reader.find_inflected(found.to + 1, |meaning| (meaning == Meaning::Rupee).then_some(()));
    if unknown && rupee.is_some() && !found.digits {
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// `ek hajar ne ek` is 1,001, or a thousand, and one more of something.
fn doubt_and(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    const AND: &[&str] = &["aur", "ne", "ane", "ani", "ate", "और", "ને", "અને", "आणि", "ਅਤੇ"];
    let joined = reader.token(found.to).is_some_and(|token| AND.contains(&token.text));
    if !joined || !found.scaled || found.digits {
        return;
    }
    let Some(rest) = reader.number(found.to + 1) else { return };
    let [Some(small)] = *rest.spoken.readings.iter().map(|value| value.as_whole()).collect::<Vec<_>>() else {
        return;
    };
    let ends = !super::is_countable(reader, rest.to) && small < 100 && !rest.digits;
    let sum = found.spoken.readings.first().and_then(|value| value.checked_add(Number::from_whole(small)));
    if let Some(sum) = sum.filter(|_| ends) {
        found.spoken.readings.push(sum);
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// `hazaar-paanch sau` is 1,500, or some hundreds up to a thousand.
fn doubt_hyphen(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    let hyphen = reader.token(found.from + 1).is_some_and(|token| token.text == "-");
    if !(hyphen && found.bare_scale && found.to > found.from + 2) {
        return;
    }
    let parts =
        [reader.number_before(found.from, found.from + 1), reader.number_before(found.from + 2, found.to)];
    let values: Vec<Number> = parts.into_iter().flatten().flat_map(|part| part.spoken.readings).collect();
    found.spoken.readings.extend(values);
    found.spoken.certainty = Certainty::Ambiguous;
}

/// Numbers said loosely: ek aadh hazaar, hazaar ek do, do paanch sau. `before` is the word before it that is free.
pub(super) fn doubt_about(reader: &TokenizedMessage<'_>, found: &mut NumberSpan, before: Option<usize>) {
    if !found.scaled || found.digits {
        return;
    }
    let digit = |at: usize| {
        let count =
            reader.numbers(at, at + 1).find(|count| !count.scaled && !count.guessed && !count.digits)?;
        count.spoken.readings.first()?.as_whole().filter(|value| (1..10).contains(value))
    };
    if let Some(count) = before.filter(|at| !is_give_verb(reader, *at)).and_then(digit) {
        // Half a thousand or one, two hundred or five: the low end under the scale of the high one.
        let scale = [10_000_000, 100_000, 1_000, 100].into_iter().find(|scale| {
            let scale = Number::from_whole(*scale);
            found.spoken.readings.first().is_some_and(|value| *value >= scale)
        });
        let half = reader.token(found.from).is_some_and(|token| matches!(token.key.as_str(), "adh" | "adha"));
        let scale = if half {
            found.spoken.readings.first().and_then(|value| value.checked_mul(2)?.as_whole())
        } else {
            scale
        };
        let low = scale.and_then(|scale| Number::from_whole(scale).checked_mul(count));
        found.spoken.readings.extend(low.filter(|low| !found.spoken.readings.contains(low)));
        found.spoken.certainty = Certainty::Ambiguous;
    }
    let last = found.to.saturating_sub(1);
    let loose = found.bare_scale && last > found.from && digit(last).is_some() && digit(found.to).is_some();
    if loose && let Some(bare) = reader.number_before(found.from, last) {
        found.spoken.readings.extend(bare.spoken.readings);
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// De do, bhej do: give, and no two.
fn is_give_verb(reader: &TokenizedMessage<'_>, at: usize) -> bool {
    const STEMS: &[&str] = &[
        "de", "bhej", "kar", "likh", "rakh", "dal", "nikal", "kat", "jod", "chuka", "lauta", "pakda", "dila",
        "transfer", "send", "jama", "bol", "bata", "mila", "ghata", "chadha", "hata",
    ];
    let is_do = reader.token(at).is_some_and(|token| matches!(token.text, "do" | "दो" | "दे"));
    is_do && reader.token_before(at).is_some_and(|stem| STEMS.contains(&stem.key.as_str()))
}

/// Money of other countries is no rupees, whatever its number.
pub(super) fn doubt_foreign(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    const FOREIGN: &[&str] =
        &["$", "€", "£", "¥", "usd", "eur", "gbp", "aed", "dollar", "dollars", "euro", "euros", "dirham"];
    let is = |token: &MessageToken<'_>| FOREIGN.iter().any(|name| token.text.eq_ignore_ascii_case(name));
    let before = found.from.checked_sub(1).and_then(|at| reader.token(at)).is_some_and(is);
    if before || reader.token(found.to).is_some_and(is) {
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// English in another script says no bare hundred: what says how many was not understood.
fn doubt_loan(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    let loan = |token: &MessageToken<'_>| {
        token.script() != Some(Script::Latin) && lexicon::find_loan(token.text).is_some()
    };
    if found.bare_scale && reader.token(found.from).is_some_and(loan) {
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// `5 kodi` is five crore in Tamil and Malayalam, five score in the north, and `500 kodi` is "give 500" in Kannada.
fn doubt_kodi(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    let kodi = |at: usize| {
        at > found.from
            && reader
                .token(at)
                .is_some_and(|token| matches!(token.text.to_lowercase().as_str(), "kodi" | "kori"))
    };
    let Some(at) = [found.to, found.to.saturating_sub(1)].into_iter().find(|at| kodi(*at)) else { return };
    let southern = Languages::DRAVIDIAN.has(reader.language());
    if reader.sure && southern {
        return;
    }
    let Some(count) = reader.numbers(found.from, at).find_map(|count| count.spoken.readings.first().copied())
    else {
        return;
    };
    let (crores, scores) = (count.checked_mul(10_000_000), count.checked_mul(20));
    let readings = match reader.language() {
        Language::Kannada | Language::Telugu => [Some(count), crores, scores],
        _ if southern || !reader.sure => [crores, scores, Some(count)],
        _ => [scores, Some(count), crores],
    };
    found.spoken.readings = readings.into_iter().flatten().collect();
    found.spoken.certainty = Certainty::Ambiguous;
}
