//! A text cut into words, each in the forms that its spellings and scripts share.
//!
//! `paanch`, `panch` and पाँच have one form; सरकार has that of what it spells and that of what is spoken, which is how people
//! type it in Latin letters. A number has one form whatever its digits and separators. A form of letters is of `a` to `z`, so
//! the signs that others begin with keep them apart.

use std::ops::Range;

use munshi_lang::fold;
use munshi_lang::text_words::{PlainWord, split_words};
use munshi_lang::token::{digit_value, is_unseen};
use munshi_types::Script;

/// What the form of a number begins with.
const NUMBER: char = '#';
/// What the form of a word begins with that has no sound here: it is found by its spelling alone.
const SPELLING: char = '=';

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexWord {
    /// Where it stands in the text, in bytes.
    pub range: Range<usize>,
    /// What it is found by; never empty.
    pub forms: Vec<String>,
}

impl IndexWord {
    pub fn matches(&self, forms: &[String]) -> bool {
        self.forms.iter().any(|form| forms.contains(form))
    }
}

/// The words and numbers of a text, in order.
pub fn split_index_words(text: &str) -> Vec<IndexWord> {
    let words = split_words(text).into_iter().map(|run| {
        let forms = fold_word(text.get(run.range.clone()).unwrap_or_default(), run.script);
        IndexWord { range: run.range, forms }
    });
    let mut found: Vec<IndexWord> = words.collect();
    found.extend(split_numbers(text));
    found.sort_by_key(|word| word.range.start);
    found
}

fn fold_word(word: &str, script: Option<Script>) -> Vec<String> {
    let mut forms = match script {
        Some(Script::Latin) => vec![fold::key(&PlainWord::new(word).text)],
        Some(_) => {
            let composed = fold::normalize_spelling(word);
            vec![fold::key(&composed), fold::spoken_key(&composed)]
        }
        None => Vec::new(),
    };
    forms.retain(|form| !form.is_empty());
    forms.dedup();
    if forms.is_empty() {
        forms.push(format!("{SPELLING}{}", fold::normalize_spelling(word)));
    }
    forms
}

/// Digits that may be one number: groups, and what stands between them.
#[derive(Default)]
struct DigitRun {
    groups: Vec<GroupedDigits>,
    separators: Vec<NumberSeparator>,
}

struct GroupedDigits {
    range: Range<usize>,
    digits: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberSeparator {
    Comma,
    Point,
}

impl NumberSeparator {
    const fn from_char(letter: char) -> Option<Self> {
        match letter {
            ',' | '，' | '٬' => Some(Self::Comma),
            '.' | '．' | '٫' => Some(Self::Point),
            _ => None,
        }
    }
}

fn split_numbers(text: &str) -> Vec<IndexWord> {
    let (mut found, mut run, mut separator) = (Vec::new(), DigitRun::default(), None);
    for (at, letter) in text.char_indices().filter(|(_, letter)| !is_unseen(*letter)) {
        let end = at + letter.len_utf8();
        match (digit_value(letter), NumberSeparator::from_char(letter)) {
            (Some(value), _) => run.push(separator.take(), char::from(b'0' + value), at..end),
            (None, Some(sign)) if separator.is_none() && !run.groups.is_empty() => separator = Some(sign),
            (None, _) => {
                separator = None;
                found.extend(std::mem::take(&mut run).into_words());
            }
        }
    }
    found.extend(run.into_words());
    found
}

impl DigitRun {
    fn push(&mut self, separator: Option<NumberSeparator>, digit: char, range: Range<usize>) {
        self.separators.extend(separator);
        match self.groups.last_mut().filter(|_| separator.is_none()) {
            Some(group) => {
                group.digits.push(digit);
                group.range.end = range.end;
            }
            None => self.groups.push(GroupedDigits { range, digits: digit.to_string() }),
        }
    }

