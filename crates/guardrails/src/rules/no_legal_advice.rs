//! Documents are drawn up; what the law says of a case is for a lawyer.

use std::borrow::Cow;

use crate::lexicon::NamedPatterns;
use crate::rule::{GuardrailCheck, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier};

static PATTERNS: NamedPatterns = NamedPatterns::new("no-legal-advice");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("no-legal-advice"),
        tier: GuardrailTier::Team,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Never give legal advice; prepare documents and point to a lawyer."),
        phrase: "guard-see-lawyer",
        check: GuardrailCheck::Patterns(&PATTERNS, "legal advice"),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::{caught, passed};

    #[test]
    fn advice_is_caught_and_office_hours_are_not() {
        caught("no-legal-advice", &["You should sue your landlord.", "आप कोर्ट में केस कर दीजिए।"]);
        passed("no-legal-advice", &["The court office is open from 10 to 5.", "I can't give legal advice."]);
    }
}
