//! A reply checked while it arrives.

use std::borrow::Cow;
use std::ops::Range;

use super::context::GuardrailContext;
use super::reading::GuardrailReading;
use super::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailView,
    GuardrailViolation, ReplyStretch,
};
use super::rule_set::GuardrailRuleSet;
use super::sentences::{LONGEST, SentenceScan, find_ends, find_next_end, may_continue, names_secret};

/// Something that may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyPiece {
    Text(String),
    /// A phrase of the phrasebook, to be said in the person's language.
    Say(&'static str),
}

/// What has become free to send, and what was found on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClearedOutput {
    pub pieces: Vec<ReplyPiece>,
    pub violations: Vec<GuardrailViolation>,
}

/// Takes a reply piece by piece and hands out what may be sent, sentence by sentence.
#[derive(Debug)]
pub struct GuardrailChecker {
    set: GuardrailRuleSet,
    context: GuardrailContext,
    /// What has arrived and is not decided yet.
    pending: String,
    /// Where the sentences of `pending` end that wait for the next.
    waiting: Vec<usize>,
    /// Up to where `pending` is known to end no further sentence.
    seen: usize,
    /// Where `pending` begins in the reply.
    start: usize,
    /// What has been read.
    parts: Vec<ReplyStretch>,
    /// Phrases that were said: the same one twice in a reply sounds broken.
    said: Vec<&'static str>,
    /// What waits for the end when a rule of the whole reply may block.
    buffered: Option<Vec<ReplyPiece>>,
    /// The rule, if any, that has blocked the whole reply.
    stopped: Option<&'static str>,
}

/// So many sentences wait for one that follows: a number may be told digit by digit.
const MOST_WAITING: usize = 24;

impl GuardrailChecker {
    pub(crate) fn new(set: GuardrailRuleSet, context: GuardrailContext) -> Self {
        let buffered = set.buffers(&context).then(Vec::new);
        Self {
            set,
            context,
            pending: String::new(),
            waiting: Vec::new(),
            seen: 0,
            start: 0,
            parts: Vec::new(),
            said: Vec::new(),
            buffered,
            stopped: None,
        }
    }

    /// Takes what has arrived; returns what may be sent now.
    pub fn push(&mut self, delta: &str) -> ClearedOutput {
        self.pending.push_str(delta);
        let mut cleared = ClearedOutput::default();
        // What is cleared is taken off once, at the end: a long reply that comes as one is not moved for each sentence.
        let mut pending = std::mem::take(&mut self.pending);
        let mut from = 0;
        let mut open = self.waiting.last().copied().unwrap_or(0);
        loop {
            let end = match find_next_end(&pending, open, self.seen) {
                SentenceScan::Ends(end) => end,
                SentenceScan::Open(seen) => {
                    self.seen = seen - from;
                    break;
                }
            };
            self.waiting.push(end - from);
            let short = self.waiting.len() < MOST_WAITING && end - from < LONGEST;
            let waits = short && may_continue(pending.get(open..end).unwrap_or_default());
            (open, self.seen) = (end, end);
            if waits {
                continue;
            }
            let text = pending.get(from..end).unwrap_or_default();
            let reading = GuardrailReading::new(text, &self.waiting);
            if short && names_secret(&reading) {
                continue;
            }
            let ends = std::mem::take(&mut self.waiting);
            self.check_sentences(text.to_owned(), Read { ends, reading }, &mut cleared);
            from = end;
        }
        pending.drain(..from);
        self.pending = pending;
        self.hold(cleared)
    }

    /// Tools have answered while the reply was on its way: what follows is read with it.
    pub fn update_context(&mut self, learn: impl FnOnce(&mut GuardrailContext)) {
        learn(&mut self.context);
    }

    /// Says that nothing more comes; returns the rest.
    pub fn finish(mut self) -> ClearedOutput {
        let mut cleared = ClearedOutput::default();
        let text = std::mem::take(&mut self.pending);
        if !text.is_empty() {
            let read = Read::new(&text);
            self.check_sentences(text, read, &mut cleared);
        }
        self.check_reply(&mut cleared);
        let mut out = self.hold(cleared);
        if let Some(buffered) = self.buffered {
            out.pieces = match self.stopped {
                Some(phrase) => vec![ReplyPiece::Say(phrase)],
                None => buffered,
            };
        }
        out
    }

