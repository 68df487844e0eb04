//! A text as the rules read it: tokens with their classes, in clauses, in sentences.

use std::ops::Range;
use std::sync::LazyLock;

use super::lexicon::{self, Lexicon, lexicon};
use super::pattern::Pattern;
use super::table::{Classes, Table, fold_word};
use super::tokens::{self, Gap, Kind, Token, parts};

#[derive(Debug)]
pub(crate) struct Reading {
    pub tokens: Vec<Token>,
    classes: Vec<Classes>,
    /// Where the phrase a token begins ends, in tokens: `at + 1` for a word alone.
    reaches: Vec<usize>,
    pub clauses: Vec<Clause>,
    sentences: Vec<Classes>,
    folds: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub from: usize,
    pub to: usize,
    pub sentence: usize,
    pub mask: Classes,
}

impl Clause {
    pub(crate) fn tokens(&self) -> Range<usize> {
        self.from..self.to
    }
}

/// So many words a phrase of the lexicon has at most.
const LONGEST_PHRASE: usize = 5;

/// The shared classes that the reading itself rests on.
struct Shared {
    no: Classes,
    no_no: Classes,
    but: Classes,
    verb: Classes,
    said: Classes,
    rupee: Classes,
    scale: Classes,
    number_word: Classes,
    percent: Classes,
}

static SHARED: LazyLock<Shared> = LazyLock::new(|| {
    let class = |name: &str| lexicon().class(name);
    Shared {
        no: class("no"),
        no_no: class("no-no"),
        but: class("but"),
        verb: class("verb"),
        said: class("said"),
        rupee: class("rupee"),
        scale: class("scale"),
        number_word: class("number-word"),
        percent: class("percent-word"),
    }
});

impl Reading {
    /// Reads a text whose sentences end at `ends` (bytes; the last is the text's end).
    pub(crate) fn new(text: &str, ends: &[usize]) -> Self {
        let lexicon = lexicon();
        let mut tokens = tokens::tokens(text);
        join_letters(&mut tokens, &lexicon.table);
        join_pieces(&mut tokens, &lexicon.table);
        let folds: Vec<String> = tokens.iter().map(fold_token).collect();
        let mut this = Self {
            classes: vec![Classes::NONE; tokens.len()],
            reaches: (1..=tokens.len()).collect(),
            clauses: Vec::new(),
            sentences: Vec::new(),
            tokens,
            folds,
        };
        this.classify(lexicon);
        this.number();
        this.divide(ends);
        this
    }

    fn classify(&mut self, lexicon: &Lexicon) {
        let mut said_lightly = Vec::new();
        for at in 0..self.tokens.len() {
            if !self.counts(at) {
                continue;
            }
            let mut found = Classes::NONE;
            let mut reach = at + 1;
            let mut no_no = 0;
            self.look_up(&lexicon.table, at, |class, to| {
                let one = Classes::of(class);
                found.add_all(one);
                reach = reach.max(to);
                if one == SHARED.no_no {
                    no_no = no_no.max(to);
                }
            });
            self.classes[at].add_all(found);
            self.reaches[at] = reach;
            if found.is_empty() && self.tokens[at].is_word() {
                self.pair(&lexicon.table, at);
            }
            said_lightly.push((at, no_no));
        }
        for (at, to) in said_lightly {
            self.undo_no(at, to);
        }
    }

    /// Calls back for every entry that begins at a token, with the token its phrase ends before.
    pub(crate) fn look_up(&self, table: &Table, at: usize, mut hit: impl FnMut(super::table::Class, usize)) {
        let (near, count) = self.following(at);
        let near = &near[..count];
        let word = |nth: usize| near.get(nth).map(|at| self.tokens[*at].plain.as_str());
        let fold =
            |nth: usize| near.get(nth).map(|at| self.folds[*at].as_str()).filter(|fold| !fold.is_empty());
        table.find(word, fold, |found| {
            let last = near.get(found.words - 1).copied().unwrap_or(at);
            hit(found.class, last + 1);
        });
    }

