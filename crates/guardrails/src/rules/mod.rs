//! The shipped rules, one file each, and the one about whispers, which nobody chooses.

mod admits_ai;
mod election_norms;
mod fallback_plan;
mod identity_numbers;
mod language_lock;
mod model_name;
mod never_human;
mod no_diagnosis;
mod no_discount;
mod no_financial_promise;
mod no_income_segmentation;
mod no_internals;
mod no_invented_scarcity;
mod no_legal_advice;
mod no_secrets;
mod persona_lock;
mod phi_redaction;
pub mod price_cooldown;
mod price_needs_sku;
mod prompt_leak;
pub(crate) mod red_flag;
pub(crate) mod whisper_leak;

use super::context::GuardrailContext;
use super::rule::GuardrailRule;

/// Every shipped rule, the persona's first, then the team's, then the agent's.
pub(crate) const SHIPPED: [fn() -> GuardrailRule; 21] = [
    persona_lock::rule,
    language_lock::rule,
    never_human::rule,
    admits_ai::rule,
    no_discount::rule,
    price_needs_sku::rule,
    price_cooldown::rule,
    no_income_segmentation::rule,
    no_invented_scarcity::rule,
    no_diagnosis::rule,
    red_flag::rule,
    no_legal_advice::rule,
    election_norms::rule,
    no_financial_promise::rule,
    fallback_plan::rule,
    model_name::rule,
    prompt_leak::rule,
    phi_redaction::rule,
    no_secrets::rule,
    identity_numbers::rule,
    no_internals::rule,
];

/// Whether a rule of the whole reply has anything to do in this turn.
pub(crate) fn is_active(rule: &GuardrailRule, context: &GuardrailContext) -> bool {
    rule.id != "red-flag" || red_flag::is_raised(context)
}

#[cfg(test)]
pub(crate) mod trial {
    //! How the rules' own tests ask.

    use crate::{GuardrailContext, GuardrailParameters, GuardrailRuleSet, GuardrailVerdict};

    pub(crate) fn check(rule: &str, reply: &str, context: &GuardrailContext) -> GuardrailVerdict {
        GuardrailRuleSet::new(&[rule], GuardrailParameters::default(), Vec::new())
            .unwrap()
            .check(reply, context)
    }

    pub(crate) fn caught(rule: &str, replies: &[&str]) {
        for reply in replies {
            assert!(!check(rule, reply, &GuardrailContext::default()).is_clean(), "not caught: {reply}");
        }
    }

    pub(crate) fn passed(rule: &str, replies: &[&str]) {
        for reply in replies {
            let verdict = check(rule, reply, &GuardrailContext::default());
            assert!(verdict.is_clean(), "caught: {reply}: {:?}", verdict.violations);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_own_id_and_a_sentence_for_the_prompt() {
        let mut ids: Vec<String> = SHIPPED.iter().map(|rule| rule().id.into_owned()).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), SHIPPED.len());
        assert!(SHIPPED.iter().all(|rule| rule().prompt.ends_with('.')));
    }
}
