//! A text as the rules read it: tokens with their classes, in clauses, in sentences.

use std::ops::Range;
use std::sync::LazyLock;

use munshi_lang::fold::SpellingFolder;

use super::classes::{WordClassId, WordClassSet};
use super::joins::{join_letters, join_pieces};
use super::lexicon::{GuardrailLexicon, lexicon};
use super::pattern::ClausePatternSet;
use super::table::WordClassTable;
use super::tokens::{GuardrailTokenKind, GuardrailTokenList, TokenGap, ends_clause};

#[derive(Debug)]
pub(crate) struct GuardrailReading {
    pub tokens: GuardrailTokenList,
    pub(super) classes: Vec<WordClassSet>,
    /// Where the phrase a token begins ends, in tokens: `at + 1` for a word alone.
    reaches: Vec<usize>,
    pub clauses: Vec<Clause>,
    pub(super) sentences: Vec<WordClassSet>,
    /// Every class of the text.
    pub(super) mask: WordClassSet,
    folds: Folds,
    /// The hashes of the plain spellings.
    hashes: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub from: usize,
    pub to: usize,
    pub sentence: usize,
    pub mask: WordClassSet,
}

impl Clause {
    pub(crate) fn tokens(&self) -> Range<usize> {
        self.from..self.to
    }
}

/// The folds of all tokens, one after another, and where each ends.
#[derive(Debug)]
struct Folds {
    letters: String,
    ends: Vec<usize>,
}

impl Folds {
    fn new(tokens: &GuardrailTokenList) -> Self {
        let mut this =
            Self { letters: String::with_capacity(tokens.len() * 8), ends: Vec::with_capacity(tokens.len()) };
        let mut folder = SpellingFolder::default();
        for (at, token) in tokens.iter().enumerate() {
            // Words of other scripts that are short, and overlong ones, are known by their spelling alone.
            let fits = if token.is_latin() { 2..=60 } else { 12..=120 };
            if token.is_word() && fits.contains(&token.len()) {
                this.letters.push_str(folder.stem(tokens.spelling(at)));
            }
            this.ends.push(this.letters.len());
        }
        this
    }

    fn get(&self, at: usize) -> &str {
        let from = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(at).and_then(|end| self.letters.get(from..*end)).unwrap_or_default()
    }
}

/// So many words a phrase of the lexicon has at most.
const LONGEST_PHRASE: usize = 5;

/// The shared classes that the reading itself rests on.
pub(super) struct SharedWordClasses {
    pub no: WordClassSet,
    pub no_no: WordClassSet,
    pub no_thing: WordClassSet,
    pub focus: WordClassSet,
    pub but: WordClassSet,
    pub verb: WordClassSet,
    pub said: WordClassSet,
    pub rupee: WordClassSet,
    pub scale: WordClassSet,
    pub number_word: WordClassSet,
    pub percent: WordClassSet,
}

pub(super) static SHARED: LazyLock<SharedWordClasses> = LazyLock::new(|| {
    let class = |name: &str| lexicon().class(name);
    SharedWordClasses {
        no: class("no"),
        no_no: class("no-no"),
        no_thing: class("no-thing"),
        focus: class("focus"),
        but: class("but"),
        verb: class("verb"),
        said: class("said"),
        rupee: class("rupee"),
        scale: class("scale"),
        number_word: class("number-word"),
        percent: class("percent-word"),
    }
});

impl GuardrailReading {
    /// Reads a text whose sentences end at `ends` (bytes; the last is the text's end).
    pub(crate) fn new(text: &str, ends: &[usize]) -> Self {
        let lexicon = lexicon();
        let mut tokens = GuardrailTokenList::new(text);
        join_letters(&mut tokens, &lexicon.table);
        join_pieces(&mut tokens, &lexicon.table);
        let mut this = Self {
            classes: vec![WordClassSet::NONE; tokens.len()],
            reaches: (1..=tokens.len()).collect(),
            clauses: Vec::new(),
            sentences: Vec::new(),
            mask: WordClassSet::NONE,
            folds: Folds::new(&tokens),
            hashes: vec![0; tokens.len()],
            tokens,
        };
        this.classify(lexicon);
        this.classify_numbers();
        this.split_clauses(ends);
        this
    }

