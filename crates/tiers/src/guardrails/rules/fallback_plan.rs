//! After a recommendation comes the other way out.

use std::borrow::Cow;

use crate::guardrails::context::Context;
use crate::guardrails::lexicon::{Listed, Named};
use crate::guardrails::rule::{Check, Part, Rule, Scope, Severity, Tier};
use crate::guardrails::set::Parameters;

static PICKED: Listed = Listed::new("fallback-plan");
static OTHER: Named = Named::new("fallback-plan.other");

pub(crate) fn rule() -> Rule {
    Rule {
        id: Cow::Borrowed("fallback-plan"),
        tier: Tier::Team,
        severity: Severity::Rewrite,
        scope: Scope::Reply,
        prompt: Cow::Borrowed("After a recommendation, say what you can do if it does not fit."),
        phrase: "guard-alternatives",
        check: Check::Reply(check),
    }
}

fn check(parts: &[Part], context: &Context, _: &Parameters) -> Option<&'static str> {
    let recommends = context.recommended || parts.iter().any(|part| !PICKED.find(&part.reading).is_empty());
    (recommends && !parts.iter().any(|part| part.reading.has(OTHER.get())))
        .then_some("a recommendation without a way out")
}

#[cfg(test)]
mod tests {
    use crate::guardrails::rules::trial::check;
    use crate::guardrails::{Context, Piece};

    #[test]
    fn the_way_out_is_added_where_it_lacks() {
        let verdict = check("fallback-plan", "I recommend the blue one.", &Context::default());
        assert_eq!(verdict.pieces.last(), Some(&Piece::Say("guard-alternatives")));
        for fine in ["I recommend the blue one. If it doesn't fit, I can show you others.", "It is blue."] {
            assert!(check("fallback-plan", fine, &Context::default()).is_clean(), "{fine}");
        }
    }
}
