//! A persona never claims to be a person of flesh and blood.

use std::borrow::Cow;

use crate::lexicon::NamedPatterns;
use crate::rule::{GuardrailCheck, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier};

static PATTERNS: NamedPatterns = NamedPatterns::new("never-human");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("never-human"),
        tier: GuardrailTier::Human,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Never claim to be human, and never deny being an AI."),
        phrase: "guard-i-am-ai",
        check: GuardrailCheck::Patterns(&PATTERNS, "a claim to be human"),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::{caught, passed};

    #[test]
    fn claims_and_denials_are_caught_and_admissions_are_not() {
        caught("never-human", &["I am a real person.", "I'm not a bot.", "मैं इंसान हूँ।", "நான் ரோபோ இல்லை."]);
        passed("never-human", &["I am not a human.", "I'll connect you to a human.", "मैं इंसान नहीं हूँ।"]);
    }
}
