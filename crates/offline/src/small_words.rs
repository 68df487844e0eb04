//! The small words of each language, read once from `words/`; `words/README.md` says what each class tells.

use std::collections::HashMap;
use std::sync::OnceLock;

use munshi_lang::fold;
use munshi_types::word_list::read_entries;
use munshi_types::{Language, word_classes};

const FILES: [(Language, &str); 11] = [
    (Language::English, include_str!("../words/en.txt")),
    (Language::Hindi, include_str!("../words/hi.txt")),
    (Language::Bengali, include_str!("../words/bn.txt")),
    (Language::Gujarati, include_str!("../words/gu.txt")),
    (Language::Kannada, include_str!("../words/kn.txt")),
    (Language::Malayalam, include_str!("../words/ml.txt")),
    (Language::Marathi, include_str!("../words/mr.txt")),
    (Language::Odia, include_str!("../words/or.txt")),
    (Language::Punjabi, include_str!("../words/pa.txt")),
    (Language::Tamil, include_str!("../words/ta.txt")),
    (Language::Telugu, include_str!("../words/te.txt")),
];

word_classes! {
    /// What a small word tells.
    pub(crate) enum SmallWordClass {
        To = "to",
        By = "by",
        From = "from",
        Of = "of",
        In = "in",
        Me = "me",
        ToMe = "tome",
        Other = "other",
        Question = "question",
        Not = "not",
        If = "if",
        Will = "will",
        And = "and",
        Small = "small",
        Yes = "yes",
        No = "no",
        Stop = "stop",
        Hello = "hello",
        Thanks = "thanks",
        Help = "help",
        Trade = "trade",
        Many = "many",
        Doubt = "doubt",
        Talk = "talk",
        Goods = "goods",
        Own = "own",
        Be = "be",
        Tell = "tell",
        Whose = "whose",
        Did = "did",
        DidMe = "did-me",
        DidOther = "did-other",
        Bent = "bent",
        Place = "place",
        Article = "article",
        Call = "call",
        Gave = "gave",
        Went = "went",
    }
}

/// A set of classes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SmallWordClassSet(u64);

impl SmallWordClassSet {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn of(classes: &[SmallWordClass]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < classes.len() {
            bits |= 1 << classes[at] as u64;
            at += 1;
        }
        Self(bits)
    }

    pub(crate) const fn has(self, class: SmallWordClass) -> bool {
        self.0 & (1 << class as u64) != 0
    }

    pub(crate) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Endings that give a word another form.
const FORMS: SmallWordClassSet = SmallWordClassSet::of(&[
    SmallWordClass::Did,
    SmallWordClass::DidMe,
    SmallWordClass::DidOther,
    SmallWordClass::Bent,
]);

/// All the small words, by fold and language.
#[derive(Debug, Default)]
pub(crate) struct SmallWords {
    words: HashMap<String, [SmallWordClassSet; 11]>,
    /// The longest first.
    endings: [Vec<(String, SmallWordClass)>; 11],
    /// Endings of the forms a word may have, folded; the longest first.
    forms: [Vec<(String, SmallWordClass)>; 11],
    /// Whole answers of several words, of whatever language.
    answers: Vec<(Vec<String>, SmallWordClass)>,
}

impl SmallWords {
    pub(crate) fn get() -> &'static Self {
        static WORDS: OnceLock<SmallWords> = OnceLock::new();
        WORDS.get_or_init(Self::load)
    }

    fn load() -> Self {
        let mut found = Self::default();
        for (language, text) in FILES {
            for (name, words) in read_entries(text, " ") {
                let Some(class) = SmallWordClass::parse(name.trim_start_matches('-')) else { continue };
                for word in words.split_whitespace() {
                    found.add(language, class, word, name.starts_with('-'));
                }
            }
            found.endings[language.index()].sort_by_key(|(ending, _)| std::cmp::Reverse(ending.len()));
            found.forms[language.index()].sort_by_key(|(ending, _)| std::cmp::Reverse(ending.len()));
        }
        found
    }

    fn add(&mut self, language: Language, class: SmallWordClass, word: &str, hangs: bool) {
        if hangs && FORMS.has(class) {
            self.forms[language.index()].push((fold::stem(&fold::key(word)), class));
            return;
        }
        if hangs {
            self.endings[language.index()].push((word.to_owned(), class));
            return;
        }
        if word.contains('_') {
            self.answers.push((word.split('_').map(fold::key).collect(), class));
            return;
        }
        let key = fold::key(word);
        if !key.is_empty() {
            let classes = self.words.entry(key).or_default();
            classes[language.index()] = classes[language.index()].with(SmallWordClassSet::of(&[class]));
        }
    }

