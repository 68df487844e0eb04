//! After a recommendation comes the other way out.

use std::borrow::Cow;

use crate::context::GuardrailContext;
use crate::lexicon::{NamedPatterns, NamedWordClass};
use crate::rule::{
    GuardrailCheck, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier, ReplyStretch,
};
use crate::rule_set::GuardrailParameters;

static PICKED: NamedPatterns = NamedPatterns::new("fallback-plan");
static OTHER: NamedWordClass = NamedWordClass::new("fallback-plan.other");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("fallback-plan"),
        tier: GuardrailTier::Team,
        severity: GuardrailSeverity::Rewrite,
        scope: GuardrailScope::Reply,
        prompt: Cow::Borrowed("After a recommendation, say what you can do if it does not fit."),
        phrase: "guard-alternatives",
        check: GuardrailCheck::Reply(check),
    }
}

fn check(
    parts: &[ReplyStretch],
    context: &GuardrailContext,
    _: &GuardrailParameters,
) -> Option<&'static str> {
    let recommends = context.recommended || parts.iter().any(|part| !PICKED.find(&part.reading).is_empty());
    (recommends && !parts.iter().any(|part| part.reading.has(OTHER.get())))
        .then_some("a recommendation without a fallback")
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::check;
    use crate::{GuardrailContext, ReplyPiece};

    #[test]
    fn the_way_out_is_added_where_it_lacks() {
        let verdict = check("fallback-plan", "I recommend the blue one.", &GuardrailContext::default());
        assert_eq!(verdict.pieces.last(), Some(&ReplyPiece::Say("guard-alternatives")));
        for fine in ["I recommend the blue one. If it doesn't fit, I can show you others.", "It is blue."] {
            assert!(check("fallback-plan", fine, &GuardrailContext::default()).is_clean(), "{fine}");
        }
    }
}
