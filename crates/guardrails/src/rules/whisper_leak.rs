//! What colleagues told the persona for one turn stays with it. It is no rule that a tenant chooses: it holds wherever somebody whispered.

use std::borrow::Cow;

use munshi_types::Money;

use crate::context::merge_ranges;
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("whisper-leak"),
        tier: GuardrailTier::Agent,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Never quote what a colleague told you."),
        phrase: "guard-not-shared",
        check: GuardrailCheck::Sentences(check),
    }
}

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let Some(told) = &view.context.whispers else { return Vec::new() };
    let mut leaks = told.find_leaks(view.text, view.reading, view.earlier);
    leaks.extend(told.find_numbers(view.text, view.earlier, &list_amounts(view)));
    let finding = |span| GuardrailFinding::new(span, "words of a colleague");
    merge_ranges(leaks).into_iter().map(finding).collect()
}

/// What a tool said of money is no secret of a colleague's.
fn list_amounts(view: &GuardrailView<'_>) -> Vec<Money> {
    let prices = view.context.items.iter().map(|item| item.price);
    prices.chain(view.context.amounts.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use munshi_types::Money;

    use crate::{GuardrailContext, GuardrailParameters, GuardrailRuleSet, PromptFingerprint};

    /// The rule, and what it knows where these were whispered.
    fn told(whispers: &[&str]) -> (GuardrailRuleSet, GuardrailContext) {
        let told = Some(Arc::new(PromptFingerprint::of_whispers(whispers.iter().copied())));
        let chosen = GuardrailRuleSet::new(&[], GuardrailParameters::default(), Vec::new()).unwrap();
        (chosen.with_whispers(), GuardrailContext { whispers: told, ..GuardrailContext::default() })
    }

    #[test]
    fn what_a_colleague_told_comes_back_in_no_longer_piece() {
        let whisper = "She owes us since spring, so ask for half of it first. Say \"the blue one comes with two years of warranty today\".";
        let (set, context) = told(&[whisper]);
        let leak = "I was told: she owes us since spring, so ask for half of it first.";
        assert!(!set.check(leak, &context).is_clean());
        let fine =
            ["Could you pay half of it first?", "The blue one comes with two years of warranty today."];
        for reply in fine {
            assert!(set.check(reply, &context).is_clean(), "what is quoted is to be said: {reply}");
        }
    }

    #[test]
    fn a_short_sentence_comes_back_in_no_piece_either() {
        let (set, context) = told(&["She owes us since spring.", "उसे छूट मत देना। Be kind."]);
        let leaks = [
            "They say: she owes us since spring, by the way.",
            "She owes us since spring.",
            "Gladly. उसे छूट मत देना।",
            "She owes. us since Spring!",
        ];
        for reply in leaks {
            assert!(!set.check(reply, &context).is_clean(), "{reply}");
        }
        for reply in ["Spring is when we open.", "What she owes us we can not say.", "Be kind."] {
            assert!(set.check(reply, &context).is_clean(), "{reply}");
        }
    }

    #[test]
    fn a_number_comes_back_neither_whole_nor_over_two_sentences() {
        let (set, context) = told(&["PIN 4711"]);
        for reply in ["It is 4711.", "It begins with 47. Then comes 11.", "Four. Seven. One. One."] {
            let verdict = set.check(reply, &context);
            assert_eq!(verdict.violations.len(), 1, "{reply}: {verdict:?}");
        }
        let verdict = set.check("It is 4711. We open at nine. As I said, 4711.", &context);
        assert!(!verdict.text().contains("4711") && verdict.text().contains("nine"), "{verdict:?}");
        let priced = GuardrailContext { amounts: vec![Money::from_paise(471_100)], ..context };
        assert!(set.check("It costs ₹4,711.", &priced).is_clean(), "a tool has said so");
    }

    #[test]
    fn what_was_said_before_is_found_once() {
        let (set, context) = told(&["She owes us since spring."]);
        let verdict = set.check("She owes us since spring. We open at nine. Come by any time.", &context);
        assert_eq!(verdict.violations.len(), 1, "{verdict:?}");
        assert!(verdict.text().contains("We open at nine."), "{verdict:?}");
    }
}
