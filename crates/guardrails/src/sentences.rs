//! Where sentences end.
//!
//! An end is decided by what stands before it and the first thing after it, never by how much of the text has
//! arrived: a stream is cut where the whole would be.

use std::ops::Range;

use munshi_lang::fold::is_indic;
use munshi_lang::token::digit_value;

use super::letters::is_letter_or_digit;
use super::lexicon::NamedWordClass;
use super::reading::GuardrailReading;

/// Abbreviations that no sentence ends on.
const SHORT: &[&str] = &[
    "rs",
    "re",
    "dr",
    "mr",
    "mrs",
    "ms",
    "smt",
    "shri",
    "sri",
    "prof",
    "st",
    "vs",
    "approx",
    "tel",
    "mob",
    "ph",
    "e.g",
    "i.e",
    "pvt",
    "inc",
    "govt",
    "dept",
    "adv",
    "capt",
    "col",
    "gen",
    "hon",
    "jr",
    "sr",
    "डॉ",
    "रु",
    "रू",
    "श्री",
    "प्रो",
    "कृ",
    "टि",
    "ரூ",
    "திரு",
    "டாக்",
    "டாக்டர்",
    "ডা",
    "ডাঃ",
    "শ্রী",
    "টা",
    "రూ",
    "డా",
    "ರೂ",
    "ಡಾ",
    "രൂ",
    "ഡോ",
    "રૂ",
    "ડૉ",
    "ਰੁ",
    "ਡਾ",
    "ଟ",
    "ଡା",
];

/// Those only before a number: `No. 5`.
const NUMBERED: &[&str] = &["no", "nos", "fig", "sec", "art", "vol", "pg", "नं", "क्र", "எண்", "নং", "नम्बर"];

const CLOSERS: &[char] =
    &['.', '!', '?', '…', '।', '॥', '"', '\'', '”', '’', ')', ']', '»', '*', '_', '？', '！'];

/// The sentences of a text, in order, covering all of it.
pub fn split_sentences(text: &str) -> Vec<Range<usize>> {
    let mut from = 0;
    find_ends(text)
        .into_iter()
        .map(|end| {
            let start = from;
            from = end;
            start..end
        })
        .collect()
}

/// Where each sentence ends; the last end is the text's.
pub(crate) fn find_ends(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut from = 0;
    while let SentenceScan::Ends(end) = find_next_end(text, from, from) {
        found.push(end);
        from = end;
    }
    if from < text.len() || found.is_empty() {
        found.push(text.len());
    }
    found
}

/// What a scan for the end of a sentence came to.
pub(crate) enum SentenceScan {
    Ends(usize),
    /// No end lies before this place, from which a scan of more text goes on.
    Open(usize),
}

/// A sentence of more bytes is cut at a space: a reply that never ends one must not wait for ever.
pub(crate) const LONGEST: usize = 4_000;

/// So many closing marks and spaces are looked past.
const LONGEST_MARKS: usize = 64;

/// Where the sentence that begins at `from` ends, when no end lies before `seen`.
pub(crate) fn find_next_end(text: &str, from: usize, seen: usize) -> SentenceScan {
    let begin = seen.max(from);
    for (at, letter) in text.get(begin..).unwrap_or_default().char_indices() {
        let at = begin + at;
        if at >= from + LONGEST {
            return SentenceScan::Ends(find_cut(text, from, at));
        }
        let told = match letter {
            '\n' => Told::End(at + 1),
            '।' | '॥' | '。' | '؟' => {
                skip_closers(text, at + letter.len_utf8()).map_or(Told::Wait, Told::End)
            }
            '.' | '!' | '?' | '…' | '？' | '！' => check_stop(text, from, at, letter),
            _ => Told::No,
        };
        match told {
            Told::No => {}
            Told::Wait => return SentenceScan::Open(at),
            Told::End(end) if end == text.len() && letter != '\n' => return SentenceScan::Open(at),
            // Space and signs alone are no sentence yet.
            Told::End(end)
                if text.get(from..end).is_some_and(|said| said.chars().any(is_letter_or_digit)) =>
            {
                return SentenceScan::Ends(end);
            }
            Told::End(_) => {}
        }
    }
    SentenceScan::Open(text.len().max(begin))
}

/// What a mark says of the sentence before it.
enum Told {
    End(usize),
    No,
    /// What decides it has not come.
    Wait,
}

/// Past the last space of a sentence too long.
fn find_cut(text: &str, from: usize, limit: usize) -> usize {
    let space = text.get(from..limit).and_then(|said| said.rfind(char::is_whitespace));
    let after =
        space.and_then(|at| text.get(from + at..)?.chars().next().map(|space| from + at + space.len_utf8()));
    after
        .filter(|end| text.get(from..*end).is_some_and(|said| said.chars().any(is_letter_or_digit)))
        .unwrap_or(limit)
}

