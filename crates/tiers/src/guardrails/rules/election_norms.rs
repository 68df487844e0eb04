//! What the election law forbids everybody, and what it forbids those who speak for nobody.

use std::borrow::Cow;

use crate::guardrails::context::Election;
use crate::guardrails::lexicon::Listed;
use crate::guardrails::rule::{Check, Found, Rule, Scope, Severity, Tier, View};

static FORBIDDEN: Listed = Listed::new("election-norms");
/// What a campaign may say.
static APPEALS: Listed = Listed::new("election-norms.appeal");

pub(crate) fn rule() -> Rule {
    Rule {
        id: Cow::Borrowed("election-norms"),
        tier: Tier::Team,
        severity: Severity::Block,
        scope: Scope::Sentence,
        prompt: Cow::Borrowed(
            "Keep the election code: no asking for votes by faith or caste, no gifts for votes, no forecasts of results, \
             nothing false about voting, and no asking for votes in the last 48 hours.",
        ),
        phrase: "guard-election",
        check: Check::Sentences(check),
    }
}

fn check(view: &View<'_>) -> Vec<Found> {
    let told = |list: &Listed, what: &'static str| -> Vec<Found> {
        list.find(view.reading).into_iter().map(|span| Found::new(span, what)).collect()
    };
    let mut found = told(&FORBIDDEN, "against the election code");
    if view.context.election != Election::Campaign {
        found.extend(told(&APPEALS, "an appeal for votes"));
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::guardrails::rules::trial::{caught, check, passed};
    use crate::guardrails::{Context, Election};

    #[test]
    fn appeals_bribes_and_faith_are_caught() {
        caught(
            "election-norms",
            &["Vote for our candidate.", "Get a free saree if you vote for us.", "हमारी पार्टी को वोट दें।"],
        );
        passed("election-norms", &["Polling is on 7 May.", "Carry your voter card to the booth."]);
    }

    #[test]
    fn a_campaign_may_ask_but_not_by_faith() {
        let campaign = Context { election: Election::Campaign, ..Context::default() };
        assert!(check("election-norms", "Please vote for our candidate.", &campaign).is_clean());
        assert!(!check("election-norms", "All Hindus must vote for us.", &campaign).is_clean());
        let silence = Context { election: Election::Silence, ..Context::default() };
        assert!(!check("election-norms", "Please vote for our candidate.", &silence).is_clean());
    }
}
