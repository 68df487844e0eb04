//! After a price, a few turns without one.

use std::borrow::Cow;

use crate::GuardrailParameters;
use crate::price::find_prices;
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};

pub const ID: &str = "price-cooldown";

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed(ID),
        tier: GuardrailTier::Team,
        // The sentence goes and nothing is said for it: a phrase about prices would name them again.
        severity: GuardrailSeverity::Rewrite,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Owned(render_prompt(GuardrailParameters::default().price_cooldown)),
        phrase: "guard-which-item",
        check: GuardrailCheck::Sentences(check),
    }
}

/// What the model is told, with the turns that the check counts.
pub fn render_prompt(turns: u32) -> String {
    let plural = if turns == 1 { "" } else { "s" };
    format!("After naming a price, wait {turns} turn{plural} before naming one again, unless asked.")
}

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let waiting = view.context.turns_since_price.is_some_and(|turns| turns < view.parameters.price_cooldown);
    if !waiting || view.context.asked_price {
        return Vec::new();
    }
    find_prices(view.reading)
        .into_iter()
        .map(|price| GuardrailFinding::new(price.span, "a price during the cooldown"))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::check;
    use crate::{GuardrailContext, GuardrailParameters, GuardrailRuleSet};

    #[test]
    fn the_model_is_told_the_turns_that_are_counted() {
        let said = |price_cooldown| {
            let set = GuardrailRuleSet::new(
                &["price-cooldown"],
                GuardrailParameters { price_cooldown },
                Vec::new(),
            )
            .unwrap();
            set.rules()[0].prompt.to_string()
        };
        assert_eq!(said(7), "After naming a price, wait 7 turns before naming one again, unless asked.");
        assert!(said(1).contains(" 1 turn before"), "{}", said(1));
        assert_eq!(said(GuardrailParameters::default().price_cooldown), super::rule().prompt);
    }

    #[test]
    fn a_price_is_taken_out_until_the_turns_have_passed() {
        let since =
            |turns| GuardrailContext { turns_since_price: Some(turns), ..GuardrailContext::default() };
        let reply = "It comes in red. It is ₹499. Shall I pack it?";
        assert_eq!(check("price-cooldown", reply, &since(1)).text(), "It comes in red.  Shall I pack it?");
        assert!(check("price-cooldown", reply, &since(3)).is_clean());
        let four =
            GuardrailRuleSet::new(&["price-cooldown"], GuardrailParameters { price_cooldown: 4 }, Vec::new())
                .unwrap();
        assert!(!four.check(reply, &since(3)).is_clean());
        assert!(
            check("price-cooldown", reply, &GuardrailContext { asked_price: true, ..since(0) }).is_clean()
        );
        assert!(check("price-cooldown", reply, &GuardrailContext::default()).is_clean());
    }
}
