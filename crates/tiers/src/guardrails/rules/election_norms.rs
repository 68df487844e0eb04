//! What the election law forbids everybody, and what it forbids those who speak for nobody.

use std::borrow::Cow;
use std::ops::Range;

use crate::guardrails::context::Election;
use crate::guardrails::lexicon::{Listed, Named};
use crate::guardrails::reading::Clause;
use crate::guardrails::rule::{Check, Found, Rule, Scope, Severity, Tier, View};

static FORBIDDEN: Listed = Listed::new("election-norms");
/// What a campaign may say.
static APPEALS: Listed = Listed::new("election-norms.appeal");

/// Before a name these ask for its votes; the second kind only where a poll or its day is spoken of.
static VOTE_FOR: Named = Named::new("election-norms.vote-for");
static CHOOSE: Named = Named::new("election-norms.choose");
static DATED: Named = Named::new("election-norms.dated");
static STOP: Named = Named::new("phi-redaction.stop");
static POLLED: [Named; 3] = [
    Named::new("election-norms.dated"),
    Named::new("election-norms.poll"),
    Named::new("election-norms.vote"),
];
/// What makes it no appeal.
static FREE: [Named; 4] = [
    Named::new("no"),
    Named::new("asked"),
    Named::new("election-norms.correct"),
    Named::new("election-norms.neutral"),
];

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
        found.extend(by_name(view).map(|span| Found::new(span, "an appeal for votes")));
    }
    found
}

/// `Vote for Ramesh`, `Choose Ramesh on 7 May`: a name in Latin letters has a capital.
fn by_name(view: &View<'_>) -> Option<Range<usize>> {
    let reading = view.reading;
    let (vote, choose) = (VOTE_FOR.get(), CHOOSE.get());
    let free = |clause: &&Clause| !FREE.iter().any(|class| clause.mask.meets(class.get()));
    reading.clauses.iter().filter(free).find_map(|clause| {
        let polled = POLLED.iter().any(|class| reading.sentence_mask(clause.sentence).meets(class.get()));
        clause.tokens().find_map(|at| {
            let asks = reading.is(at, vote) || (polled && reading.is(at, choose));
            let name = (reading.after(at)..clause.to).find(|next| reading.counts(*next)).filter(|_| asks)?;
            let token = reading.tokens.get(name).filter(|token| token.is_word() && token.is_latin())?;
            let capital = view.text.get(token.start..)?.starts_with(char::is_uppercase);
            // A word the lexicon knows may be a party's sign to vote for, but is nobody to choose.
            let known = !reading.is(at, vote) && !reading.classes_of(name).is_empty();
            let plain = known || reading.is(name, DATED.get()) || reading.is(name, STOP.get());
            (capital && !plain).then(|| reading.tokens[at].start..token.end)
        })
    })
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
