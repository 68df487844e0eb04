//! What the election law forbids everybody, and what it forbids those who speak for nobody.

use std::borrow::Cow;
use std::ops::Range;

use crate::context::ElectionMode;
use crate::lexicon::{NamedPatterns, NamedWordClass};
use crate::reading::Clause;
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};

static FORBIDDEN: NamedPatterns = NamedPatterns::new("election-norms");
/// What a campaign may say.
static APPEALS: NamedPatterns = NamedPatterns::new("election-norms.appeal");

/// Before a name these ask for its votes; the second kind only where a poll or its day is spoken of.
static VOTE_FOR: NamedWordClass = NamedWordClass::new("election-norms.vote-for");
static CHOOSE: NamedWordClass = NamedWordClass::new("election-norms.choose");
static DATED: NamedWordClass = NamedWordClass::new("election-norms.dated");
static STOP: NamedWordClass = NamedWordClass::new("phi-redaction.stop");
static POLLED: [NamedWordClass; 3] = [
    NamedWordClass::new("election-norms.dated"),
    NamedWordClass::new("election-norms.poll"),
    NamedWordClass::new("election-norms.vote"),
];
/// What makes it no appeal.
static FREE: [NamedWordClass; 4] = [
    NamedWordClass::new("no"),
    NamedWordClass::new("asked"),
    NamedWordClass::new("election-norms.correct"),
    NamedWordClass::new("election-norms.neutral"),
];

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("election-norms"),
        tier: GuardrailTier::Team,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed(
            "Keep the election code: no asking for votes by faith or caste, no gifts for votes, no forecasts of results, \
             nothing false about voting, and no asking for votes in the last 48 hours.",
        ),
        phrase: "guard-election",
        check: GuardrailCheck::Sentences(check),
    }
}

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let told = |list: &NamedPatterns, what: &'static str| -> Vec<GuardrailFinding> {
        list.find(view.reading).into_iter().map(|span| GuardrailFinding::new(span, what)).collect()
    };
    let mut found = told(&FORBIDDEN, "against the election code");
    if view.context.election != ElectionMode::Campaign {
        found.extend(told(&APPEALS, "an appeal for votes"));
        found.extend(find_named_appeal(view).map(|span| GuardrailFinding::new(span, "an appeal for votes")));
    }
    found
}

/// `Vote for Ramesh`, `Choose Ramesh on 7 May`: a name in Latin letters has a capital.
fn find_named_appeal(view: &GuardrailView<'_>) -> Option<Range<usize>> {
    let reading = view.reading;
    let (vote, choose) = (VOTE_FOR.get(), CHOOSE.get());
    let free = |clause: &&Clause| !FREE.iter().any(|class| clause.mask.intersects(class.get()));
    reading.clauses.iter().filter(free).find_map(|clause| {
        let polled =
            POLLED.iter().any(|class| reading.sentence_mask(clause.sentence).intersects(class.get()));
        clause.tokens().find_map(|at| {
            let asks = reading.has_class(at, vote) || (polled && reading.has_class(at, choose));
            let name = (reading.next_after_phrase(at)..clause.to)
                .find(|next| reading.is_word_or_number(*next))
                .filter(|_| asks)?;
            let token = reading.tokens.get(name).filter(|token| token.is_word() && token.is_latin())?;
            let capital = view.text.get(token.start..)?.starts_with(char::is_uppercase);
            // A word the lexicon knows may be a party's sign to vote for, but is nobody to choose.
            let known = !reading.has_class(at, vote) && !reading.classes_of(name).is_empty();
            let plain = known || reading.has_class(name, DATED.get()) || reading.has_class(name, STOP.get());
            (capital && !plain).then(|| reading.tokens[at].start..token.end)
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::{caught, check, passed};
    use crate::{ElectionMode, GuardrailContext};

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
        let campaign = GuardrailContext { election: ElectionMode::Campaign, ..GuardrailContext::default() };
        assert!(check("election-norms", "Please vote for our candidate.", &campaign).is_clean());
        assert!(!check("election-norms", "All Hindus must vote for us.", &campaign).is_clean());
        let silence = GuardrailContext { election: ElectionMode::Silence, ..GuardrailContext::default() };
        assert!(!check("election-norms", "Please vote for our candidate.", &silence).is_clean());
    }
}
