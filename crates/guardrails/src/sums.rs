//! Numbers, money and shares of a hundred in a reading.

use super::lexicon;
use super::reading::{GuardrailReading, SHARED};
use super::tokens::{GuardrailToken, GuardrailTokenKind};

impl GuardrailReading {
    /// Numbers, money and shares of a hundred.
    pub(super) fn number(&mut self) {
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
        let currency = |token: &GuardrailToken| {
            matches!(token.kind, GuardrailTokenKind::Sign('₹' | '$' | '€' | '£' | '₨'))
        };
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
}
