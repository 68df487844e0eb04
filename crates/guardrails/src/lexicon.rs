//! The word classes and patterns of the shipped rules, read once from `lexicon/`.
//!
//! A file has sections. `[name]` holds the words of a class, a line a language: `hi: छूट रियायत*`. `_` joins the
//! words of a phrase, `*` leaves an ending open, `=` before a word of an Indian language keeps it to this spelling,
//! `~` before an English word lets it be met in other scripts. `[catch]` holds patterns (see `pattern`). Classes of
//! `shared.txt` can be used by every rule.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use munshi_types::word_list::{WordListLine, read_lines};

use super::classes::{WordClassId, WordClassSet};
use super::pattern::{ClausePattern, ClausePatternSet};
use super::reading::GuardrailReading;
use super::table::{Spelling, WordClassTable};

const FILES: &[(&str, &str)] = &[
    ("shared", include_str!("../lexicon/shared.txt")),
    ("price", include_str!("../lexicon/price.txt")),
    ("no-discount", include_str!("../lexicon/no-discount.txt")),
    ("model-name", include_str!("../lexicon/model-name.txt")),
    ("prompt-leak", include_str!("../lexicon/prompt-leak.txt")),
    ("persona-lock", include_str!("../lexicon/persona-lock.txt")),
    ("no-income-segmentation", include_str!("../lexicon/no-income-segmentation.txt")),
    ("no-diagnosis", include_str!("../lexicon/no-diagnosis.txt")),
    ("red-flag", include_str!("../lexicon/red-flag.txt")),
    ("no-legal-advice", include_str!("../lexicon/no-legal-advice.txt")),
    ("election-norms", include_str!("../lexicon/election-norms.txt")),
    ("phi-redaction", include_str!("../lexicon/phi-redaction.txt")),
    ("no-invented-scarcity", include_str!("../lexicon/no-invented-scarcity.txt")),
    ("never-human", include_str!("../lexicon/never-human.txt")),
    ("no-financial-promise", include_str!("../lexicon/no-financial-promise.txt")),
    ("fallback-plan", include_str!("../lexicon/fallback-plan.txt")),
    ("heard", include_str!("../lexicon/heard.txt")),
    ("no-secrets", include_str!("../lexicon/no-secrets.txt")),
];

/// The section of a file's patterns; `[catch appeal]` is a list of its own.
const CATCH: &str = "catch";

/// The classes that are seen, not spelled.
pub(crate) const NUMBER: WordClassId = 0;
pub(crate) const MONEY: WordClassId = 1;
pub(crate) const PERCENT: WordClassId = 2;

#[derive(Debug, Default)]
pub(crate) struct GuardrailLexicon {
    pub table: WordClassTable,
    names: HashMap<String, WordClassId>,
    patterns: BTreeMap<String, ClausePatternSet>,
    /// Lines that could not be read; a test keeps this empty.
    pub unread: Vec<String>,
}

static LEXICON: LazyLock<GuardrailLexicon> = LazyLock::new(GuardrailLexicon::load);

/// The shipped lexicon.
pub(crate) fn lexicon() -> &'static GuardrailLexicon {
    &LEXICON
}

impl GuardrailLexicon {
    fn load() -> Self {
        let mut this = Self::default();
        for name in ["number", "money", "percent"] {
            this.intern_class(name);
        }
        for (file, text) in FILES {
            this.read_words(file, text);
        }
        for (file, text) in FILES {
            this.read_patterns(file, text);
        }
        this
    }

    fn intern_class(&mut self, name: &str) -> WordClassId {
        let next = self.names.len();
        if next >= WordClassSet::MOST {
            self.unread.push(format!("no room for the class {name}"));
        }
        *self.names.entry(name.to_owned()).or_insert(WordClassId::try_from(next).unwrap_or_default())
    }

    fn read_words(&mut self, file: &str, text: &'static str) {
        for WordListLine { section, text: line, .. } in read_lines(text) {
            if section.starts_with(CATCH) {
                continue;
            }
            let name = if file == "shared" { section.to_owned() } else { format!("{file}.{section}") };
            let class = self.intern_class(&name);
            let Some((language, words)) = line.split_once(':') else {
                self.unread.push(format!("{file}: {line}"));
                continue;
            };
            for word in words.split_whitespace() {
                self.add(word, class, language == "en");
            }
        }
    }

    fn add(&mut self, word: &str, class: WordClassId, english: bool) {
        if let Some(loan) = word.strip_prefix('~') {
            return self.table.add(loan, class, Spelling::Loan);
        }
        match word.strip_prefix('=') {
            Some(exact) => self.table.add(exact, class, Spelling::Exact),
            None if english => self.table.add(word, class, Spelling::Exact),
            None => self.table.add(word, class, Spelling::Sound),
        }
    }

    fn read_patterns(&mut self, file: &'static str, text: &'static str) {
        let mut own = WordClassSet::NONE;
        let mine = |name: &str| name.strip_prefix(file).is_some_and(|rest| rest.starts_with('.'));
        self.names.iter().filter(|(name, _)| mine(name)).for_each(|(_, class)| own.add(*class));
        for WordListLine { section, text: line, .. } in read_lines(text) {
            let Some(kind) = section.strip_prefix(CATCH) else { continue };
            let class = |name: &str| {
                self.names.get(&format!("{file}.{name}")).or_else(|| self.names.get(name)).copied()
            };
            let list = if kind.is_empty() { file.to_owned() } else { format!("{file}.{}", kind.trim()) };
            match ClausePattern::parse(line, class) {
                Ok(pattern) => self.patterns.entry(list).or_default().add(pattern, own),
                Err(name) => self.unread.push(format!("{file}: no class {name} in {line}")),
            }
        }
    }

    /// A list of patterns: `RULE`, or `RULE.LIST`.
    fn find_patterns(&self, list: &str) -> Option<&ClausePatternSet> {
        self.patterns.get(list)
    }

    /// A class by name, alone in its set; an unknown name is an empty set.
    pub(crate) fn class(&self, name: &str) -> WordClassSet {
        self.names.get(name).map_or(WordClassSet::NONE, |class| WordClassSet::of(*class))
    }
}

/// A class by name, looked up once.
#[derive(Debug)]
pub(crate) struct NamedWordClass {
    name: &'static str,
    class: OnceLock<WordClassSet>,
}

impl NamedWordClass {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, class: OnceLock::new() }
    }

    pub(crate) fn get(&self) -> WordClassSet {
        *self.class.get_or_init(|| lexicon().class(self.name))
    }
}

/// A list of patterns by name, looked up once.
#[derive(Debug)]
pub(crate) struct NamedPatterns {
    name: &'static str,
    patterns: OnceLock<Option<&'static ClausePatternSet>>,
}

impl NamedPatterns {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, patterns: OnceLock::new() }
    }

    /// Where any of the patterns is met in a reading.
    pub(crate) fn find(&self, reading: &GuardrailReading) -> Vec<Range<usize>> {
        let patterns = self.patterns.get_or_init(|| lexicon().find_patterns(self.name));
        patterns.map_or_else(Vec::new, |patterns| reading.find(patterns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_lexicon_is_read() {
        assert_eq!(lexicon().unread, Vec::<String>::new());
    }
}
