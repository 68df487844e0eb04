//! The words of a text as they lie there, without a look into the lexicon: for long texts that are only searched.
//!
//! Letters of other alphabets that look like Latin ones are read as those, since whoever writes a name with them
//! wants it read.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use munshi_types::Script;
use unicode_normalization::UnicodeNormalization;

use crate::token::{digit_value, is_unseen};

/// A stretch of letters of one script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetterRun {
    pub range: Range<usize>,
    /// None for an alphabet nobody here reads.
    pub script: Option<Script>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Script(Script),
    Foreign,
    /// Belongs to whatever it stands in.
    Joins,
    Parts,
}

/// The Latin letter a letter of another alphabet looks like: Cyrillic, Greek, full-width.
pub const fn to_latin_lookalike(letter: char) -> Option<char> {
    // The Indic scripts lie here, and none of their letters.
    if matches!(letter, '\0'..='\u{7F}' | '\u{590}'..='\u{1CFF}') {
        return None;
    }
    let plain = match letter {
        'а' | 'А' | 'α' | 'Α' | 'ɑ' => 'a',
        'в' | 'В' | 'Β' | 'Ь' | 'ь' => 'b',
        'с' | 'С' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'Ε' | 'ё' => 'e',
        'ɡ' => 'g',
        'һ' | 'Н' | 'Η' | 'н' => 'h',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' | 'ї' => 'i',
        'ј' | 'Ј' => 'j',
        'к' | 'К' | 'κ' | 'Κ' => 'k',
        'ӏ' | 'Ӏ' => 'l',
        'м' | 'М' | 'Μ' => 'm',
        'Ν' | 'п' => 'n',
        'о' | 'О' | 'ο' | 'Ο' | 'σ' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ԛ' => 'q',
        'г' | 'ᴦ' => 'r',
        'ѕ' | 'Ѕ' => 's',
        'т' | 'Т' | 'τ' | 'Τ' => 't',
        'υ' | 'ս' => 'u',
        'ѵ' | 'ν' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'Υ' | 'ү' => 'y',
        'Ζ' | 'ᴢ' => 'z',
        'ａ'..='ｚ' => return char::from_u32(letter as u32 - 'ａ' as u32 + 'a' as u32),
        'Ａ'..='Ｚ' => return char::from_u32(letter as u32 - 'Ａ' as u32 + 'a' as u32),
        _ => return None,
    };
    Some(plain)
}

fn classify(letter: char) -> Class {
    if letter.is_ascii() {
        return if letter.is_ascii_alphabetic() { Class::Script(Script::Latin) } else { Class::Parts };
    }
    if is_unseen(letter) || matches!(letter, '\u{300}'..='\u{36F}') {
        return Class::Joins;
    }
    if digit_value(letter).is_some() || matches!(letter, '৳' | '৲' | '૱' | '௹' | '×' | '÷') {
        return Class::Parts;
    }
    if to_latin_lookalike(letter).is_some() {
        return Class::Script(Script::Latin);
    }
    match Script::from_char(letter) {
        Some(script) => Class::Script(script),
        None if letter.is_alphabetic() => Class::Foreign,
        None => Class::Parts,
    }
}

fn ends_without_vowel(text: &str, word: &Range<usize>) -> bool {
    text.get(word.clone()).is_some_and(|word| word.ends_with('\u{D4D}'))
}

/// The words of a text, in order.
pub fn split_words(text: &str) -> Vec<LetterRun> {
    let mut found: Vec<LetterRun> = Vec::with_capacity(text.len() / 6);
    let mut open: Option<(Class, Range<usize>)> = None;
    let close = |open: Option<(Class, Range<usize>)>, found: &mut Vec<LetterRun>| {
        if let Some((class, range)) = open {
            let script = if let Class::Script(script) = class { Some(script) } else { None };
            found.push(LetterRun { range, script });
        }
    };
    for (at, letter) in text.char_indices() {
        match (classify(letter), &mut open) {
            // Malayalam's older way to write a consonant without a vowel.
            (Class::Joins, Some((_, range))) if letter == '\u{200D}' && ends_without_vowel(text, range) => {
                range.end = at + letter.len_utf8();
            }
            // What else joins is kept once a letter follows, so that a word does not end unseen.
            (Class::Joins, _) => {}
            (Class::Parts, _) => close(open.take(), &mut found),
            (class, Some((now, range))) if *now == class => range.end = at + letter.len_utf8(),
            (class, _) => {
                close(open.take(), &mut found);
                open = Some((class, at..at + letter.len_utf8()));
            }
        }
    }
    close(open, &mut found);
    found
}

