//! After a price, a few turns without one.

use std::borrow::Cow;

use crate::guardrails::price::prices;
use crate::guardrails::rule::{Check, Found, Rule, Scope, Severity, Tier, View};

pub(crate) fn rule() -> Rule {
    Rule {
        id: Cow::Borrowed("price-cooldown"),
        tier: Tier::Team,
        // The sentence goes and nothing is said for it: a phrase about prices would name them again.
        severity: Severity::Rewrite,
        scope: Scope::Sentence,
        prompt: Cow::Borrowed(
            "After naming a price, wait three to four turns before naming one again, unless asked.",
        ),
        phrase: "guard-which-item",
        check: Check::Sentences(check),
    }
}

fn check(view: &View<'_>) -> Vec<Found> {
    let waiting = view.context.turns_since_price.is_some_and(|turns| turns < view.parameters.price_cooldown);
    if !waiting || view.context.asked_price {
        return Vec::new();
    }
    prices(view.reading)
        .into_iter()
        .map(|price| Found::new(price.span, "a price so soon after the last"))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::guardrails::rules::trial::check;
    use crate::guardrails::{Context, Parameters, RuleSet};

    #[test]
    fn a_price_is_taken_out_until_the_turns_have_passed() {
        let since = |turns| Context { turns_since_price: Some(turns), ..Context::default() };
        let reply = "It comes in red. It is ₹499. Shall I pack it?";
        assert_eq!(check("price-cooldown", reply, &since(1)).text(), "It comes in red.  Shall I pack it?");
        assert!(check("price-cooldown", reply, &since(3)).is_clean());
        let four = RuleSet::new(&["price-cooldown"], Parameters { price_cooldown: 4 }, Vec::new()).unwrap();
        assert!(!four.check(reply, &since(3)).is_clean());
        assert!(check("price-cooldown", reply, &Context { asked_price: true, ..since(0) }).is_clean());
        assert!(check("price-cooldown", reply, &Context::default()).is_clean());
    }
}
