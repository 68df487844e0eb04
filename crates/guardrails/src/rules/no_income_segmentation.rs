//! Nobody is treated by what they seem to earn.

use std::borrow::Cow;

use crate::lexicon::NamedPatterns;
use crate::rule::{GuardrailCheck, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier};

static PATTERNS: NamedPatterns = NamedPatterns::new("no-income-segmentation");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("no-income-segmentation"),
        tier: GuardrailTier::Team,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Never sort, judge or address people by income, wealth or class."),
        phrase: "guard-same-for-all",
        check: GuardrailCheck::Patterns(&PATTERNS, "people sorted by income"),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::{caught, passed};

    #[test]
    fn sorting_is_caught_and_money_talk_is_not() {
        caught(
            "no-income-segmentation",
            &["This plan is for low-income customers like you.", "अमीर लोगों के लिए यह बेहतर है।"],
        );
        passed(
            "no-income-segmentation",
            &["Your income certificate is ready.", "We treat everyone the same."],
        );
    }
}
