//! Whether a reply says that something was written in the books, or taken back.
//!
//! The words are in `lexicon/claims.txt`. A sentence that asks or denies claims nothing.

use std::sync::OnceLock;

use munshi_lang::{Locale, Phrasebook, fold};
use munshi_types::word_list::read_entries;

const WORDS: &str = include_str!("../../lexicon/claims.txt");

/// How plainly it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BookingClaim {
    /// That something is done, not what.
    Done,
    /// That it was written, or taken back.
    Written,
}

/// One language's words, as their folds.
#[derive(Debug, Default)]
struct Words {
    language: String,
    what: Vec<String>,
    between: Vec<String>,
    did: Vec<String>,
    alone: Vec<Vec<String>>,
    weak: Vec<Vec<String>>,
    not: Vec<String>,
}

/// The plainest claim of a text; none where it claims nothing.
pub(super) fn claim(text: &str) -> Option<BookingClaim> {
    let mut rest = text.to_owned();
    for own in cancelled_phrases() {
        if rest.contains(own) {
            rest = rest.replace(own, "");
        }
    }
    sentences(&rest).filter_map(|sentence| find_sentence_claim(&sentence)).max()
}

/// What is said where a question is given up: that it is cancelled, and nothing was changed.
fn cancelled_phrases() -> &'static [String] {
    static HARMLESS: OnceLock<Vec<String>> = OnceLock::new();
    HARMLESS.get_or_init(|| {
        let book = Phrasebook::core().unwrap_or_default();
        Locale::all().filter_map(|voice| book.render("cancelled", voice, &[]).ok()).collect()
    })
}

fn find_sentence_claim(words: &[String]) -> Option<BookingClaim> {
    let found = lexicon().iter().filter_map(|known| {
        let is_denied = words.iter().any(|word| known.not.contains(word));
        if is_denied {
            return None;
        }
        let has = |phrases: &[Vec<String>]| {
            phrases.iter().any(|phrase| words.windows(phrase.len()).any(|some| some == phrase.as_slice()))
        };
        if has(&known.alone) || (0..words.len()).any(|at| known.is_done_at(words, at)) {
            return Some(BookingClaim::Written);
        }
        has(&known.weak).then_some(BookingClaim::Done)
    });
    found.max()
}

impl Words {
    /// Whether something is named at a place and said to be done right after it.
    fn is_done_at(&self, words: &[String], at: usize) -> bool {
        let is_named = words.get(at).is_some_and(|word| self.what.contains(word));
        let mut after = words.iter().skip(at + 1).skip_while(|word| self.between.contains(word));
        // A word that says so may be one that stands between, too.
        let says = |word: &String| self.did.contains(word);
        let has_next = words.get(at + 1).is_some_and(says);
        is_named && (has_next || after.next().is_some_and(says))
    }
}

/// The words of each sentence that does not ask, as their folds.
fn sentences(text: &str) -> impl Iterator<Item = Vec<String>> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (sentence, after, asks) = first_sentence(rest);
            rest = after;
            if !asks {
                return Some(words(sentence));
            }
        }
        None
    })
}

/// A text up to its first end of a sentence, what follows, and whether it asked. A point within a number ends nothing.
fn first_sentence(text: &str) -> (&str, &str, bool) {
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_last = letters.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends = matches!(letter, '?' | '!' | '।' | '\n' | ';') || (letter == '.' && is_last);
        if ends {
            let (sentence, rest) = text.split_at(at);
            return (sentence, rest.get(letter.len_utf8()..).unwrap_or_default(), letter == '?');
        }
    }
    (text, "", false)
}

fn words(sentence: &str) -> Vec<String> {
    let apart = |letter: char| letter.is_whitespace() || ",:()[]\"“”*_—–-/".contains(letter);
    let all = sentence.split(apart).map(|word| word.trim_matches(['.', '\'', '’', '…']));
    all.map(fold::key).filter(|key| !key.is_empty()).collect()
}

