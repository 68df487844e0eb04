//! The checklist before a reply: an amount that is told comes from the books or from what was said, and what is said to
//! be written was written.

use munshi_lang::{answers, format};
use munshi_pack::{By, Objection, Scene};
use serde_json::Value;

use super::claim::{Claim, claim};
use super::{figures, said};

/// Amounts of a draft that nobody has said: not the person, no tool now or before, and not what is known of how things
/// stand. What was told before is no source by itself: it may have been wrong then. Where no tool was called, a bare number
/// is looked at too: the books were not asked.
pub(super) fn unfounded(scene: &Scene, draft: &str, results: &[Value]) -> Option<Objection> {
    let mut told = figures::amounts(draft);
    if results.is_empty() {
        told.extend(figures::bare(draft));
    }
    if told.is_empty() {
        return None;
    }
    let mut known = said::amounts(&scene.message);
    scene.standing.iter().for_each(|line| known.extend(figures::numbers(line)));
    for earlier in scene.before.iter() {
        if earlier.by == By::Person {
            known.extend(said::amounts(&earlier.text));
        }
        earlier.results.iter().for_each(|result| known.extend(figures::told(result)));
    }
    results.iter().for_each(|result| known.extend(figures::told(result)));
    let strange = told.into_iter().find(|amount| !known.contains(amount))?;
    let amount = format::rupees(strange);
    Some(Objection {
        what: format!("{amount} is told, and no tool has said it"),
        phrase: "ledger-unfounded".to_owned(),
        slots: vec![("amount".to_owned(), amount)],
        replaces: false,
    })
}

/// What the tools say that only look. A result with other phrases is of one that writes; one without any is not ours.
const LOOKS: [&str; 15] = [
    "ledger-owes",
    "ledger-owed",
    "ledger-even",
    "ledger-debtors",
    "ledger-no-debtors",
    "ledger-summary-day",
    "ledger-summary-days",
    "ledger-summary-money",
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
pub(super) fn unwritten(scene: &Scene, draft: &str, results: &[Value]) -> Option<Objection> {
    // Whoever says no is told that it is cancelled.
    if !results.iter().all(only_looks) || answers::reply(&scene.message) == answers::Reply::No {
        return None;
    }
    let claim = claim(draft)?;
    let said = said::amounts(&scene.message);
    let is_told = || figures::numbers(draft).iter().any(|amount| said.contains(amount));
    if claim == Claim::Done && !is_told() {
        return None;
    }
    Some(Objection {
        what: "it says that something was written, and nothing was".to_owned(),
        phrase: "ledger-unwritten".to_owned(),
        slots: Vec::new(),
        replaces: claim == Claim::Written && !said.is_empty() && !scene.message.contains('?'),
    })
}

fn only_looks(result: &Value) -> bool {
    let phrases = result.get("reply").and_then(Value::as_array);
    phrases.is_some_and(|phrases| {
        phrases.iter().all(|phrase| phrase.as_str().is_some_and(|name| LOOKS.contains(&name)))
    })
}