    /// A token and the few words after it that a phrase may run over, and how many they are.
    fn following(&self, at: usize) -> ([usize; LONGEST_PHRASE], usize) {
        let mut near = [0; LONGEST_PHRASE];
        let mut count = 0;
        for next in at..self.tokens.len() {
            match self.tokens[next].kind {
                Kind::Sign(sign) if parts(sign) => break,
                Kind::Sign(_) => {}
                _ => {
                    near[count] = next;
                    count += 1;
                }
            }
            if count == LONGEST_PHRASE {
                break;
            }
        }
        (near, count)
    }

    /// `no problem` denies nothing.
    fn undo_no(&mut self, at: usize, to: usize) {
        for place in at..to {
            self.classes[place].remove(SHARED.no);
        }
        if to > at {
            self.reaches[at] = to;
        }
    }

    /// A word written in two halves: `dis count`.
    fn pair(&mut self, table: &Table, at: usize) {
        let Some(next) = self.tokens.get(at + 1).filter(|next| next.is_word() && next.gap == Gap::One) else {
            return;
        };
        let joined = format!("{}{}", self.tokens[at].plain, next.plain);
        let first = self.tokens[at].plain.len();
        let long_enough =
            if self.tokens[at].is_latin() { joined.len() >= 7 } else { joined.chars().count() >= 3 };
        if !long_enough {
            return;
        }
        let mut found = Classes::NONE;
        let only = |nth: usize| (nth == 0).then_some(joined.as_str());
        table.find(
            only,
            |_| None,
            |hit| {
                if hit.words == 1 && hit.letters > first && !hit.ending {
                    found.add(hit.class);
                }
            },
        );
        self.classes[at].add_all(found);
        if !found.is_empty() {
            self.reaches[at] = at + 2;
        }
    }

    /// Numbers, money and shares of a hundred.
    fn number(&mut self) {
        for at in 0..self.tokens.len() {
            let worded = self.classes[at].meets(SHARED.number_word);
            if !self.tokens[at].is_number() && !worded {
                continue;
            }
            self.classes[at].add(lexicon::NUMBER);
            if self.is_money(at) {
                self.classes[at].add(lexicon::MONEY);
            }
            if self.is_percent(at) {
                self.classes[at].add(lexicon::PERCENT);
            }
        }
    }

    fn is_money(&self, at: usize) -> bool {
        let currency = |token: &Token| matches!(token.kind, Kind::Sign('₹' | '$' | '€' | '£' | '₨'));
        let before = at.checked_sub(1).map(|before| (before, &self.tokens[before]));
        if let Some((place, token)) = before {
            let dotted = token.is('.') && place.checked_sub(1).is_some_and(|b| self.is(b, SHARED.rupee));
            if currency(token) || self.is(place, SHARED.rupee) || dotted {
                return true;
            }
        }
        let mut next = at + 1;
        while next < self.tokens.len() && next < at + 4 && self.is(next, SHARED.scale) {
            next += 1;
        }
        let strokes = |from: usize| {
            self.tokens.get(from).is_some_and(|t| t.is('/'))
                && self.tokens.get(from + 1).is_some_and(|t| t.is('-'))
        };
        self.tokens.get(next).is_some_and(currency) || self.is(next, SHARED.rupee) || strokes(next)
    }

    fn is_percent(&self, at: usize) -> bool {
        let next = self.tokens.get(at + 1);
        next.is_some_and(|next| next.is('%') || next.is('٪')) || self.is(at + 1, SHARED.percent)
    }

    /// Clauses, joined where a few words without a verb belong to their neighbour.
    fn divide(&mut self, ends: &[usize]) {
        let mut quoted = Quotes::default();
        let mut from = 0;
        let mut sentence = 0;
        let mut drafts: Vec<Draft> = Vec::new();
        let mut spoken = Vec::with_capacity(self.tokens.len());
        for (at, token) in self.tokens.iter().enumerate() {
            if ends.get(sentence).is_some_and(|end| token.start >= *end) {
                drafts.push(Draft { from, to: at, sentence, tied: false });
                from = at;
                sentence += 1;
                quoted = Quotes::default();
            }
            spoken.push(quoted.inside(token));
            // A point that ends no sentence ends no clause: Dr. Rao.
            let cuts = matches!(token.kind, Kind::Sign(sign) if parts(sign) && sign != '.')
                || self.is(at, SHARED.but);
            if cuts {
                let tied = matches!(token.kind, Kind::Sign(',' | '(' | ')' | '—' | '–'));
                drafts.push(Draft { from, to: at, sentence, tied });
                from = at + 1;
            }
        }
        drafts.push(Draft { from, to: self.tokens.len(), sentence, tied: false });
        self.forget_quotes(&drafts, &spoken);
        self.settle(drafts);
    }

