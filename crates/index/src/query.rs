//! What is looked for: words that must all be there, and in quotes some that follow each other.

use std::ops::Range;

use crate::numbers::is_number_form;
use crate::words::{IndexWord, split_index_words};

/// In characters.
const LONGEST: usize = 200;
const MOST_WORDS: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    terms: Vec<SearchTerm>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum SearchTerm {
    /// Anywhere in a text.
    Word(WantedWord),
    /// Words that follow each other.
    Phrase(Vec<WantedWord>),
}

/// A word that is looked for, or what may be one number or several: `80000 90000` is a phone as well as two amounts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WantedWord {
    /// One is enough: all spellings of a word, or that of one number.
    forms: Vec<String>,
    /// Where it may be several numbers, all of them are enough, too.
    numbers: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchQueryError {
    #[error("write at least one word or number to search for")]
    Empty,
    #[error("a search has at most {LONGEST} characters")]
    TooLong,
    #[error("a search has at most {MOST_WORDS} words")]
    TooManyWords,
}

impl SearchQuery {
    pub fn parse(text: &str) -> Result<Self, SearchQueryError> {
        if text.chars().nth(LONGEST).is_some() {
            return Err(SearchQueryError::TooLong);
        }
        let mut terms = Vec::new();
        // What stands behind an odd number of quotes is in quotes, also where the last is missing.
        for (at, part) in text.split(['"', '“', '”']).enumerate() {
            let words = split_index_words(part).into_iter().map(WantedWord::from_word);
            match at % 2 == 1 {
                true => terms.push(SearchTerm::Phrase(words.collect())),
                false => terms.extend(words.map(SearchTerm::Word)),
            }
        }
        terms.retain(|term| !term.words().is_empty());
        match terms.iter().map(|term| term.words().len()).sum() {
            0 => Err(SearchQueryError::Empty),
            1..=MOST_WORDS => Ok(Self { terms }),
            _ => Err(SearchQueryError::TooManyWords),
        }
    }

    /// Where a text has it: the first place of each word or phrase. None where one is missing.
    pub fn find_in(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let words = split_index_words(text);
        self.terms.iter().map(|term| term.find_in(&words)).collect()
    }

    /// Lists of forms: a text that has the query has at least one of each.
    pub fn list_required_forms(&self) -> Vec<Vec<String>> {
        self.terms.iter().flat_map(SearchTerm::words).flat_map(WantedWord::list_required_forms).collect()
    }
}

impl SearchTerm {
    fn words(&self) -> &[WantedWord] {
        match self {
            Self::Word(word) => std::slice::from_ref(word),
            Self::Phrase(words) => words,
        }
    }

    fn find_in(&self, words: &[IndexWord]) -> Option<Range<usize>> {
        match self {
            Self::Word(word) => word.find_in(words),
            Self::Phrase(phrase) => (0..words.len()).find_map(|start| {
                let end = find_phrase_end(phrase, words, start)?;
                Some(words.get(start)?.range.start..words.get(end.checked_sub(1)?)?.range.end)
            }),
        }
    }
}

/// Behind which word a phrase ends that begins with this one. What may be several numbers is one word or as many, so there may be
/// several such places on the way.
fn find_phrase_end(phrase: &[WantedWord], words: &[IndexWord], start: usize) -> Option<usize> {
    let mut ends = vec![start];
    for wanted in phrase {
        let mut next: Vec<usize> = ends.iter().flat_map(|end| wanted.list_ends(words, *end)).collect();
        next.sort_unstable();
        next.dedup();
        ends = next;
    }
    ends.first().copied()
}

impl WantedWord {
    fn from_word(word: IndexWord) -> Self {
        let mut forms = word.forms;
        let is_number = forms.first().is_some_and(|form| is_number_form(form));
        let numbers = if is_number { forms.split_off(1) } else { Vec::new() };
        Self { forms, numbers }
    }

    fn find_in(&self, words: &[IndexWord]) -> Option<Range<usize>> {
        let find =
            |forms: &[String]| words.iter().find(|word| word.matches(forms)).map(|word| word.range.clone());
        if let Some(found) = find(&self.forms) {
            return Some(found);
        }
        let numbers: Vec<Range<usize>> =
            self.numbers.iter().map(|number| find(std::slice::from_ref(number))).collect::<Option<_>>()?;
        numbers.into_iter().min_by_key(|range| range.start)
    }

