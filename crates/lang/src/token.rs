//! A message cut into words, digits and signs, each with what the lexicon knows of it.

use munshi_types::Script;

use crate::fold;
use crate::lexicon::{self, Languages, Meaning, Sense};

/// Longer text is cut here: a message is read, a book is not.
pub const MAX_TOKENS: usize = 2_000;

/// Words longer than this are kept but not looked up.
const MAX_WORD: usize = 120;

#[derive(Clone, Debug)]
pub struct Token<'t> {
    pub text: &'t str,
    /// Where it begins in the message, in bytes.
    pub start: usize,
    pub kind: Kind,
    /// Nothing lies between it and the token before.
    pub glued: bool,
    /// Its fold; empty for digits and signs.
    pub key: String,
    pub senses: &'static [Sense],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Word(Script),
    /// Letters of an alphabet the crate does not read.
    Foreign,
    /// Digits of any script, with the commas and points inside them.
    Digits,
    Sign,
}

impl Token<'_> {
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub fn is_word(&self) -> bool {
        matches!(self.kind, Kind::Word(_))
    }

    pub fn script(&self) -> Option<Script> {
        match self.kind {
            Kind::Word(script) => Some(script),
            _ => None,
        }
    }

    /// Whether it has a meaning in any of the languages.
    pub fn means(&self, meaning: Meaning, languages: Languages) -> bool {
        self.senses.iter().any(|sense| sense.meaning == meaning && sense.languages.meets(languages))
    }

    /// The first meaning in any of the languages that a reader wants.
    pub fn find<T>(&self, languages: Languages, want: impl Fn(Meaning) -> Option<T>) -> Option<T> {
        self.senses
            .iter()
            .filter(|sense| sense.languages.meets(languages))
            .find_map(|sense| want(sense.meaning))
    }

    /// Whether it is also an ordinary word or a name.
    pub fn clashes(&self) -> bool {
        if self.text.bytes().any(|b| b.is_ascii_uppercase()) {
            return lexicon::clashes(&self.text.to_ascii_lowercase());
        }
        lexicon::clashes(self.text)
    }
}

/// The value of a digit in any of the scripts.
pub fn digit(letter: char) -> Option<u8> {
    if letter.is_ascii_digit() {
        return Some(letter as u8 - b'0');
    }
    let code = letter as u32;
    let place = code % 0x80;
    let indic = (0x900..0xD80).contains(&code) && (0x66..=0x6F).contains(&place);
    indic.then(|| (place - 0x66) as u8)
}

/// Marks that belong to the word they stand in.
const fn joins(letter: char) -> bool {
    matches!(letter, '\u{200C}' | '\u{200D}' | '\u{300}'..='\u{36F}')
}

fn kind_of(letter: char) -> Option<Kind> {
    if digit(letter).is_some() {
        return Some(Kind::Digits);
    }
    // Rupee signs of single scripts are signs, not letters.
    if matches!(letter, '৳' | '৲' | '૱' | '௹') {
        return Some(Kind::Sign);
    }
    if let Some(script) = Script::of(letter) {
        return Some(Kind::Word(script));
    }
    if letter.is_alphabetic() {
        return Some(Kind::Foreign);
    }
    if letter.is_whitespace() || joins(letter) {
        return None;
    }
    Some(Kind::Sign)
}

/// Cuts a message into tokens.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found: Vec<Token<'_>> = Vec::with_capacity(text.len() / 4 + 1);
    let mut rest = text.char_indices().peekable();
    let mut last_end = usize::MAX;
    while let Some((start, letter)) = rest.next() {
        let Some(kind) = kind_of(letter) else { continue };
        if found.len() == MAX_TOKENS {
            break;
        }
        let mut end = start + letter.len_utf8();
        while kind != Kind::Sign
            && let Some(&(at, next)) = rest.peek()
            && continues(text, kind, at, next)
        {
            end = at + next.len_utf8();
            rest.next();
        }
        found.push(token(text.get(start..end).unwrap_or_default(), start, kind, last_end == start));
        last_end = end;
    }
    found
}

/// Whether a letter goes on with the token before it.
fn continues(text: &str, kind: Kind, at: usize, next: char) -> bool {
    let after = || text.get(at + next.len_utf8()..).and_then(|rest| rest.chars().next());
    match kind {
        Kind::Digits => {
            digit(next).is_some() || (matches!(next, ',' | '.') && after().and_then(digit).is_some())
        }
        Kind::Word(_) if matches!(next, '\'' | '’') => {
            after().is_some_and(|letter| matches!(kind_of(letter), Some(Kind::Word(_))))
        }
        Kind::Word(script) => joins(next) || (kind_of(next) == Some(Kind::Word(script))),
        Kind::Foreign => joins(next) || kind_of(next) == Some(Kind::Foreign),
        Kind::Sign => false,
    }
}

fn token(text: &str, start: usize, kind: Kind, glued: bool) -> Token<'_> {
    let known = matches!(kind, Kind::Word(_)) && text.len() <= MAX_WORD;
    let mut key = if known { fold::key(text) } else { String::new() };
    let mut senses = if key.is_empty() { &[] } else { lexicon::senses(&key) };
    if senses.is_empty() && known && kind != Kind::Word(Script::Latin) {
        // The lexicon may know the word only as it is typed in Latin letters.
        let spoken = fold::spoken_key(text);
        senses = lexicon::senses(&spoken);
        if !senses.is_empty() {
            key = spoken;
        }
    }
    Token { text, start, kind, glued, key, senses }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(message: &str) -> Vec<String> {
        tokens(message).iter().map(|token| token.text.to_owned()).collect()
    }

    #[test]
    fn cuts_words_digits_and_signs() {
        assert_eq!(texts("Rs.1,25,000/- diye"), ["Rs", ".", "1,25,000", "/", "-", "diye"]);
        assert_eq!(texts("2k, today's"), ["2", "k", ",", "today's"]);
        assert_eq!(texts("₹५०० में।"), ["₹", "५००", "में", "।"]);
        assert_eq!(texts("साढ़े-तीन 3.5."), ["साढ़े", "-", "तीन", "3.5", "."]);
        assert_eq!(texts("எண் 12ம்"), ["எண்", "12", "ம்"]);
        assert_eq!(texts("😀👍🏽 ok"), ["😀", "👍", "🏽", "ok"]);
    }

    #[test]
    fn tells_what_lies_glued() {
        let found = tokens("2k 5 kg");
        assert_eq!(found.iter().map(|token| token.glued).collect::<Vec<_>>(), [false, true, false, false]);
    }
}