    fn hold(&mut self, mut cleared: ClearedOutput) -> ClearedOutput {
        if let Some(buffered) = &mut self.buffered {
            buffered.append(&mut cleared.pieces);
        }
        cleared
    }

    /// Checks some sentences that belong together.
    fn check_sentences(&mut self, text: String, Read { ends, reading }: Read, cleared: &mut ClearedOutput) {
        let (set, start) = (self.set.clone(), self.start);
        let mut changes: Vec<(Range<usize>, Change)> = Vec::new();
        let view = GuardrailView {
            text: &text,
            ends: &ends,
            reading: &reading,
            context: &self.context,
            parameters: set.parameters(),
            earlier: &self.parts,
        };
        for rule in set.rules().iter().filter(|rule| !checks_whole_reply(rule)) {
            for found in rule.find(&view) {
                cleared.violations.push(build_violation(
                    rule,
                    start + found.span.start..start + found.span.end,
                    &found.what,
                ));
                changes.extend(build_change(rule, found, &ends));
            }
        }
        self.apply_changes(&text, changes, cleared);
        self.start += text.len();
        self.parts.push(ReplyStretch { text, reading });
    }

    /// The text with its changes made. What is taken out swallows what is rewritten inside it.
    fn apply_changes(
        &mut self,
        text: &str,
        mut changes: Vec<(Range<usize>, Change)>,
        cleared: &mut ClearedOutput,
    ) {
        changes.sort_by_key(|(span, change)| {
            (span.start, matches!(change, Change::With(_)), usize::MAX - span.end)
        });
        let mut at = 0;
        let mut out = String::new();
        for (span, change) in merge_overlaps(text, changes) {
            if span.end <= at {
                continue;
            }
            // A number over two sentences may reach into one that goes: what is left of it goes too.
            let span = span.start.max(at)..span.end;
            out.push_str(text.get(at..span.start).unwrap_or_default());
            match change {
                Change::With(other) => out.push_str(&other),
                Change::Out(phrase) => {
                    let lead = text.get(span.clone()).unwrap_or_default();
                    out.extend(lead.chars().take_while(|letter| letter.is_whitespace()));
                    if let Some(phrase) = phrase.filter(|phrase| !self.said.contains(phrase)) {
                        self.said.push(phrase);
                        cleared.pieces.push(ReplyPiece::Text(std::mem::take(&mut out)));
                        cleared.pieces.push(ReplyPiece::Say(phrase));
                    }
                    out.extend(lead.ends_with('\n').then_some('\n'));
                }
            }
            at = span.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        cleared.pieces.push(ReplyPiece::Text(out));
        cleared.pieces.retain(|piece| !matches!(piece, ReplyPiece::Text(text) if text.is_empty()));
    }

    /// The rules that need all of it.
    fn check_reply(&mut self, cleared: &mut ClearedOutput) {
        let set = self.set.clone();
        for rule in set.rules() {
            let found: Vec<(Range<usize>, Cow<'static, str>)> = match &rule.check {
                GuardrailCheck::Reply(check) => {
                    let what = check(&self.parts, &self.context, set.parameters());
                    what.map(|what| (0..self.start, Cow::Borrowed(what))).into_iter().collect()
                }
                GuardrailCheck::Custom(own) if checks_whole_reply(rule) => {
                    let whole: String = self.parts.iter().map(|part| part.text.as_str()).collect();
                    own.find(&whole).into_iter().map(|found| (found.span, found.what)).collect()
                }
                _ => continue,
            };
            if found.is_empty() {
                continue;
            }
            cleared
                .violations
                .extend(found.into_iter().map(|(span, what)| build_violation(rule, span, &what)));
            match rule.severity {
                GuardrailSeverity::Block => self.stopped = self.stopped.or(Some(rule.phrase)),
                GuardrailSeverity::Rewrite if !self.said.contains(&rule.phrase) => {
                    self.said.push(rule.phrase);
                    cleared.pieces.push(ReplyPiece::Text(" ".to_owned()));
                    cleared.pieces.push(ReplyPiece::Say(rule.phrase));
                }
                GuardrailSeverity::Rewrite | GuardrailSeverity::Log => {}
            }
        }
    }
}

/// Whether a tenant's rule looks at the reply as a whole.
fn checks_whole_reply(rule: &GuardrailRule) -> bool {
    rule.scope == GuardrailScope::Reply && matches!(rule.check, GuardrailCheck::Custom(_))
}

/// Some text as it was read.
struct Read {
    /// Where its sentences end.
    ends: Vec<usize>,
    reading: GuardrailReading,
}

impl Read {
    fn new(text: &str) -> Self {
        let ends = find_ends(text);
        Self { reading: GuardrailReading::new(text, &ends), ends }
    }
}

/// Two rewritings of which neither holds the other each leave open what the other would hide, so all of both is hidden.
fn merge_overlaps(text: &str, changes: Vec<(Range<usize>, Change)>) -> Vec<(Range<usize>, Change)> {
    let mut merged: Vec<(Range<usize>, Change)> = Vec::with_capacity(changes.len());
    for (span, change) in changes {
        match (merged.last_mut(), &change) {
            (Some((last, known @ Change::With(_))), Change::With(_))
                if span.start < last.end && span.end > last.end =>
            {
                *last = last.start..last.end.max(span.end);
                *known = Change::With(mask_text(text.get(last.clone()).unwrap_or_default()));
            }
            _ => merged.push((span, change)),
        }
    }
    merged
}

fn mask_text(text: &str) -> String {
    text.chars().map(|letter| if letter.is_alphanumeric() { '•' } else { letter }).collect()
}

enum Change {
    With(String),
    /// The sentence goes, and perhaps a phrase is said in its place.
    Out(Option<&'static str>),
}

fn build_change(
    rule: &GuardrailRule,
    found: GuardrailFinding,
    ends: &[usize],
) -> Option<(Range<usize>, Change)> {
    match (rule.severity, found.with) {
        (GuardrailSeverity::Log, _) => None,
        (GuardrailSeverity::Rewrite, Some(with)) => Some((found.span, Change::With(with))),
        (GuardrailSeverity::Rewrite, None) => {
            Some((expand_to_sentences(&found.span, ends), Change::Out(None)))
        }
        (GuardrailSeverity::Block, _) => {
            Some((expand_to_sentences(&found.span, ends), Change::Out(Some(rule.phrase))))
        }
    }
}

/// The sentences a span lies in.
fn expand_to_sentences(span: &Range<usize>, ends: &[usize]) -> Range<usize> {
    let start = ends.iter().rev().find(|end| **end <= span.start).copied().unwrap_or(0);
    let end = ends.iter().find(|end| **end >= span.end).copied().unwrap_or(span.end);
    start..end
}

fn build_violation(rule: &GuardrailRule, span: Range<usize>, what: &str) -> GuardrailViolation {
    GuardrailViolation {
        rule: rule.id.clone().into_owned(),
        tier: rule.tier,
        severity: rule.severity,
        span,
        what: what.to_owned(),
    }
}

/// Texts that follow each other as one.
pub(crate) fn merge_texts(pieces: Vec<ReplyPiece>) -> Vec<ReplyPiece> {
    let mut out: Vec<ReplyPiece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (out.last_mut(), piece) {
            (Some(ReplyPiece::Text(before)), ReplyPiece::Text(more)) => before.push_str(&more),
            (_, piece) => out.push(piece),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Were every piece to scan all that came before it, this would take minutes.
    #[test]
    fn a_reply_that_ends_no_sentence_is_sent_while_it_comes() {
        for piece in ["word ", "शब्द ", "!", "x", "5. ", "OTP. "] {
            let mut checker = GuardrailRuleSet::shipped().checker(GuardrailContext::default());
            let (mut sent, mut pushed) = (0, 0);
            for _ in 0..12_000 {
                pushed += piece.len();
                let cleared = checker.push(piece);
                sent += cleared.pieces.iter().map(length).sum::<usize>();
            }
            assert!(pushed - sent <= 3 * LONGEST, "{piece}: {sent} of {pushed}");
            sent += checker.finish().pieces.iter().map(length).sum::<usize>();
            assert_eq!(sent, pushed, "{piece}");
        }
    }

    fn length(piece: &ReplyPiece) -> usize {
        match piece {
            ReplyPiece::Text(text) => text.len(),
            ReplyPiece::Say(_) => 0,
        }
    }
}