/// Past the marks that close a sentence; none while more of them may come.
fn skip_closers(text: &str, from: usize) -> Option<usize> {
    let mut marks = text.get(from..)?.char_indices().enumerate();
    let (_, (length, _)) =
        marks.find(|(nth, (_, letter))| *nth == LONGEST_MARKS || !CLOSERS.contains(letter))?;
    Some(from + length)
}

fn check_stop(text: &str, from: usize, at: usize, letter: char) -> Told {
    let Some(end) = skip_closers(text, at) else { return Told::Wait };
    let rest = text.get(end..).unwrap_or_default();
    let Some(next) = rest.chars().next() else { return Told::Wait };
    if !next.is_whitespace() {
        // `!` and `?` end a sentence before a letter too, but `.` stands in numbers, names and addresses.
        let spoken = matches!(letter, '!' | '?' | '…') && next.is_alphabetic() && !next.is_ascii_lowercase();
        return if spoken { Told::End(end) } else { Told::No };
    }
    if letter != '.' {
        return Told::End(end);
    }
    match ends_here(text.get(from..at).unwrap_or_default(), rest) {
        Some(true) => Told::End(end),
        Some(false) => Told::No,
        None => Told::Wait,
    }
}

/// Whether a point after `before` ends a sentence; none while the word after it has not come.
fn ends_here(before: &str, rest: &str) -> Option<bool> {
    let word = before.rsplit([' ', '\n', '\t', '(', '\u{A0}']).next().unwrap_or_default();
    let low = word.trim_start_matches(['"', '“', '\'', '*']).to_lowercase();
    if SHORT.contains(&low.as_str()) {
        return Some(false);
    }
    // `1.` begins an item of a list; `A.` is an initial.
    let item = before.trim() == word && word.len() <= 3 && word.chars().all(|letter| letter.is_ascii_digit());
    let initial = word.len() == 1 && word.chars().all(|letter| letter.is_ascii_uppercase()) && word != "I";
    if item || initial {
        return Some(false);
    }
    if NUMBERED.contains(&low.as_str()) {
        let mut next = rest.chars().enumerate();
        let (_, next) = next.find(|(nth, letter)| *nth == LONGEST_MARKS || !letter.is_whitespace())?;
        return Some(!next.is_numeric());
    }
    Some(true)
}

/// Whether a sentence may go on in the next one as far as numbers and secrets are concerned: it ends on digits or on
/// part of a long token.
pub(crate) fn may_continue(sentence: &str) -> bool {
    let trimmed = sentence.trim_end_matches(|letter: char| !is_letter_or_digit(letter));
    let last = trimmed.rsplit(char::is_whitespace).next().unwrap_or_default();
    last.chars().any(|letter| digit_value(letter).is_some() || (!is_indic(letter) && letter.is_numeric()))
        || (last.len() >= 16 && last.is_ascii())
}

static KEY: NamedWordClass = NamedWordClass::new("no-secrets.key");

/// Whether it has just named a secret, which may follow.
pub(crate) fn names_secret(reading: &GuardrailReading) -> bool {
    let key = KEY.get();
    if !reading.has(key) {
        return false;
    }
    let count = reading.tokens.len();
    (count.saturating_sub(LAST)..count).any(|at| reading.has_class(at, key))
}

/// So many tokens are the end of a sentence.
const LAST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        split_sentences(text).into_iter().map(|range| text[range].trim()).collect()
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        for (text, expected) in [
            ("Hello. How are you? Fine!", &["Hello.", "How are you?", "Fine!"][..]),
            ("It is Rs. 500 only. Ask Dr. Rao.", &["It is Rs. 500 only.", "Ask Dr. Rao."]),
            ("No. We are closed.", &["No.", "We are closed."]),
            ("Take No. 5 bus. Go.", &["Take No. 5 bus.", "Go."]),
            ("नमस्ते। कैसे हैं? ठीक॥", &["नमस्ते।", "कैसे हैं?", "ठीक॥"]),
            ("See www.shop.in/a.b now. 3.5 kg", &["See www.shop.in/a.b now.", "3.5 kg"]),
            ("1. Tea\n2. Coffee", &["1. Tea", "2. Coffee"]),
            ("Wait… What?! Yes.", &["Wait…", "What?!", "Yes."]),
            ("He said \"go.\" Then left.", &["He said \"go.\"", "Then left."]),
            ("", &[""]),
        ] {
            assert_eq!(cut(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_and_named_secrets_wait_for_what_follows() {
        assert!(may_continue("It is 2345 6789."));
        assert!(!may_continue("We are open all day."));
        let named = |text: &str| names_secret(&GuardrailReading::new(text, &[text.len()]));
        assert!(named("The password is below.") && !named("We are open all day."));
    }
}
