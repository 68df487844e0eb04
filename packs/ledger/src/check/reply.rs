//! The checklist before a reply: an amount that is told comes from the books or from what was said, and what is said to
//! be written was written.

use munshi_lang::{format, yes_no};
use munshi_pack::{EarlierSpeaker, Objection, PackTurnContext};
use munshi_types::Money;
use serde_json::Value;

use super::claim::{BookingClaim, claim};
use super::{figures, grounding};

/// Amounts of a draft that nobody has said: not the person, no tool now or before, and not what is known of how things
/// stand. What was told before is no source by itself: it may have been wrong then. Where no tool was called, a bare number
/// is looked at too: the books were not asked.
pub(super) fn find_unfounded_amount(
    scene: &PackTurnContext,
    draft: &str,
    results: &[Value],
) -> Option<Objection> {
    let told = match results {
        [] => figures::likely_amounts(draft),
        _ => figures::amounts(draft),
    };
    // What is nearest is looked at first: reading everything that was ever said costs more than the rest of a turn.
    let mut sources = sources(scene, results);
    let mut known = Vec::new();
    let mut is_known = |amount: &Money| {
        known.contains(amount)
            || sources.by_ref().any(|more| {
                known.extend(more);
                known.contains(amount)
            })
    };
    let strange = told.into_iter().find(|amount| !is_known(amount))?;
    let amount = format::rupees(strange);
    Some(Objection {
        what: format!("{amount} is told, and no tool has said it"),
        phrase: "ledger-unfounded".to_owned(),
        slots: vec![("amount".to_owned(), amount)],
        replaces: false,
    })
}

/// The amounts of everything that a reply may tell of, the nearest first; each is read when it is asked for.
fn sources<'s>(scene: &'s PackTurnContext, results: &'s [Value]) -> impl Iterator<Item = Vec<Money>> + 's {
    let fields = results.iter().map(figures::field_amounts);
    let message = std::iter::once_with(|| grounding::amounts(&scene.message));
    let standing = scene.standing.iter().map(|line| figures::numbers(line));
    let texts = results.iter().map(figures::text_amounts);
    let before = scene.before.iter().rev().flat_map(|earlier| {
        let fields = earlier.results.iter().map(figures::field_amounts);
        let theirs = Some(earlier).filter(|earlier| earlier.by == EarlierSpeaker::Person);
        let said = theirs.into_iter().map(|earlier| grounding::amounts(&earlier.text));
        fields.chain(said).chain(earlier.results.iter().map(figures::text_amounts))
    });
    fields.chain(message).chain(standing).chain(texts).chain(before)
}

/// What the tools say that only look. A result with other phrases is of one that writes; one without any is not ours.
const LOOKS: [&str; 16] = [
    "ledger-owes",
    "ledger-owed",
    "ledger-even",
    "ledger-debtors",
    "ledger-no-debtors",
    "ledger-summary-day",
    "ledger-summary-days",
    "ledger-summary-money",
    "ledger-cash-below",
    "ledger-stock",
    "ledger-low",
    "ledger-no-low",
    "ledger-day-book",
    "ledger-day-empty",
    "ledger-pay",
    "ledger-pay-any",
];

/// That a draft says something was written, where no tool of the turn has written anything. It takes the draft's place
/// where that is plain and the person has told of an amount; else it is said after it.
pub(super) fn find_unwritten_claim(
    scene: &PackTurnContext,
    draft: &str,
    results: &[Value],
) -> Option<Objection> {
    // Whoever says no is told that it is cancelled.
    if !results.iter().all(is_read_only) || yes_no::classify_reply(&scene.message) == yes_no::YesNoAnswer::No
    {
        return None;
    }
    let claim = claim(draft)?;
    let said = grounding::amounts(&scene.message);
    let is_told = || figures::numbers(draft).iter().any(|amount| said.contains(amount));
    if claim == BookingClaim::Done && !is_told() {
        return None;
    }
    Some(Objection {
        what: "it says that something was written, and nothing was".to_owned(),
        phrase: "ledger-unwritten".to_owned(),
        slots: Vec::new(),
        replaces: claim == BookingClaim::Written && !said.is_empty() && !scene.message.contains('?'),
    })
}

fn is_read_only(result: &Value) -> bool {
    let phrases = result.get("reply").and_then(Value::as_array);
    phrases.is_some_and(|phrases| {
        phrases.iter().all(|phrase| phrase.as_str().is_some_and(|name| LOOKS.contains(&name)))
    })
}
