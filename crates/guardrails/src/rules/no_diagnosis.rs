//! What ails a person is for a doctor to say.

use std::borrow::Cow;

use crate::lexicon::NamedPatterns;
use crate::rule::{GuardrailCheck, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier};

static PATTERNS: NamedPatterns = NamedPatterns::new("no-diagnosis");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("no-diagnosis"),
        tier: GuardrailTier::Team,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Never diagnose or prescribe; say that a doctor must see it."),
        phrase: "guard-see-doctor",
        check: GuardrailCheck::Patterns(&PATTERNS, "a diagnosis or a prescription"),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::{caught, passed};

    #[test]
    fn diagnoses_are_caught_and_appointments_are_not() {
        caught("no-diagnosis", &["You have dengue.", "आपको डेंगू है।"]);
        passed("no-diagnosis", &["Your appointment with Dr. Rao is at 5 pm.", "I can't diagnose this."]);
    }
}
