//! Words after a number that are nearly a scale: misspelled, shortened, under an ending nobody listed.

use munshi_types::Script;

use crate::fold;
use crate::lexicon::{self, Meaning};
use crate::number::Number;
use crate::numbers::{self, Certainty, CreditLikelihood, NumberSpan};
use crate::token::{MessageToken, MessageTokenKind};
use crate::tokenized_message::TokenizedMessage;

/// The scales as their keys begin, in Latin letters and as native words fold.
const STEMS: &[(&str, u64)] = &[
    ("hajar", 1_000),
    ("hazar", 1_000),
    ("thousand", 1_000),
    ("ayira", 1_000),
    ("sahasra", 1_000),
    ("savira", 1_000),
    ("lakh", 100_000),
    ("laksh", 100_000),
    ("lacs", 100_000),
    ("latch", 100_000),
    ("laks", 100_000),
    ("latsa", 100_000),
    ("lach", 100_000),
    ("karod", 10_000_000),
    ("karor", 10_000_000),
    ("crore", 10_000_000),
    ("kodi", 10_000_000),
    ("koti", 10_000_000),
    ("hundred", 100),
    ("shambhar", 100),
    ("saikda", 100),
];

/// What people write for short, and scales that are not Indian.
const SHORT: &[(&str, u64)] = &[
    ("k", 1_000),
    ("l", 100_000),
    ("m", 1_000_000),
    ("b", 1_000_000_000),
    ("mn", 1_000_000),
    ("mln", 1_000_000),
    ("million", 1_000_000),
    ("millions", 1_000_000),
    ("bn", 1_000_000_000),
    ("billion", 1_000_000_000),
    ("grand", 1_000),
    ("thou", 1_000),
    ("th", 1_000),
    ("hz", 1_000),
    ("hjr", 1_000),
    ("hzr", 1_000),
    ("hund", 100),
    ("sow", 100),
    ("soo", 100),
    ("sou", 100),
    ("lk", 100_000),
    ("lks", 100_000),
    ("lkh", 100_000),
    ("lac", 100_000),
    ("cr", 10_000_000),
    ("crs", 10_000_000),
    ("krd", 10_000_000),
    ("krod", 10_000_000),
    ("crr", 10_000_000),
];

/// Names that begin like a lakh.
const NAMES: &[&str] = &["lakshm", "lakshay", "lakshit", "lakhan", "lakhbir", "lakhvi", "kodiy", "hajara"];

/// The scale a word that is no number and nothing known is nearly.
pub(super) fn find_near_scale(reader: &TokenizedMessage<'_>, at: usize) -> Option<u64> {
    let token = reader.token(at).filter(|token| token.is_word())?;
    let text = token.text.to_lowercase();
    let known = token
        .senses
        .iter()
        .any(|sense| sense.languages.intersects(reader.known) && !matches!(sense.meaning, Meaning::Scale(_)));
    if known || numbers::credit_likelihood(&reader.tokens, at) == CreditLikelihood::Surely {
        return None;
    }
    let short = SHORT.iter().find(|(form, _)| *form == text).map(|(_, scale)| *scale);
    if let Some(scale) = short.filter(|_| text.len() > 1 || token.glued) {
        return Some(scale);
    }
    let named = token.text.starts_with(|letter: char| letter.is_ascii_uppercase())
        && NAMES.iter().any(|name| token.key.starts_with(name));
    if named || token.key.len() < 3 {
        return None;
    }
    // A native script spells a scale as it is: குடு is give, and no கோடி; ਲੱਗ is no ਲੱਖ.
    let latin = token.script() == Some(Script::Latin);
    if !latin && !lexicon::starts_like_number(token.text, reader.known) {
        return None;
    }
    STEMS
        .iter()
        .find(|(form, _)| {
            token.key.starts_with(form)
                || (latin && token.stem().starts_with(&fold::stem(form)))
                || (token.key.len() > 3 && fold::edit_distance(&token.key, form) < 2)
                || (latin && consonant_key(&token.key) == consonant_key(form))
        })
        .map(|(_, scale)| *scale)
        .or_else(|| numbers::begins_with_scale(token, reader.language()))
}

/// A number right before a word that is nearly a scale may be as many of it.
pub(super) fn doubt_scale(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    let small = found.spoken.readings.iter().all(|value| *value < Number::from_whole(100_000));
    let Some(scale) = find_near_scale(reader, found.to).filter(|_| small) else { return };
    let more: Vec<Number> =
        found.spoken.readings.iter().filter_map(|value| value.checked_mul(scale)).collect();
    found.spoken.readings.extend(more);
    found.spoken.certainty = Certainty::Ambiguous;
}

/// Whether digits run into a word that is nearly a scale: no account is named so.
pub(super) fn runs_into_scale(reader: &TokenizedMessage<'_>, at: usize) -> bool {
    let digits =
        |token: &MessageToken<'_>| token.kind == MessageTokenKind::Digits && token.text.chars().count() < 6;
    reader.token(at).is_some_and(digits)
        && reader.token(at + 1).is_some_and(|next| next.glued)
        && !reader.token(at + 2).is_some_and(|after| after.glued && after.kind == MessageTokenKind::Digits)
        && !reader.token(at).is_some_and(|token| token.glued)
        && find_near_scale(reader, at + 1).is_some()
}

/// The consonants of a word, doubled ones once, without a plural.
fn consonant_key(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    let mut last = None;
    for letter in key.trim_end_matches('s').chars() {
        let letter = if letter == 'z' { 'j' } else { letter };
        if !"aeiou".contains(letter) && last != Some(letter) {
            out.push(letter);
        }
        last = Some(letter);
    }
    out
}
