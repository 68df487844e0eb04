//! Numbers, money and shares of a hundred in a reading.

use super::lexicon;
use super::reading::{GuardrailReading, SHARED};
use super::tokens::{GuardrailToken, GuardrailTokenKind};

impl GuardrailReading {
    /// Numbers, money and shares of a hundred.
    pub(super) fn classify_numbers(&mut self) {
        for at in 0..self.tokens.len() {
            let worded = self.classes[at].intersects(SHARED.number_word);
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
            let dotted =
                token.is_sign('.') && place.checked_sub(1).is_some_and(|b| self.has_class(b, SHARED.rupee));
            if currency(token) || self.has_class(place, SHARED.rupee) || dotted {
                return true;
            }
        }
        let mut next = at + 1;
        while next < self.tokens.len() && next < at + 4 && self.has_class(next, SHARED.scale) {
            next += 1;
        }
        let strokes = |from: usize| {
            self.tokens.get(from).is_some_and(|t| t.is_sign('/'))
                && self.tokens.get(from + 1).is_some_and(|t| t.is_sign('-'))
        };
        self.tokens.get(next).is_some_and(currency) || self.has_class(next, SHARED.rupee) || strokes(next)
    }

    fn is_percent(&self, at: usize) -> bool {
        let next = self.tokens.get(at + 1);
        next.is_some_and(|next| next.is_sign('%') || next.is_sign('٪'))
            || self.has_class(at + 1, SHARED.percent)
    }
}
