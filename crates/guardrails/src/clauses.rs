//! A reading cut into clauses.

use super::classes::WordClassSet;
use super::reading::{Clause, GuardrailReading, SHARED};
use super::tokens::{GuardrailToken, GuardrailTokenKind, TokenGap, ends_clause};

impl GuardrailReading {
    /// Clauses, joined where a few words without a verb belong to their neighbour.
    pub(super) fn split_clauses(&mut self, ends: &[usize]) {
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
            spoken.push(quoted.advance(token));
            // A point that ends no sentence ends no clause: Dr. Rao.
            let cuts = matches!(token.kind, GuardrailTokenKind::Sign(sign) if ends_clause(sign) && sign != '.')
                || self.has_class(at, SHARED.but);
            if cuts {
                let tied = matches!(token.kind, GuardrailTokenKind::Sign(',' | '(' | ')' | '—' | '–'));
                drafts.push(Draft { from, to: at, sentence, tied });
                from = at + 1;
            }
        }
        drafts.push(Draft { from, to: self.tokens.len(), sentence, tied: false });
        self.clear_quoted_classes(&drafts, &spoken);
        self.merge_clauses(drafts);
    }

    /// What the person said is quoted back to them, not said.
    fn clear_quoted_classes(&mut self, drafts: &[Draft], spoken: &[bool]) {
        let count = drafts.last().map_or(0, |draft| draft.sentence) + 1;
        let mut quotes = vec![false; count];
        for draft in drafts {
            quotes[draft.sentence] |=
                (draft.from..draft.to).any(|at| !spoken[at] && self.has_class(at, SHARED.said));
        }
        for draft in drafts.iter().filter(|draft| quotes[draft.sentence]) {
            (draft.from..draft.to)
                .filter(|at| spoken[*at])
                .for_each(|at| self.classes[at] = WordClassSet::NONE);
        }
    }

    fn merge_clauses(&mut self, drafts: Vec<Draft>) {
        let mut waiting: Option<usize> = None;
        for draft in drafts {
            if draft.from == draft.to && !draft.tied && waiting.is_none() {
                continue;
            }
            let from = waiting.take().unwrap_or(draft.from);
            if draft.tied && self.attaches_to_next(draft.from, draft.to) {
                waiting = Some(from);
                continue;
            }
            // Words left over at the end of a sentence belong to what came before.
            if self.is_fragment(from, draft.to) && self.attaches_to_previous(from, draft.sentence) {
                if let Some(last) = self.clauses.last_mut() {
                    last.to = draft.to;
                }
                continue;
            }
            self.clauses.push(Clause {
                from,
                to: draft.to,
                sentence: draft.sentence,
                mask: WordClassSet::NONE,
            });
        }
        let count = self.clauses.iter().map(|clause| clause.sentence + 1).max().unwrap_or(0);
        self.sentences = vec![WordClassSet::NONE; count];
        for clause in &mut self.clauses {
            for at in clause.from..clause.to {
                clause.mask.add_all(self.classes[at]);
            }
            self.sentences[clause.sentence].add_all(clause.mask);
            self.mask.add_all(clause.mask);
        }
    }

    /// Three words at most and no verb: part of a list or an aside. A bare yes or no stands alone.
    fn is_fragment(&self, from: usize, to: usize) -> bool {
        let words = (from..to).filter(|at| self.is_word_or_number(*at)).count();
        let verb = (from..to).any(|at| self.has_class(at, SHARED.verb));
        let only_no = words > 0
            && (from..to).filter(|at| self.is_word_or_number(*at)).all(|at| self.has_class(at, SHARED.no));
        words > 0 && words <= 3 && !verb && !only_no
    }

    /// Whether such words go on with the clause after them. A denial is said out by itself (`घबराइए नहीं, …`,
    /// `Not at all, …`), unless it opens a list of what there is none of: `No discounts, coupons or gifts`.
    fn attaches_to_next(&self, from: usize, to: usize) -> bool {
        if !self.is_fragment(from, to) {
            return false;
        }
        let mut words = (from..to).filter(|at| self.is_word_or_number(*at));
        let denies = words.clone().any(|at| self.has_class(at, SHARED.no));
        let lists = words.next().is_some_and(|first| self.has_class(first, SHARED.no_thing))
            && words
                .next_back()
                .is_some_and(|last| !self.classes[last].is_empty() && !self.has_class(last, SHARED.no));
        !denies || (lists && !self.starts_with_verb(to + 1))
    }

    /// Whether a clause that begins here has its subject or its verb at its head.
    fn starts_with_verb(&self, from: usize) -> bool {
        let mut words = (from..self.tokens.len()).filter(|at| self.is_word_or_number(*at)).take(HEAD);
        words.any(|at| self.has_class(at, SHARED.verb))
    }

    /// Whether such words go on with the clause before them. `…, not a bot` sets itself against it, a clause that
    /// ends on its no is closed (`मैं इंसान नहीं, एक एआई`), and so is a denial said by itself; what comes after a
    /// `but` or begins with `only` is never part of what came before.
    fn attaches_to_previous(&self, from: usize, sentence: usize) -> bool {
        let Some(last) = self.clauses.last().filter(|last| last.sentence == sentence) else { return false };
        let comma = self.tokens.get(last.to).is_some_and(|token| token.is_sign(','));
        let turned = (last.to..from).any(|at| self.has_class(at, SHARED.but));
        let first = (from..self.tokens.len()).find(|at| self.is_word_or_number(*at));
        let end = last.tokens().rev().find(|at| self.is_word_or_number(*at));
        let denies = |at: Option<usize>| at.is_some_and(|at| self.has_class(at, SHARED.no));
        let aside = self.is_fragment(last.from, last.to) && last.tokens().any(|at| denies(Some(at)));
        let focused = first.is_some_and(|at| self.has_class(at, SHARED.focus));
        comma && !turned && !focused && !denies(first) && !denies(end) && !aside
    }
}

/// So many words are the head of a clause.
const HEAD: usize = 2;

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
    fn advance(&mut self, token: &GuardrailToken) -> bool {
        let GuardrailTokenKind::Sign(sign) = token.kind else { return self.0.is_some() };
        match (self.0, sign) {
            (Some(close), sign) if sign == close => {
                self.0 = None;
                true
            }
            (None, '"') => self.open('"'),
            (None, '“' | '„') => self.open('”'),
            (None, '«') => self.open('»'),
            (None, '\'') if token.gap != TokenGap::None => self.open('\''),
            (open, _) => open.is_some(),
        }
    }

    fn open(&mut self, close: char) -> bool {
        self.0 = Some(close);
        false
    }
}
