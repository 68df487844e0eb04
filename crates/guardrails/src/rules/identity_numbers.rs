//! Numbers that stand for a person: Aadhaar, PAN, cards. The last four are shown, no more.
//!
//! What such numbers are, `munshi_detect` says. The words that speak for or against one are the rule's own, from its
//! lexicon, and so is a PAN with its letters apart: `munshi-privacy` reads words before it by their fold, and a PAN that a
//! person writes in one piece.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use munshi_detect::digits::{DigitGroup, span, values, windows};
use munshi_detect::identity_numbers::{is_aadhaar_number, is_card_number};
use regex::Regex;

use crate::digits::{GuardrailDigitRun, find_runs, mask_digits};
use crate::lexicon::NamedWordClass;
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};

static AADHAAR: NamedWordClass = NamedWordClass::new("no-secrets.aadhaar");
static REFERENCE: NamedWordClass = NamedWordClass::new("no-secrets.reference");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("identity-numbers"),
        tier: GuardrailTier::Agent,
        severity: GuardrailSeverity::Rewrite,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Never write out an Aadhaar, PAN or card number."),
        phrase: "guard-not-shared",
        check: GuardrailCheck::Sentences(check),
    }
}

/// The fourth letter of a PAN says whose it is.
static PAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i-u)\b[a-z][ -]?[a-z][ -]?[a-z][ -]?[pchfatbljg][ -]?[a-z][ -]?[0-9][ -]?[0-9][ -]?[0-9][ -]?[0-9][ -]?[a-z]\b").ok()
});

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let mut found = Vec::new();
    if !view.reading.tokens.traits.digits {
        return found;
    }
    for run in find_runs(view.text).iter().filter(|run| run.len() >= 12) {
        let mut cards: Vec<&[DigitGroup]> =
            (13..=19).flat_map(|length| windows(&run.groups, length..length + 1)).collect();
        cards.retain(|groups| is_card_number(&values(groups)));
        let mut aadhaar: Vec<&[DigitGroup]> = windows(&run.groups, 12..13).collect();
        aadhaar.retain(|groups| is_aadhaar(run, &values(groups)) && is_aadhaar_context(view, &span(groups)));
        for (windows, what) in [(cards, "a card number"), (aadhaar, "an Aadhaar number")] {
            for groups in windows {
                // The last four of a number in the middle of others may be the first four of the next.
                let shown = if span(groups).end == run.span().end { 4 } else { 0 };
                let masked = mask_digits(view.text, groups, shown);
                found.push(GuardrailFinding::with_replacement(span(groups), what, masked));
            }
        }
    }
    let Some(pan) = PAN.as_ref() else { return found };
    found.extend(pan.find_iter(view.text).map(|one| {
        let hidden = one.as_str().len().saturating_sub(2);
        let masked: String =
            one.as_str().chars().enumerate().map(|(at, letter)| mask(letter, at < hidden)).collect();
        GuardrailFinding::with_replacement(one.range(), "a PAN", masked)
    }));
    found
}

fn mask(letter: char, hidden: bool) -> char {
    if hidden && letter.is_alphanumeric() { '•' } else { letter }
}

/// Twelve digits, none of them a country code before a telephone number, that keep the sum.
fn is_aadhaar(run: &GuardrailDigitRun, digits: &[u8]) -> bool {
    let mobile = run.dialled && matches!(digits, [9, 1, 6..=9, ..]);
    !mobile && is_aadhaar_number(digits)
}

/// One number in ten keeps the sum by chance: what is called an order or a payment is one.
fn is_aadhaar_context(view: &GuardrailView<'_>, span: &Range<usize>) -> bool {
    let (aadhaar, other) = (AADHAAR.get(), REFERENCE.get());
    let reading = view.reading;
    let clause = reading.clauses.iter().find(|clause| {
        clause
            .tokens()
            .any(|at| reading.tokens[at].start >= span.start && reading.tokens[at].start < span.end)
    });
    clause.is_none_or(|clause| {
        let near = reading.sentence_mask(clause.sentence);
        near.intersects(aadhaar) || !near.intersects(other)
    })
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::check;
    use crate::{GuardrailContext, GuardrailParameters, GuardrailRuleSet, ReplyPiece};

    #[test]
    fn numbers_are_masked_and_others_left_alone() {
        for (reply, sent) in [
            ("Aadhaar 2345 6789 0124 is linked.", "Aadhaar XXXX XXXX 0124 is linked."),
            ("Card 4111-1111-1111-1111 expires.", "Card XXXX-XXXX-XXXX-1111 expires."),
            ("Your PAN ABCPK1234F is valid.", "Your PAN ••••••••4F is valid."),
            ("आधार २३४५ ६७८९ ०१२४ है।", "आधार XXXX XXXX ०१२४ है।"),
        ] {
            assert_eq!(check("identity-numbers", reply, &GuardrailContext::default()).text(), sent);
        }
        for fine in ["Call +91 98765 43210.", "UPI ref 234567890124 is done.", "Pay ₹2,34,567 by 12/05/2026."]
        {
            assert!(check("identity-numbers", fine, &GuardrailContext::default()).is_clean(), "{fine}");
        }
    }

    #[test]
    fn a_number_over_two_deltas_or_sentences_is_caught() {
        let set =
            GuardrailRuleSet::new(&["identity-numbers"], GuardrailParameters::default(), Vec::new()).unwrap();
        for deltas in [&["It is 2345 67", "89 0124. Bye."][..], &["It is 2345 6789.", "\n0124. Bye."]] {
            let mut checker = set.checker(GuardrailContext::default());
            let mut pieces: Vec<ReplyPiece> =
                deltas.iter().flat_map(|delta| checker.push(delta).pieces).collect();
            pieces.extend(checker.finish().pieces);
            let all = format!("{pieces:?}");
            assert!(!all.contains("6789") && all.contains("0124"), "{all}");
        }
    }
}
