//! Prices are fixed: nothing is offered for less.

use std::borrow::Cow;

use crate::lexicon::NamedPatterns;
use crate::rule::{GuardrailCheck, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier};

static PATTERNS: NamedPatterns = NamedPatterns::new("no-discount");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("no-discount"),
        tier: GuardrailTier::Team,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed(
            "Never offer a discount, coupon, cashback or any lower price; prices are fixed.",
        ),
        phrase: "guard-fixed-price",
        check: GuardrailCheck::Patterns(&PATTERNS, "a lower price"),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::{caught, passed};

    #[test]
    fn offers_are_caught_and_refusals_are_not() {
        caught(
            "no-discount",
            &["I can give you 10% off.", "Take a d.i.s.c.o.u.n.t today.", "आपको 10% छूट मिलेगी।"],
        );
        passed("no-discount", &["We can't give a discount.", "You asked about a discount.", "हम छूट नहीं देते।"]);
    }
}