    fn classify(&mut self, lexicon: &GuardrailLexicon) {
        let mut said_lightly = Vec::new();
        for at in 0..self.tokens.len() {
            if !self.is_word_or_number(at) {
                continue;
            }
            let mut found = WordClassSet::NONE;
            let mut reach = at + 1;
            let mut no_no = 0;
            self.hashes[at] = self.look_up(&lexicon.table, at, |class, to| {
                found.add(class);
                reach = reach.max(to);
                if SHARED.no_no.has(class) {
                    no_no = no_no.max(to);
                }
            });
            self.classes[at].add_all(found);
            self.reaches[at] = reach;
            if found.is_empty() && self.tokens[at].is_word() {
                self.classify_halves(&lexicon.table, at);
            }
            if no_no > 0 {
                said_lightly.push((at, no_no));
            }
        }
        for (at, to) in said_lightly {
            self.clear_negation(at, to);
        }
    }

    /// Calls back for every entry that begins at a token, with the token its phrase ends before. Returns the hash of
    /// its spelling.
    fn look_up(&self, table: &WordClassTable, at: usize, hit: impl FnMut(WordClassId, usize)) -> u64 {
        look_up((&self.tokens, &self.folds), table, at, hit)
    }

    /// `no problem` denies nothing.
    fn clear_negation(&mut self, at: usize, to: usize) {
        for place in at..to {
            self.classes[place].remove(SHARED.no);
        }
        if to > at {
            self.reaches[at] = to;
        }
    }

    /// A word written in two halves: `dis count`.
    fn classify_halves(&mut self, table: &WordClassTable, at: usize) {
        let mut found = WordClassSet::NONE;
        match_halves(&self.tokens, table, (at, self.hashes[at]), |class| found.add(class));
        self.classes[at].add_all(found);
        if !found.is_empty() {
            self.reaches[at] = at + 2;
        }
    }

    pub(crate) fn has_class(&self, at: usize, classes: WordClassSet) -> bool {
        self.classes.get(at).is_some_and(|found| found.intersects(classes))
    }

    /// Everything the lexicon says of a token.
    pub(crate) fn classes_of(&self, at: usize) -> WordClassSet {
        self.classes.get(at).copied().unwrap_or_default()
    }

    /// Where a token's phrase ends in the original.
    pub(crate) fn end_of(&self, at: usize) -> usize {
        let last = self.reaches.get(at).map_or(at, |reach| reach - 1);
        self.tokens.get(last).map_or(0, |token| token.end)
    }

    /// The token after the phrase that begins at one.
    pub(crate) fn next_after_phrase(&self, at: usize) -> usize {
        self.reaches.get(at).copied().unwrap_or(at + 1)
    }

    /// Whether it is a word or a number.
    pub(crate) fn is_word_or_number(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| !matches!(token.kind, GuardrailTokenKind::Sign(_)))
    }

    pub(crate) fn fold(&self, at: usize) -> &str {
        self.folds.get(at)
    }

    /// The hash of a token's plain spelling; a sign has none.
    pub(crate) fn hash(&self, at: usize) -> u64 {
        self.hashes.get(at).copied().unwrap_or_default()
    }

    /// The plain spelling of a token.
    pub(crate) fn spelling(&self, at: usize) -> &str {
        self.tokens.spelling(at)
    }

    pub(crate) fn sentence_mask(&self, sentence: usize) -> WordClassSet {
        self.sentences.get(sentence).copied().unwrap_or_default()
    }

    pub(crate) fn has(&self, classes: WordClassSet) -> bool {
        self.mask.intersects(classes)
    }

    /// Where any of the patterns is met.
    pub(crate) fn find(&self, patterns: &ClausePatternSet) -> Vec<Range<usize>> {
        if !self.has(patterns.gate) {
            return Vec::new();
        }
        let clauses = self.clauses.iter().filter(|clause| clause.mask.intersects(patterns.gate));
        clauses
            .filter_map(|clause| patterns.list.iter().find_map(|pattern| pattern.find(self, clause)))
            .collect()
    }
}

