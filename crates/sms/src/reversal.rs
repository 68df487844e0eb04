//! "Reversed": it undoes what it names. A debit that is reversed comes back, a credit that is reversed is taken again.

use super::events::SmsEvent;
use super::lexicon::{SmsWordClass, SmsWordMatch};
use super::parsed_message::{ParsedSms, SmsTokenUse};
use super::reading::PaymentDirection;

/// The way of money by a word of undoing, where what it undoes is a credit. Any other comes back.
pub(crate) fn reverses_credit(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    if !page.cut.lowercase(mark.tokens.start).starts_with("revers") || comes_to_account(page, mark.tokens.end)
    {
        return false;
    }
    if leaves_account(page, mark.tokens.end) {
        return true;
    }
    if mark.class == SmsWordClass::Refund { names_credit(page, mark) } else { follows_credit(page, mark) }
}

/// Drops the credits of a sentence that one of the events takes back.
pub(crate) fn drop_reversed_credits(page: &ParsedSms, events: Vec<SmsEvent>) -> Vec<SmsEvent> {
    let taken: Vec<usize> = events
        .iter()
        .filter(|event| is_credit_reversal(page, event))
        .map(|event| page.sentence(event.at))
        .collect();
    let undone = |event: &SmsEvent| {
        event.direction == PaymentDirection::Credit && taken.contains(&page.sentence(event.at))
    };
    events.into_iter().filter(|event| !undone(event)).collect()
}

/// Whether it takes a credit back.
pub(crate) fn is_credit_reversal(page: &ParsedSms, event: &SmsEvent) -> bool {
    let back = event.class == SmsWordClass::Debited && page.cut.lowercase(event.end) == "back";
    event.direction == PaymentDirection::Debit
        && (back || matches!(event.class, SmsWordClass::Refunded | SmsWordClass::Refund))
}

/// "Reversed to your a/c".
fn comes_to_account(page: &ParsedSms, end: usize) -> bool {
    let led = page.is_class(end, SmsWordClass::To) || matches!(page.cut.lowercase(end), "in" | "into");
    let theirs = (end..end + 5).any(|at| page.is_class(at, SmsWordClass::Other));
    let ours = page.is_class(end + 1, SmsWordClass::Own)
        || (end + 1..end + 5).any(|at| page.token_use(at) == SmsTokenUse::Tail);
    led && ours && !theirs
}

/// "Reversed from your a/c".
fn leaves_account(page: &ParsedSms, end: usize) -> bool {
    let ours = page.is_class(end + 1, SmsWordClass::Own)
        || (end + 1..end + 5).any(|at| page.token_use(at) == SmsTokenUse::Tail);
    page.is_class(end, SmsWordClass::From) && ours
}

const fn class_direction(class: SmsWordClass) -> Option<PaymentDirection> {
    match class {
        SmsWordClass::Credit
        | SmsWordClass::Credited
        | SmsWordClass::Cashback
        | SmsWordClass::Refund
        | SmsWordClass::Received => Some(PaymentDirection::Credit),
        SmsWordClass::Debit
        | SmsWordClass::Debited
        | SmsWordClass::Pay
        | SmsWordClass::Paid
        | SmsWordClass::Sent
        | SmsWordClass::Failed => Some(PaymentDirection::Debit),
        _ => None,
    }
}

/// "Reversal of wrong credit", "credit reversal".
fn names_credit(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let (start, end) = (mark.tokens.start, mark.tokens.end);
    let sentence = page.sentence(start);
    let before = start.checked_sub(1).is_some_and(|at| page.is_class(at, SmsWordClass::Credit));
    let mut behind = (end..end + 6).take_while(|at| page.sentence(*at) == sentence);
    let named = behind.find_map(|at| page.class(at).and_then(class_direction));
    before || (page.is_class(end, SmsWordClass::Of) && named == Some(PaymentDirection::Credit))
}

/// "Credit of Rs 500 … reversed". A verb needs "has been": "credited, txn reversed" tells it the other way round.
fn follows_credit(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let start = mark.tokens.start;
    let sentence = page.sentence(start);
    let told =
        |at: usize| matches!(page.cut.lowercase(at), "been" | "was" | "is" | "stands" | "stood" | "got");
    let is_told = (1..=3).filter_map(|back| start.checked_sub(back)).any(told);
    let mut before = (0..start).rev().take_while(|at| page.sentence(*at) == sentence);
    let found = before.find_map(|at| page.class(at).and_then(|class| Some((class, class_direction(class)?))));
    found.is_some_and(|(class, way)| way == PaymentDirection::Credit && (!class.is_act() || is_told))
}