    /// What a folded word is in any of the languages.
    pub(crate) fn classes(&self, key: &str, languages: &[Language]) -> SmallWordClassSet {
        let Some(all) = self.words.get(key) else { return SmallWordClassSet::NONE };
        // Trades, goods and places have English names everywhere, and goods Hindi ones.
        let english = all[Language::English.index()].intersection(SmallWordClassSet::of(&[
            SmallWordClass::Trade,
            SmallWordClass::Goods,
            SmallWordClass::Place,
        ]));
        let hindi =
            all[Language::Hindi.index()].intersection(SmallWordClassSet::of(&[SmallWordClass::Goods]));
        let everywhere = english.with(hindi);
        languages.iter().fold(everywhere, |set, language| set.with(all[language.index()]))
    }

    /// What a folded word is in some language, whichever.
    pub(crate) fn classes_anywhere(&self, key: &str) -> SmallWordClassSet {
        let all = self.words.get(key).into_iter().flatten();
        all.fold(SmallWordClassSet::NONE, |set, classes| set.with(*classes))
    }

    /// Where in some folded words a whole answer of a class stands.
    pub(crate) fn find_answer(&self, keys: &[&str], wanted: SmallWordClass) -> Option<(usize, usize)> {
        let of_class = self.answers.iter().filter(|(_, class)| *class == wanted);
        of_class
            .filter_map(|(words, _)| {
                let at = keys.windows(words.len().max(1)).position(|some| some.iter().eq(words.iter()))?;
                Some((at, at + words.len()))
            })
            .max_by_key(|(from, to)| to - from)
    }

    /// What a folded word is without the endings of one of these classes, each way it can be cut.
    pub(crate) fn strip_forms<'w>(
        &self,
        stem: &'w str,
        language: Language,
        wanted: SmallWordClassSet,
    ) -> impl Iterator<Item = (&'w str, SmallWordClass)> {
        let endings = self.forms[language.index()].iter().filter(move |(_, class)| wanted.has(*class));
        endings.filter_map(|(ending, class)| Some((stem.strip_suffix(ending.as_str())?, *class)))
    }

    /// The longest ending of one of these classes that a word has, and what is left of the word.
    pub(crate) fn strip_ending<'w>(
        &self,
        word: &'w str,
        languages: &[Language],
        wanted: SmallWordClassSet,
    ) -> Option<(&'w str, SmallWordClass)> {
        let endings = languages.iter().flat_map(|language| &self.endings[language.index()]);
        let fitting = endings.filter(|(_, class)| wanted.has(*class));
        let cut = fitting.filter_map(|(ending, class)| Some((strip(word, ending)?, *class)));
        cut.min_by_key(|(front, _)| front.len())
    }
}

/// What stands before an ending, where enough of a word does.
fn strip<'w>(word: &'w str, ending: &str) -> Option<&'w str> {
    let at = word.len().checked_sub(ending.len())?;
    let tail = word.get(at..)?;
    let front = word.get(..at)?;
    (tail.eq_ignore_ascii_case(ending) && !front.is_empty()).then_some(front)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_every_file_is_understood() {
        for (language, text) in FILES {
            for line in text.lines() {
                let class = line.split_whitespace().next().unwrap();
                assert!(SmallWordClass::parse(class.trim_start_matches('-')).is_some(), "{language}: {line}");
            }
        }
    }

    #[test]
    fn a_word_means_what_its_language_says() {
        let words = SmallWords::get();
        assert!(words.classes("ne", &[Language::Hindi]).has(SmallWordClass::By));
        assert!(words.classes("ne", &[Language::Gujarati]).has(SmallWordClass::To));
        let cases = SmallWordClassSet::of(&[SmallWordClass::To, SmallWordClass::Of]);
        assert_eq!(
            words.strip_ending("ರಮೇಶನಿಗೆ", &[Language::Kannada], cases),
            Some(("ರಮೇಶ", SmallWordClass::To))
        );
        assert_eq!(
            words.strip_ending("Ramesher", &[Language::Bengali], cases),
            Some(("Ramesh", SmallWordClass::Of))
        );
    }
}
