//! What the persona is built with is nobody's business.

use std::borrow::Cow;

use crate::letters::normalise_word;
use crate::lexicon::{NamedPatterns, NamedWordClass};
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};

static PATTERNS: NamedPatterns = NamedPatterns::new("model-name");
static NO: NamedWordClass = NamedWordClass::new("no");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("model-name"),
        tier: GuardrailTier::Agent,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Never say which model or company you are built on."),
        phrase: "guard-not-shared",
        check: GuardrailCheck::Sentences(check),
    }
}

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let what = "the name of a model or its maker";
    let mut found: Vec<GuardrailFinding> =
        PATTERNS.find(view.reading).into_iter().map(|span| GuardrailFinding::new(span, what)).collect();
    let no = NO.get();
    for name in &view.context.model_names {
        let name = squeeze(name);
        for clause in
            view.reading.clauses.iter().filter(|clause| name.len() > 2 && !clause.mask.intersects(no))
        {
            let tokens = view.reading.tokens.get(clause.tokens()).unwrap_or_default();
            if let (Some(first), Some(last)) = (tokens.first(), tokens.last())
                && view.text.get(first.start..last.end).is_some_and(|text| squeeze(text).contains(&name))
            {
                found.push(GuardrailFinding::new(first.start..last.end, what));
            }
        }
    }
    found
}

/// Letters and digits alone: `Sarvam-30B` and `sarvam 30 b` are one name.
fn squeeze(text: &str) -> String {
    normalise_word(text).chars().filter(|letter| letter.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use crate::GuardrailContext;
    use crate::rules::trial::{caught, check, passed};

    #[test]
    fn names_are_caught_when_they_are_its_own() {
        caught("model-name", &["I am powered by GPT-4.", "I'm Claude, made by Anthropic.", "मैं ChatGPT हूँ।"]);
        passed("model-name", &["I can't say which model I use.", "Your zodiac sign is Gemini."]);
        let context =
            GuardrailContext { model_names: vec!["Sarvam-30B".into()], ..GuardrailContext::default() };
        assert!(!check("model-name", "It runs on s a r v a m 3 0 b here.", &context).is_clean());
    }
}