    /// One number, or as many as there are groups: a date, a list.
    fn into_words(self) -> Vec<IndexWord> {
        let (Some(first), Some(last)) = (self.groups.first(), self.groups.last()) else { return Vec::new() };
        let range = first.range.start..last.range.end;
        if let Some(number) = self.join() {
            return vec![IndexWord { range, forms: vec![format!("{NUMBER}{number}")] }];
        }
        let single = |group: GroupedDigits| IndexWord {
            range: group.range,
            forms: vec![format!("{NUMBER}{}", group.digits)],
        };
        self.groups.into_iter().map(single).collect()
    }

    /// `1,50,000.50` as `150000.5`.
    fn join(&self) -> Option<String> {
        let point = self.separators.iter().position(|sign| *sign == NumberSeparator::Point);
        let whole = point.map_or(self.groups.len(), |at| at + 1);
        let (whole, fraction) = self.groups.split_at_checked(whole)?;
        if fraction.len() > 1 || !is_grouped(whole) {
            return None;
        }
        let whole: String = whole.iter().map(|group| group.digits.as_str()).collect();
        let fraction = fraction.first().map_or("", |group| group.digits.trim_end_matches('0'));
        Some(if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") })
    }
}

/// Whether groups are parted as thousands or lakhs are.
fn is_grouped(groups: &[GroupedDigits]) -> bool {
    let sizes: Vec<usize> = groups.iter().map(|group| group.digits.len()).collect();
    match sizes[..] {
        [] | [_] => true,
        [first, ref middle @ .., last] => {
            first <= 3 && last == 3 && middle.iter().all(|size| matches!(size, 2 | 3))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn forms(text: &str) -> Vec<String> {
        split_index_words(text).into_iter().map(|word| word.forms.join("|")).collect()
    }

    fn shares_form(one: &str, other: &str) -> bool {
        split_index_words(one)[0].matches(&split_index_words(other)[0].forms)
    }

    #[test]
    fn spellings_and_scripts_meet() {
        for (one, other) in [
            ("Paanch", "पाँच"),
            ("rajan", "राजन"),
            ("RAMESH", "ramesh"),
            ("sarkar", "सरकार"),
            ("ক\u{9CB}ন", "ক\u{9C7}\u{9BE}ন"),
            ("हज़ार", "हज\u{93C}ार"),
            ("raju", "r\u{200B}аju"),
        ] {
            assert!(shares_form(one, other), "{one} {other}: {:?} {:?}", forms(one), forms(other));
        }
        for (one, other) in [("paid", "bad"), ("bill", "bell"), ("राम", "श्याम"), ("ten", "10")]
        {
            assert!(!shares_form(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_number_has_one_form() {
        for (text, form) in [
            ("1,50,000", "#150000"),
            ("150000.00", "#150000"),
            ("१५००", "#1500"),
            ("3.50", "#3.5"),
            ("1\u{200B}500", "#1500"),
            ("007", "#007"),
        ] {
            assert_eq!(forms(text), [form], "{text}");
        }
        assert_eq!(forms("12.05.2026"), ["#12", "#05", "#2026"]);
        assert_eq!(forms("5,10,15"), ["#5", "#10", "#15"]);
        assert_eq!(forms("₹500, 20."), ["#500", "#20"]);
        assert_eq!(forms("2kg"), ["#2", "kg"]);
    }

    #[test]
    fn other_alphabets_are_found_by_their_spelling() {
        assert_eq!(forms("李 شکریہ"), ["=李", "=شکریہ"]);
        assert!(shares_form("ЯЩ", "ящ"));
    }

    proptest! {
        #[test]
        fn words_stand_where_they_are_said_to(text: String) {
            let words = split_index_words(&text);
            let mut end = 0;
            for word in &words {
                prop_assert!(word.range.start >= end && word.range.end > word.range.start);
                prop_assert!(text.get(word.range.clone()).is_some());
                prop_assert!(!word.forms.is_empty());
                end = word.range.end;
            }
        }

        #[test]
        fn a_word_alone_is_what_it_is_in_a_text(text in "[a-zA-Z0-9 \u{900}-\u{97F}\u{B80}-\u{BFF},.]{0,40}") {
            for word in split_index_words(&text) {
                let alone = split_index_words(&text[word.range.clone()]);
                prop_assert_eq!(alone.len(), 1);
                prop_assert_eq!(&alone[0].forms, &word.forms);
            }
        }
    }
}