    /// What the person said is quoted back to them, not said.
    fn forget_quotes(&mut self, drafts: &[Draft], spoken: &[bool]) {
        let count = drafts.last().map_or(0, |draft| draft.sentence) + 1;
        let mut quotes = vec![false; count];
        for draft in drafts {
            quotes[draft.sentence] |=
                (draft.from..draft.to).any(|at| !spoken[at] && self.is(at, SHARED.said));
        }
        for draft in drafts.iter().filter(|draft| quotes[draft.sentence]) {
            (draft.from..draft.to).filter(|at| spoken[*at]).for_each(|at| self.classes[at] = Classes::NONE);
        }
    }

    fn settle(&mut self, drafts: Vec<Draft>) {
        let mut waiting: Option<usize> = None;
        for draft in drafts {
            if draft.from == draft.to && !draft.tied && waiting.is_none() {
                continue;
            }
            let from = waiting.take().unwrap_or(draft.from);
            if draft.tied && self.leans(draft.from, draft.to) {
                waiting = Some(from);
                continue;
            }
            // Words left over at the end of a sentence belong to what came before.
            if self.leans(from, draft.to) && self.leans_back(from, draft.sentence) {
                if let Some(last) = self.clauses.last_mut() {
                    last.to = draft.to;
                }
                continue;
            }
            self.clauses.push(Clause { from, to: draft.to, sentence: draft.sentence, mask: Classes::NONE });
        }
        let count = self.clauses.iter().map(|clause| clause.sentence + 1).max().unwrap_or(0);
        self.sentences = vec![Classes::NONE; count];
        for clause in &mut self.clauses {
            for at in clause.from..clause.to {
                clause.mask.add_all(self.classes[at]);
            }
            self.sentences[clause.sentence].add_all(clause.mask);
        }
    }

    /// Three words at most and no verb: part of a list or an aside. A bare yes or no stands alone.
    fn leans(&self, from: usize, to: usize) -> bool {
        let words = (from..to).filter(|at| self.counts(*at)).count();
        let verb = (from..to).any(|at| self.is(at, SHARED.verb));
        let only_no = words > 0 && (from..to).filter(|at| self.counts(*at)).all(|at| self.is(at, SHARED.no));
        words > 0 && words <= 3 && !verb && !only_no
    }

    /// Whether such words go on with the clause before them. `…, not a bot` sets itself against it, and a clause
    /// that ends on its no is closed: `मैं इंसान नहीं, एक एआई`.
    fn leans_back(&self, from: usize, sentence: usize) -> bool {
        let Some(last) = self.clauses.last().filter(|last| last.sentence == sentence) else { return false };
        let comma = self.tokens.get(last.to).is_some_and(|token| token.is(','));
        let first = (from..self.tokens.len()).find(|at| self.counts(*at));
        let end = last.tokens().rev().find(|at| self.counts(*at));
        let denies = |at: Option<usize>| at.is_some_and(|at| self.is(at, SHARED.no));
        comma && !denies(first) && !denies(end)
    }

    pub(crate) fn is(&self, at: usize, classes: Classes) -> bool {
        self.classes.get(at).is_some_and(|found| found.meets(classes))
    }

    /// Where a token's phrase ends in the original.
    pub(crate) fn end_of(&self, at: usize) -> usize {
        let last = self.reaches.get(at).map_or(at, |reach| reach - 1);
        self.tokens.get(last).map_or(0, |token| token.end)
    }

    /// The token after the phrase that begins at one.
    pub(crate) fn after(&self, at: usize) -> usize {
        self.reaches.get(at).copied().unwrap_or(at + 1)
    }