/// The words of a text, with disguises undone by one table.
pub(crate) struct GuardrailWords {
    pub tokens: GuardrailTokenList,
    folds: Folds,
}

impl GuardrailWords {
    pub(crate) fn new(text: &str, table: &WordClassTable) -> Self {
        let mut tokens = GuardrailTokenList::new(text);
        join_letters(&mut tokens, table);
        join_pieces(&mut tokens, table);
        Self { folds: Folds::new(&tokens), tokens }
    }

    /// The token before which the longest entry that begins at one ends.
    pub(crate) fn find_phrase_end(&self, table: &WordClassTable, at: usize) -> Option<usize> {
        let token = self.tokens.get(at).filter(|token| !matches!(token.kind, GuardrailTokenKind::Sign(_)))?;
        let mut reach = None;
        let hash = look_up((&self.tokens, &self.folds), table, at, |_, to| reach = reach.max(Some(to)));
        if reach.is_none() && token.is_word() {
            match_halves(&self.tokens, table, (at, hash), |_| reach = Some(at + 2));
        }
        reach
    }
}

/// Calls back for every entry that begins at a token, with the token its phrase ends before. Returns the hash of its
/// spelling.
fn look_up(
    (tokens, folds): (&GuardrailTokenList, &Folds),
    table: &WordClassTable,
    at: usize,
    mut hit: impl FnMut(WordClassId, usize),
) -> u64 {
    let word = |nth: usize| Some(tokens.spelling(find_nth_word(tokens, at, nth)?));
    let fold = |nth: usize| Some(folds.get(find_nth_word(tokens, at, nth)?)).filter(|fold| !fold.is_empty());
    table.find(word, fold, |found| {
        let last = find_nth_word(tokens, at, found.words - 1).unwrap_or(at);
        hit(found.class, last + 1);
    })
}

/// The word or number that a phrase from a token on has in its nth place.
fn find_nth_word(tokens: &GuardrailTokenList, at: usize, nth: usize) -> Option<usize> {
    if nth == 0 {
        return Some(at);
    }
    let mut left = nth.min(LONGEST_PHRASE);
    for (next, token) in tokens.iter().enumerate().skip(at + 1) {
        match token.kind {
            GuardrailTokenKind::Sign(sign) if ends_clause(sign) => return None,
            GuardrailTokenKind::Sign(_) => {}
            _ => {
                left -= 1;
                if left == 0 {
                    return (nth < LONGEST_PHRASE).then_some(next);
                }
            }
        }
    }
    None
}

/// Calls back for every entry that a word and the next make together; the hash is the first one's.
fn match_halves(
    tokens: &GuardrailTokenList,
    table: &WordClassTable,
    (at, hash): (usize, u64),
    mut hit: impl FnMut(WordClassId),
) {
    if !tokens.get(at + 1).is_some_and(|next| next.is_word() && next.gap == TokenGap::One) {
        return;
    }
    let (first, second) = (tokens.spelling(at), tokens.spelling(at + 1));
    let long_enough = match tokens[at].is_latin() {
        true => first.len() + second.len() >= 7,
        false => first.chars().chain(second.chars()).count() >= 3,
    };
    if long_enough {
        table.find_joined((first, hash), second, |class, length| {
            // The first letter of the next word makes no half of this one.
            let own = second.get(..length.saturating_sub(first.len())).unwrap_or_default();
            if own == second || own.chars().count() > 1 {
                hit(class);
            }
        });
    }
}
