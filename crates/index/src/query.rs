//! What is looked for: words that must all be there, and in quotes some that follow each other.

use std::ops::Range;

use crate::words::{IndexWord, split_index_words};

/// In characters.
const LONGEST: usize = 200;
const MOST_WORDS: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    phrases: Vec<Phrase>,
}

/// The forms of words that follow each other; of one word where it stands by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Phrase(Vec<Vec<String>>);

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
        let mut phrases: Vec<Phrase> = Vec::new();
        // What stands behind an odd number of quotes is in quotes, also where the last is missing.
        for (at, part) in text.split(['"', '“', '”']).enumerate() {
            let words: Vec<Vec<String>> =
                split_index_words(part).into_iter().map(IndexWord::into_wanted_forms).collect();
            match at % 2 == 1 {
                true => phrases.push(Phrase(words)),
                false => phrases.extend(words.into_iter().map(|word| Phrase(vec![word]))),
            }
        }
        phrases.retain(|phrase| !phrase.0.is_empty());
        match phrases.iter().map(|phrase| phrase.0.len()).sum() {
            0 => Err(SearchQueryError::Empty),
            1..=MOST_WORDS => Ok(Self { phrases }),
            _ => Err(SearchQueryError::TooManyWords),
        }
    }

    /// Where a text has it: the first place of each word or phrase. None where one is missing.
    pub fn find_in(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let words = split_index_words(text);
        self.phrases.iter().map(|phrase| phrase.find_in(&words)).collect()
    }

    /// The forms of each word: a text that has the query has at least one of each.
    pub fn words(&self) -> impl Iterator<Item = &Vec<String>> {
        self.phrases.iter().flat_map(|phrase| &phrase.0)
    }
}

impl Phrase {
    fn find_in(&self, words: &[IndexWord]) -> Option<Range<usize>> {
        let follow = words
            .windows(self.0.len())
            .find(|window| window.iter().zip(&self.0).all(|(word, forms)| word.matches(forms)))?;
        Some(follow.first()?.range.start..follow.last()?.range.end)
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
