//! What the election law forbids everybody, and what it forbids those who speak for nobody.

use std::borrow::Cow;

use crate::guardrails::context::Election;
use crate::guardrails::lexicon::lexicon;
use crate::guardrails::rule::{Check, Found, Rule, Scope, Severity, Tier, View};

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
    let patterns = lexicon().patterns("election-norms");
    // The first patterns are appeals for votes, which a campaign may make.
    let appeals = lexicon().patterns("election-norms.appeal");
    let forbidden =
        view.reading.find(patterns).into_iter().map(|span| Found::new(span, "against the election code"));
    let mut found: Vec<Found> = forbidden.collect();
    if view.context.election != Election::Campaign {
        found.extend(
            view.reading.find(appeals).into_iter().map(|span| Found::new(span, "an appeal for votes")),
        );
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
