//! What money will do is promised by nobody.

use std::borrow::Cow;

use crate::guardrails::lexicon::Listed;
use crate::guardrails::rule::{Check, Rule, Scope, Severity, Tier};

static PATTERNS: Listed = Listed::new("no-financial-promise");

pub(crate) fn rule() -> Rule {
    Rule {
        id: Cow::Borrowed("no-financial-promise"),
        tier: Tier::Team,
        severity: Severity::Block,
        scope: Scope::Sentence,
        prompt: Cow::Borrowed("Never promise returns, approval, or that an investment is safe."),
        phrase: "guard-no-promise",
        check: Check::Patterns(&PATTERNS, "a financial promise"),
    }
}

#[cfg(test)]
mod tests {
    use crate::guardrails::rules::trial::{caught, passed};

    #[test]
    fn promises_are_caught_and_facts_are_not() {
        caught("no-financial-promise", &["You will get guaranteed returns of 12%.", "पैसा दोगुना हो जाएगा।"]);
        passed("no-financial-promise", &["Returns are not guaranteed.", "Your refund was sent."]);
    }
}