fn lexicon() -> &'static [Words] {
    static LEXICON: OnceLock<Vec<Words>> = OnceLock::new();
    LEXICON.get_or_init(|| {
        let mut all: Vec<Words> = Vec::new();
        read_entries(WORDS, " = ").for_each(|(head, words)| {
            read(head, words, &mut all);
        });
        all
    })
}

/// One line of the lexicon. What is no such line is left out, and a test tells.
fn read(head: &str, rest: &str, all: &mut Vec<Words>) -> Option<()> {
    let (language, class) = head.split_once(' ')?;
    let place = all.iter().position(|words| words.language == language).unwrap_or(all.len());
    if place == all.len() {
        all.push(Words { language: language.to_owned(), ..Words::default() });
    }
    let words = all.get_mut(place)?;
    let parts = |word: &str| word.split('_').map(fold::key).collect::<Vec<_>>();
    let said = rest.split_whitespace();
    match class {
        "what" => words.what.extend(said.map(fold::key)),
        "between" => words.between.extend(said.map(fold::key)),
        "did" => words.did.extend(said.map(fold::key)),
        "not" => words.not.extend(said.map(fold::key)),
        "alone" => words.alone.extend(said.map(parts)),
        "weak" => words.weak.extend(said.map(parts)),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_lang::PlaceholderValue;
    use munshi_types::word_list::read_lines;

    #[test]
    fn every_line_of_the_lexicon_is_read() {
        for line in read_lines(WORDS) {
            let entry = line.text.split_once(" = ");
            assert!(
                entry.is_some_and(|(head, rest)| read(head, rest, &mut Vec::new()).is_some()),
                "{line:?}"
            );
        }
        assert_eq!(lexicon().len(), 11);
    }

    #[test]
    fn what_the_pack_itself_says_of_an_entry_is_known_as_a_claim_in_every_voice() {
        let mut book = Phrasebook::core().unwrap();
        book.add_files(&munshi_lang::phrase_files!("../../phrases")).unwrap();
        let said = |name: &str, voice: Locale| {
            let name = format!("ledger-{name}");
            let fills: Vec<(&str, PlaceholderValue<'_>)> = book
                .placeholders(&name)
                .into_iter()
                .map(|slot| (slot, PlaceholderValue::Text("Xy")))
                .collect();
            book.render(&name, voice, &fills).unwrap()
        };
        for voice in Locale::all() {
            for name in
                ["sale", "purchase", "expense", "credit", "received", "stock-in", "cancelled", "corrected"]
            {
                let text = said(name, voice);
                assert_eq!(claim(&text), Some(BookingClaim::Written), "{}: {text}", voice.code());
            }
            let given_up = book.render("cancelled", voice, &[]).unwrap();
            assert_eq!(claim(&given_up), None, "{}: {given_up}", voice.code());
            for name in ["sms-none", "sms-own", "nothing-to-cancel", "unfounded", "unwritten", "mismatch"] {
                let text = said(name, voice);
                assert_eq!(claim(&text), None, "{}: {text}", voice.code());
            }
        }
    }

    #[test]
    fn asking_denying_and_telling_claims_nothing() {
        for text in [
            "Should I note it?",
            "I have not written it yet.",
            "If you say yes, it will be noted.",
            "Ramesh owes you ₹500.",
            "Kya likh diya jaye?",
            "Maine kuch nahi likha hai.",
            "यह अभी नहीं लिखा है।",
            "என்ன எழுதணும்?",
            "It can be cancelled by you.",
        ] {
            assert_eq!(claim(text), None, "{text}");
        }
        for text in [
            "Done, booked 500.",
            "I've noted ₹500 for Ramesh!",
            "Theek hai, Ramesh ke naam 500 note kar liya hai.",
            "ठीक है, 500 दर्ज कर दिया गया है",
            "Sari, 500 note pannitten.",
            "হয়ে গেছে, ৫০০ টাকা লিখে রেখেছি।",
            "I can't see who it was. Noted ₹500.",
        ] {
            assert_eq!(claim(text), Some(BookingClaim::Written), "{text}");
        }
        assert_eq!(claim("Done: ₹500."), Some(BookingClaim::Done));
    }
}
