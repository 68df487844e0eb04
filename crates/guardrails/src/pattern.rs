//! What is looked for in a clause: classes that must stand in it, in which order, and classes that must not.
//!
//! `a b` wants both, in any order, since languages differ in theirs. `a >3 b` wants b after a with at most three words
//! between, `^a` wants a to begin the clause. `a|b` wants either. `!a` refuses a clause with a, `!!a` a sentence with a; `&a` wants a in the sentence.

use std::ops::Range;

use super::classes::{WordClassId, WordClassSet};
use super::reading::{Clause, GuardrailReading};

/// Patterns that are looked for together.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClausePatternSet {
    pub list: Vec<ClausePattern>,
    /// Every pattern needs one of these: a clause with none of them meets none.
    pub gate: WordClassSet,
}

impl ClausePatternSet {
    /// `own` are the classes that only these patterns' rule has, which most texts lack.
    pub(crate) fn add(&mut self, pattern: ClausePattern, own: WordClassSet) {
        self.gate.add_all(pattern.gate(own));
        self.list.push(pattern);
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ClausePattern {
    chains: Vec<Chain>,
    sentence_has: Vec<WordClassSet>,
    clause_lacks: WordClassSet,
    sentence_lacks: WordClassSet,
}

/// Classes that follow each other; each with the most words that may lie before it.
#[derive(Clone, Debug, Default)]
struct Chain {
    links: Vec<(WordClassSet, usize)>,
    /// The first of them begins the clause.
    first: bool,
}

/// So many words may lie before what begins a clause: please, just, well.
const LEAD: usize = 1;

impl ClausePattern {
    /// Reads a line; a name without a class is the error.
    pub(crate) fn parse(line: &str, class: impl Fn(&str) -> Option<WordClassId>) -> Result<Self, String> {
        let either = |names: &str| {
            names.split('|').try_fold(WordClassSet::NONE, |mut all, name| {
                all.add(class(name).ok_or_else(|| name.to_owned())?);
                Ok::<_, String>(all)
            })
        };
        let mut this = Self::default();
        let mut after: Option<usize> = None;
        for item in line.split_whitespace() {
            if let Some(names) = item.strip_prefix("!!") {
                this.sentence_lacks.add_all(either(names)?);
            } else if let Some(names) = item.strip_prefix('!') {
                this.clause_lacks.add_all(either(names)?);
            } else if let Some(names) = item.strip_prefix('&') {
                this.sentence_has.push(either(names)?);
            } else if let Some(most) = item.strip_prefix('>') {
                after = Some(most.parse().map_err(|_| item.to_owned())?);
            } else {
                let wanted = either(item.trim_start_matches('^'))?;
                match (after.take(), this.chains.last_mut()) {
                    (Some(most), Some(chain)) => chain.links.push((wanted, most)),
                    _ => {
                        let first = item.starts_with('^');
                        this.chains.push(Chain { links: vec![(wanted, usize::MAX)], first });
                    }
                }
            }
        }
        Ok(this)
    }

    /// Classes of which a clause must have one for the pattern to be met, rare ones if it can be.
    fn gate(&self, own: WordClassSet) -> WordClassSet {
        let mut links = self.chains.iter().flat_map(|chain| &chain.links).map(|(classes, _)| *classes);
        let rare = links.clone().find(|classes| classes.is_subset(own));
        rare.or_else(|| links.next()).unwrap_or_default()
    }

    /// Where the pattern is met in a clause, in bytes of the original.
    pub(crate) fn find(&self, reading: &GuardrailReading, clause: &Clause) -> Option<Range<usize>> {
        if self.is_ruled_out(reading, clause) {
            return None;
        }
        let mut span: Option<Range<usize>> = None;
        for chain in &self.chains {
            let found = chain.find(reading, clause)?;
            span = Some(match span {
                Some(span) => span.start.min(found.start)..span.end.max(found.end),
                None => found,
            });
        }
        span
    }

    fn is_ruled_out(&self, reading: &GuardrailReading, clause: &Clause) -> bool {
        let wanted = |classes: &WordClassSet| clause.mask.intersects(*classes);
        let sentence = reading.sentence_mask(clause.sentence);
        !self.chains.iter().all(|chain| chain.links.iter().all(|(classes, _)| wanted(classes)))
            || clause.mask.intersects(self.clause_lacks)
            || sentence.intersects(self.sentence_lacks)
            || !self.sentence_has.iter().all(|classes| sentence.intersects(*classes))
    }
}

impl Chain {
    fn find(&self, reading: &GuardrailReading, clause: &Clause) -> Option<Range<usize>> {
        let (first, rest) = self.links.split_first()?;
        let words = |at: usize| (clause.from..at).filter(|before| reading.is_word_or_number(*before)).count();
        let fits = |at: &usize| reading.has_class(*at, first.0) && (!self.first || words(*at) <= LEAD);
        clause.tokens().filter(fits).find_map(|at| {
            let last = find_chain_end(reading, clause, at, rest)?;
            Some(reading.tokens[at].start..reading.end_of(last).max(reading.end_of(at)))
        })
    }
}

/// The token on which the rest of a chain ends, when it follows.
fn find_chain_end(
    reading: &GuardrailReading,
    clause: &Clause,
    at: usize,
    rest: &[(WordClassSet, usize)],
) -> Option<usize> {
    let Some(((classes, most), rest)) = rest.split_first() else { return Some(at) };
    let mut between = 0;
    // One word may be two things: நான்தான் is both I and am.
    for next in clause.tokens().filter(|next| *next > at) {
        if reading.has_class(next, *classes)
            && let Some(last) = find_chain_end(reading, clause, next, rest)
        {
            return Some(last);
        }
        between += usize::from(reading.is_word_or_number(next));
        if between > *most {
            return None;
        }
    }
    None
}