    /// Behind which words it ends where it begins with this one.
    fn list_ends(&self, words: &[IndexWord], start: usize) -> impl Iterator<Item = usize> + use<> {
        let is_one = words.get(start).is_some_and(|word| word.matches(&self.forms));
        let behind = start + self.numbers.len();
        let is_each = |(word, number): (&IndexWord, &String)| word.forms.contains(number);
        let are_several = behind > start
            && words.get(start..behind).is_some_and(|several| several.iter().zip(&self.numbers).all(is_each));
        is_one.then_some(start + 1).into_iter().chain(are_several.then_some(behind))
    }

    fn list_required_forms(&self) -> Vec<Vec<String>> {
        if self.numbers.is_empty() {
            return vec![self.forms.clone()];
        }
        let with_one = |number: &String| self.forms.iter().chain([number]).cloned().collect();
        self.numbers.iter().map(with_one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(query: &str, text: &str) -> bool {
        SearchQuery::parse(query).unwrap().find_in(text).is_some()
    }

    #[test]
    fn all_words_must_be_there_in_any_order() {
        let text = "Ramesh ne 1,500 rupaye diye, baaki kal";
        for query in ["ramesh", "kal RAMESH", "1500", "१५०० रमेश", "\"ramesh ne\" kal", "\"baaki kal"]
        {
            assert!(finds(query, text), "{query}");
        }
        for query in ["ramesh parso", "\"ne ramesh\"", "150", "\"ramesh kal\"", "rames"] {
            assert!(!finds(query, text), "{query}");
        }
    }

    #[test]
    fn what_may_be_several_numbers_is_looked_for_as_one_and_as_several() {
        for (query, text) in [
            ("80000 90000", "80000 Ramesh ne, 90000 Suresh ne"),
            ("80000 90000", "90000 diye, 80000 baaki"),
            ("80000 90000", "call 8000090000"),
            ("80000 90000", "call +91 80000 90000"),
            ("80000 80000", "call 8000080000"),
            ("80000", "call 80000 90000"),
            ("98123 45678 kal", "kal 98123-45678"),
            ("+91 98123 45678", "9812345678"),
            ("09812345678", "98123 45678"),
            ("9812345678", "0 98123 45678"),
            ("100,200", "100, 200"),
            ("100,200", "200 aur 100"),
            ("100,200", "1,00,200"),
            ("100 200", "100,200"),
            ("\"80000 90000 diye\"", "80000, 90000 diye"),
            ("\"call 80000 90000 kal\"", "call 8000090000 kal"),
            ("\"100,200 100,200 kal\"", "100 200 100200 kal"),
        ] {
            assert!(finds(query, text), "{query}: {text}");
            let words = split_index_words(text);
            let has = |forms: &Vec<String>| words.iter().any(|word| word.matches(forms));
            assert!(
                SearchQuery::parse(query).unwrap().list_required_forms().iter().all(has),
                "{query}: {text}"
            );
        }
        for (query, text) in [
            ("80000 90000", "80000 diye"),
            ("8000090000", "80000 diye, 90000 baaki"),
            ("100,200", "100 diye"),
            ("\"80000 90000\"", "90000, 80000"),
            ("\"80000 90000 diye\"", "80000 aur 90000 diye"),
        ] {
            assert!(!finds(query, text), "{query}: {text}");
        }
    }

    #[test]
    fn it_says_where() {
        let text = "udhar: Ramesh ka udhar";
        let found = SearchQuery::parse("\"ramesh ka\" udhar").unwrap().find_in(text).unwrap();
        let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["Ramesh ka", "udhar"]);
    }

    #[test]
    fn what_says_nothing_or_too_much_is_refused() {
        for (query, error) in [
            ("", SearchQueryError::Empty),
            ("\"\" — !", SearchQueryError::Empty),
            (&"a ".repeat(17), SearchQueryError::TooManyWords),
            (&"a".repeat(201), SearchQueryError::TooLong),
        ] {
            assert_eq!(SearchQuery::parse(query), Err(error), "{query}");
        }
        assert!(SearchQuery::parse(&"a ".repeat(16)).is_ok());
    }
}
