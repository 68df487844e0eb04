//! A text cut into words, each in the forms that its spellings and scripts share.
//!
//! `paanch`, `panch` and पाँच have one form; सरकार has that of what it spells and that of what is spoken, which is how people
//! type it in Latin letters. A number has one form whatever its digits and separators (`numbers`). A form of letters is of `a` to
//! `z`, so the signs that others begin with keep them apart.

use std::ops::Range;

use munshi_lang::fold;
use munshi_lang::text_words::{PlainWord, split_words};
use munshi_types::Script;

use crate::numbers::split_numbers;

/// What the form of a word begins with that has no sound here: it is found by its spelling alone.
const SPELLING: char = '=';

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexWord {
    /// Where it stands in the text, in bytes.
    pub range: Range<usize>,
    /// What it is found by; never empty. Of what may be one number or several first that of the one, then those of the others.
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
            ("അവന്\u{200D}", "അവൻ"),
            ("അവന്\u{200D}റെ", "അവൻറെ"),
            ("ॲप", "app"),
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
        assert_eq!(forms("100,200"), ["#100200|#100|#200"], "a list, or a lakh");
        assert_eq!(forms("1,500"), ["#1500"]);
        assert_eq!(forms("₹500, 20."), ["#500", "#20"]);
        assert_eq!(forms("2kg"), ["#2", "kg"]);
    }

    #[test]
    fn a_phone_is_found_however_it_is_written() {
        for text in [
            "9812345678",
            "98123 45678",
            "98123-45678",
            "+91-98123-45678",
            "+91 98123 45678",
            "+919812345678",
            "091234 56789 09812345678",
            "981 234 5678",
            "९८१२३ ४५६७८",
        ] {
            let phone = ["#9812345678".to_owned()];
            assert!(
                split_index_words(text).iter().any(|word| word.matches(&phone)),
                "{text}: {:?}",
                forms(text)
            );
        }
        assert_eq!(forms("98123 45678"), ["#9812345678|#98123|#45678"]);
        for list in ["98 1234 5678", "12345 67890", "98123  45678", "98123 4567", "9 8 1 2 3 4 5 6 7 8"] {
            assert!(forms(list).iter().all(|form| !form.contains('|')), "{list}: {:?}", forms(list));
        }
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
