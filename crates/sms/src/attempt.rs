//! What was only tried, is only wanted, or waits for the owner's word.

use super::lexicon::{SmsWordClass, SmsWordMatch};
use super::parsed_message::ParsedSms;

/// What stops a payment.
const STOPPED: [&str; 8] =
    ["blocked", "stopped", "prevented", "intercepted", "foiled", "thwarted", "averted", "disallowed"];

/// What says that it is still wanted.
const NEEDED: [&str; 13] = [
    "tomorrow",
    "required",
    "requires",
    "needed",
    "needs",
    "necessary",
    "mandatory",
    "compulsory",
    "zaroori",
    "jaruri",
    "जरूरी",
    "ज़रूरी",
    "आवश्यक",
];

/// What one is told to do before money comes.
const BIDDEN: [&str; 8] =
    ["approve", "accept", "authorise", "authorize", "scan", "confirm", "verify", "validate"];

fn tokens_in_sentence<'p>(page: &'p ParsedSms, at: usize) -> impl Iterator<Item = usize> + 'p {
    let sentence = page.sentence(at);
    (0..page.len()).filter(move |other| page.sentence(*other) == sentence)
}

/// "Rs 5,000 debit attempt", "we stopped a transaction of Rs 900": a noun that nothing came of.
pub(crate) fn is_attempt(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let (start, end) = (mark.tokens.start, mark.tokens.end);
    let near = |at: usize| at + 6 > start && at < end + 6;
    let tried = tokens_in_sentence(page, start).any(|at| {
        let word = page.cut.lowercase(at);
        near(at) && (word.starts_with("attempt") || matches!(word, "tried" | "trying"))
    });
    let supposed = |at: usize| {
        (0..at).any(|before| {
            page.sentence(before) == page.sentence(at)
                && (page.is_class(before, SmsWordClass::Condition)
                    || matches!(page.cut.lowercase(before), "get" | "call"))
        })
    };
    let stopped = tokens_in_sentence(page, start)
        .any(|at| STOPPED.contains(&page.cut.lowercase(at)) && at != start && !supposed(at));
    tried || stopped
}

/// "Rs 10 debit required": somebody wants it.
pub(crate) fn is_needed(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    tokens_in_sentence(page, mark.tokens.start).any(|at| {
        let denied = (1..=2)
            .filter_map(|back| at.checked_sub(back))
            .any(|at| page.is_class(at, SmsWordClass::Negation));
        at >= mark.tokens.end && NEEDED.contains(&page.cut.lowercase(at)) && !denied
    })
}

/// "Approve to receive Rs 500 credited": it comes only after the owner does something, which no credit needs.
pub(crate) fn needs_owner_action(page: &ParsedSms, start: usize) -> bool {
    tokens_in_sentence(page, start).take_while(|at| *at < start).any(|at| {
        let pays =
            matches!(page.cut.lowercase(at + 1), "&" | "and" | "n") && page.cut.lowercase(at + 2) == "pay";
        BIDDEN.contains(&page.cut.lowercase(at)) && !pays && is_imperative(page, at)
    })
}

/// A verb that tells one to: it begins a sentence or a part of it.
fn is_imperative(page: &ParsedSms, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    page.sentence(before) != page.sentence(at)
        || matches!(
            page.cut.lowercase(before),
            "please" | "kindly" | "pls" | "plz" | "just" | "now" | "and" | "to" | "," | ":" | "-"
        )
}