/// The words of a text, and which of them are the same: a long text has few different ones.
#[derive(Clone, Debug)]
pub struct TextWords<'t> {
    pub text: &'t str,
    pub all: Vec<LetterRun>,
    /// For every word which of the different ones it is.
    pub which: Vec<usize>,
    /// The different ones.
    pub different: Vec<(&'t str, Option<Script>)>,
}

impl<'t> TextWords<'t> {
    pub fn new(text: &'t str) -> Self {
        let all = split_words(text);
        let mut known: HashMap<&str, usize, BuildHasherDefault<FnvHasher>> = HashMap::default();
        let mut different = Vec::new();
        let which = all
            .iter()
            .map(|word| {
                let said = text.get(word.range.clone()).unwrap_or_default();
                *known.entry(said).or_insert_with(|| {
                    different.push((said, word.script));
                    different.len() - 1
                })
            })
            .collect();
        Self { text, all, which, different }
    }

    pub fn word(&self, at: usize) -> &'t str {
        self.which.get(at).and_then(|which| self.different.get(*which)).map_or("", |(said, _)| said)
    }
}

/// A fast sum over bytes (FNV). For tables that live for one text, whose writer gains nothing by filling them badly: the
/// text is bounded, and so is what the table costs.
#[derive(Clone, Copy)]
pub(crate) struct FnvHasher(pub(crate) u64);

impl Default for FnvHasher {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for FnvHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        // The table takes its tag from the upper bits, which short words hardly reach.
        self.0 ^ self.0.rotate_left(29)
    }
}

/// A word in lower case, composed, lookalikes and what is not seen taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainWord {
    pub text: String,
    /// For every byte of it where its letter begins in the word as written; none when that is the same.
    at: Option<Vec<usize>>,
}

impl PlainWord {
    pub fn new(word: &str) -> Self {
        let usual = |letter: char| {
            letter.is_ascii()
                || (!is_unseen(letter)
                    && matches!(Script::from_char(letter), Some(script) if script != Script::Latin))
        };
        if word.chars().all(usual) {
            return Self { text: word.to_ascii_lowercase(), at: None };
        }
        let (mut text, mut at) = (String::with_capacity(word.len()), Vec::with_capacity(word.len()));
        for (from, letter) in word.char_indices().filter(|(_, letter)| !is_unseen(*letter)) {
            let letter = to_latin_lookalike(letter).unwrap_or(letter);
            // Marks over a letter go into it, so that the letter and its composed form are one.
            let composed = matches!(letter, '\u{300}'..='\u{36F}')
                .then(|| {
                    text.chars().last().map(|before| [before, letter].into_iter().nfc().collect::<String>())
                })
                .flatten();
            if let Some(composed) = composed {
                let base = text.pop().map_or(0, char::len_utf8);
                let start = at.get(at.len().saturating_sub(base)).copied().unwrap_or(from);
                at.truncate(at.len().saturating_sub(base));
                text.push_str(&composed);
                at.resize(text.len(), start);
            } else {
                text.extend(letter.to_lowercase());
                at.resize(text.len(), from);
            }
        }
        Self { text, at: Some(at) }
    }

    /// Where a place in the plain text lies in a word that is `whole` bytes long.
    pub fn original_offset(&self, place: usize, whole: usize) -> usize {
        match &self.at {
            None => place,
            Some(at) => at.get(place).copied().unwrap_or(whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        split_words(text).into_iter().map(|word| &text[word.range]).collect()
    }

    #[test]
    fn words_end_where_scripts_change() {
        assert_eq!(
            texts("Raju's 5kg रमेशको Rameshको r\u{200B}aju."),
            ["Raju", "s", "kg", "रमेशको", "Ramesh", "को", "r\u{200B}aju"]
        );
        assert_eq!(texts("Rаmеsh\u{200D} ₹500 李"), ["Rаmеsh", "李"]);
    }

    #[test]
    fn plain_words_know_where_they_came_from() {
        let word = "R\u{200B}аJU";
        let plain = PlainWord::new(word);
        assert_eq!(plain.text, "raju");
        assert_eq!(plain.original_offset(1, word.len()), 4);
        assert_eq!(plain.original_offset(4, word.len()), word.len());
        assert_eq!(PlainWord::new("e\u{301}a").text, "éa");
    }
}
