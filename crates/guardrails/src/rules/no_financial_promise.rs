//! What money will do is promised by nobody.

use std::borrow::Cow;

use crate::lexicon::NamedPatterns;
use crate::rule::{GuardrailCheck, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier};

static PATTERNS: NamedPatterns = NamedPatterns::new("no-financial-promise");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("no-financial-promise"),
        tier: GuardrailTier::Team,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Never promise returns, approval, or that an investment is safe."),
        phrase: "guard-no-promise",
        check: GuardrailCheck::Patterns(&PATTERNS, "a financial promise"),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::{caught, passed};

    #[test]
    fn promises_are_caught_and_facts_are_not() {
        caught("no-financial-promise", &["You will get guaranteed returns of 12%.", "पैसा दोगुना हो जाएगा।"]);
        passed("no-financial-promise", &["Returns are not guaranteed.", "Your refund was sent."]);
    }
}