    /// Whether it is a word or a number.
    pub(crate) fn counts(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| !matches!(token.kind, Kind::Sign(_)))
    }

    pub(crate) fn fold(&self, at: usize) -> &str {
        self.folds.get(at).map_or("", String::as_str)
    }

    pub(crate) fn sentence_mask(&self, sentence: usize) -> Classes {
        self.sentences.get(sentence).copied().unwrap_or_default()
    }

    pub(crate) fn has(&self, classes: Classes) -> bool {
        self.sentences.iter().any(|sentence| sentence.meets(classes))
    }

    /// Where any of the patterns is met.
    pub(crate) fn find(&self, patterns: &[Pattern]) -> Vec<Range<usize>> {
        let clauses = self.clauses.iter();
        clauses.filter_map(|clause| patterns.iter().find_map(|pattern| pattern.find(self, clause))).collect()
    }
}

struct Draft {
    from: usize,
    to: usize,
    sentence: usize,
    /// What cut it off joins as easily as it parts.
    tied: bool,
}

/// Whether one stands inside quotation marks.
#[derive(Default)]
struct Quotes(Option<char>);

impl Quotes {
    fn inside(&mut self, token: &Token) -> bool {
        let Kind::Sign(sign) = token.kind else { return self.0.is_some() };
        match (self.0, sign) {
            (Some(close), sign) if sign == close => {
                self.0 = None;
                true
            }
            (None, '"') => self.open('"'),
            (None, '“' | '„') => self.open('”'),
            (None, '«') => self.open('»'),
            (None, '\'') if token.gap != Gap::None => self.open('\''),
            (open, _) => open.is_some(),
        }
    }

    fn open(&mut self, close: char) -> bool {
        self.0 = Some(close);
        false
    }
}

/// Words of other scripts that are short, and overlong ones, are known by their spelling alone.
fn fold_token(token: &Token) -> String {
    let fits = if token.is_latin() { 2..=60 } else { 12..=120 };
    if token.is_word() && fits.contains(&token.plain.len()) { fold_word(&token.plain) } else { String::new() }
}

/// Puts letters set apart together where the lexicon knows the word, the longest first.
fn join_letters(tokens: &mut Vec<Token>, table: &Table) {
    for run in tokens::spelled_out(tokens).into_iter().rev() {
        let mut to = run.len();
        while to >= 3 {
            let longest = (0..to - 2).find_map(|from| {
                let word: String = run[from..to].iter().map(|(_, part)| part.as_str()).collect();
                let least = if word.len() == 3 { Fit::Whole } else { Fit::Letters(4) };
                known(table, &word, 0, least).then_some((from, word))
            });
            match longest {
                Some((from, word)) => {
                    replace(tokens, run[from].0, run[to - 1].0 + 1, word);
                    to = from;
                }
                None => to -= 1,
            }
        }
    }
}

/// Puts words broken by signs or digits together where the lexicon knows the result, and it is more than the first of
/// its pieces: `discounts/offers` are two words.
fn join_pieces(tokens: &mut Vec<Token>, table: &Table) {
    for (from, to, word) in tokens::disguised(tokens).into_iter().rev() {
        let first = tokens[from].plain.len();
        if known(table, &word, first, Fit::Letters(5)) {
            replace(tokens, from, to, word);
        }
    }
}

fn replace(tokens: &mut Vec<Token>, from: usize, to: usize, plain: String) {
    let (start, end, gap) = (tokens[from].start, tokens[to - 1].end, tokens[from].gap);
    tokens.splice(from..to, [Token { start, end, plain, kind: Kind::Word, gap }]);
}

/// How much of a joined word an entry must cover.
#[derive(Clone, Copy)]
enum Fit {
    Whole,
    /// So many Latin letters; of other scripts two are enough.
    Letters(usize),
}

/// Whether the lexicon knows a word by more than its first `beyond` bytes.
fn known(table: &Table, word: &str, beyond: usize, fit: Fit) -> bool {
    let mut found = false;
    table.find(
        |nth| (nth == 0).then_some(word),
        |_| None,
        |hit| {
            let long = match fit {
                Fit::Whole => hit.letters == word.len(),
                Fit::Letters(least) => {
                    let least = if word.is_ascii() { least } else { 3 };
                    word.get(..hit.letters).is_some_and(|part| part.chars().count() >= least)
                }
            };
            found |= hit.words == 1 && long && hit.letters > beyond && !hit.ending;
        },
    );
    found
}
