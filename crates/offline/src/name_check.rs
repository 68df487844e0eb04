//! Whether what was taken for a person or a thing is one, and nothing that may turn the sentence round.

use munshi_lang::fold;
use munshi_lang::names::is_honorific;
use munshi_types::Language;

use crate::coverage::WordCoverage;
use crate::name_roles::{CASES, NameRole, strip_case};
use crate::prepared_tools::ToolArgumentKind;
use crate::reading::OfflineWord;
use crate::small_words::{SmallWordClass, SmallWordClassSet, SmallWords};
use crate::spans::NameSpan;

/// What names nobody and nothing.
const DOUBTFUL: SmallWordClassSet = SmallWordClassSet::of(&[
    SmallWordClass::Doubt,
    SmallWordClass::If,
    SmallWordClass::Not,
    SmallWordClass::Question,
]);

impl WordCoverage<'_, '_> {
    /// Whether a span is a name and nothing else: one word, or several of which each is written as a name, or one with
    /// its trade.
    pub(crate) fn is_name(&self, span: &NameSpan) -> bool {
        let words = self.sight.reading.words.get(span.from..span.to).unwrap_or_default();
        let is_rank = |word: &&OfflineWord<'_>| is_honorific(&word.key) || word.is_trade;
        // Ranks follow a name; before it they may be a word like any other.
        let ranks = words.iter().rev().take_while(|word| is_rank(word)).count();
        let names: Vec<&OfflineWord<'_>> = words.iter().take(words.len() - ranks).collect();
        let languages = &self.sight.reading.languages;
        let is_odd = |word: &&&OfflineWord<'_>| {
            word.held.is_some() || word.is_sign || is_never_a_name(word, languages)
        };
        let is_written = names.iter().all(|word| word.is_capital);
        let is_alone = match names.as_slice() {
            [] => words.len() == 1 && words.iter().any(|word| word.is_trade),
            [_] => true,
            // The first word of a sentence is written large whatever it is; the others tell where a case says whose part it is.
            [..] => is_written && (span.from > 0 || span.takes_part()),
        };
        // English writes names large and marks things as it marks people: from home.
        let is_english = self.sight.reading.languages.first() == Some(&Language::English);
        let is_marked = (span.takes_part() && !is_english) || ranks > 0;
        let is_latin = names.iter().any(|word| word.text.is_ascii());
        let is_nobody = is_nobody(&span.text, &fold::key(&span.text), languages);
        // Marked twice, where it ends is not clear.
        let ends = words.last().and_then(|word| strip_case(word, &self.sight.reading.languages));
        // So it is where the ending is still part of what was taken for the name: sureshinu il.
        let is_uncut = || words.last().is_some_and(|word| span.text.ends_with(word.text));
        let is_owned = || span.role() == Some(NameRole::Of) && is_uncut();
        let is_double =
            !span.is_fused && ends.is_some_and(|(_, role)| span.role() == Some(role) || is_owned());
        is_alone
            && !is_nobody
            && !is_double
            && !names.iter().any(|word| is_odd(&word))
            && (is_marked || is_written || !is_latin)
    }

    /// Whether one word has a case of its own where the tool knows of nobody: chayakku, on tea. What may turn a sentence
    /// round has none.
    fn is_marked_thing(&self, span: &NameSpan, words: &[OfflineWord<'_>]) -> bool {
        let is_doubtful = |word: &OfflineWord<'_>| word.classes.intersects(DOUBTFUL);
        let nobody = self.tool.find_field(&ToolArgumentKind::Person).is_none();
        nobody && span.is_fused && span.takes_part() && words.len() == 1 && !words.iter().any(is_doubtful)
    }

    /// Whether a span is a thing the tool's examples know, goods of no name, or one word that is counted.
    pub(crate) fn is_thing(&self, span: &NameSpan) -> bool {
        let words = self.sight.reading.words.get(span.from..span.to).unwrap_or_default();
        let is_known = |at: usize| {
            let found = self.sight.matches.get(at).map_or(&[][..], Vec::as_slice);
            let is_small = self.sight.reading.words.get(at).is_some_and(|word| {
                word.classes.has(SmallWordClass::Goods)
                    || ((word.classes.intersects(CASES) || word.classes.has(SmallWordClass::And))
                        && !word.classes.has(SmallWordClass::Doubt))
            });
            is_small || found.iter().any(|one| one.likeness >= 0.9 && self.tool.named.contains(&one.entry))
        };
        let is_doubtful = |word: &OfflineWord<'_>| word.classes.intersects(DOUBTFUL);
        let is_counted = span.is_counted && words.len() == 1 && !words.iter().any(is_doubtful);
        let names_it = |at: usize| {
            let word = self.sight.reading.words.get(at);
            word.is_some_and(|word| word.classes.has(SmallWordClass::Goods) || word.is_content())
        };
        let range = || span.from..span.to;
        is_counted || self.is_marked_thing(span, words) || (range().all(is_known) && range().any(names_it))
    }
}

/// Whether a word hedges, counts people or stands for them in any language, or ends as no name does in English.
fn is_never_a_name(word: &OfflineWord<'_>, languages: &[Language]) -> bool {
    const NO_NAME: [&str; 9] = ["ly", "ers", "ors", "nts", "ment", "ing", "ion", "body", "thing"];
    let is_english = word.text.is_ascii() && word.text.len() > 4;
    (is_english && NO_NAME.iter().any(|tail| word.text.ends_with(tail)))
        || is_nobody(word.text, &word.key, languages)
}

/// An Indian script tells its language; in Latin letters it may be a word of any.
fn is_nobody(text: &str, key: &str, languages: &[Language]) -> bool {
    let small = SmallWords::get();
    let classes = if text.is_ascii() { small.classes_anywhere(key) } else { small.classes(key, languages) };
    classes.intersects(DOUBTFUL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_somebody() {
        let names = "Ramesh Suresh Mahesh Mukesh Rajesh Anita Sunita Lata Sita Gita Geeta Asha Usha Tara Meera Mira Rani \
            Raju Ravi Kavita Kiran Kumar Mohan Sohan Karim Salim Imran Abdul Fatima Ayesha Lakshmi Murugan Selvi Manju \
            Manjunath Venkat Reddy Gupta Sharma Patil Shah Dutta Das Roy Bose Nair Menon Latha Suman Sumana Harpreet \
            Gurpreet Jaspal Balwinder Simran Prakash Deepak Vijay Ajay Sanjay Anil Sunil Amit Sumit Neha Pooja Priya \
            Rekha Radha Hari Ram Shyam Krishna Gopal Govind Mala Maya Jyoti Pinki Bablu Guddu Munna Chotu Babu Sahu \
            Behera Nayak Mishra Pandey Yadav Singh Kaur Gill Joshi Desai Mehta Bhavesh Nilesh Hitesh Chetan Alpa Hetal \
            Ganesh Shankar Basava Girish Naveen Joseph Thomas Mary John Peter Anthony Biju Shaji Sini Rama Ananda";
        let taken: Vec<&str> =
            names.split_whitespace().filter(|name| is_nobody(name, &fold::key(name), &[])).collect();
        assert!(taken.is_empty(), "{taken:?}");
    }
}
