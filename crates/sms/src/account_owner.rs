//! Which of the accounts named is the owner's.

use super::events::SmsEvent;
use super::lexicon::SmsWordClass;
use super::parsed_message::{AccountTail, ParsedSms, SmsTokenUse};
use super::reading::PaymentDirection;
use super::reversal::is_credit_reversal;

pub(crate) fn find_own(page: &ParsedSms, event: &SmsEvent) -> Option<String> {
    let scored =
        page.tails.iter().map(|tail| (best_score(page, tail, event) * 2 + nearness(page, tail, event), tail));
    // The first of those that fit best.
    let mut best: Option<(i32, &AccountTail)> = None;
    for (score, tail) in scored {
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, tail));
        }
    }
    // What was taken from the only account that is named comes back to it.
    let is_back = page.tails.len() == 1
        && event.direction == PaymentDirection::Credit
        && page.has(SmsWordClass::Refunded);
    best.filter(|(score, _)| *score >= -2 || is_back).map(|(_, tail)| tail.digits.clone())
}

/// A credit that is taken back was made to the owner's account, and is taken from it.
fn best_score(page: &ParsedSms, tail: &AccountTail, event: &SmsEvent) -> i32 {
    let own = score(page, tail, event.direction);
    if is_credit_reversal(page, event) { own.max(score(page, tail, PaymentDirection::Credit)) } else { own }
}

/// Of two that fit alike, the one that the verb speaks of.
fn nearness(page: &ParsedSms, tail: &AccountTail, event: &SmsEvent) -> i32 {
    let led = tail.tokens.start >= event.end && tail.tokens.start - event.end <= 5;
    i32::from(led && page.sentence(tail.tokens.start) == page.sentence(event.at))
}

/// The other side's account, where it has no name: "To A/c XX7712".
pub(crate) fn find_other(page: &ParsedSms, event: &SmsEvent) -> Option<String> {
    let tail = page.tails.iter().find(|tail| best_score(page, tail, event) <= -2)?;
    let before = (tail.tokens.start.saturating_sub(6)..tail.tokens.start)
        .find(|at| page.is_class(*at, SmsWordClass::Account))?;
    Some(page.cut.text(before..tail.tokens.end).to_owned())
}

/// The words before a tail say whose it is: "from your a/c", "to a/c".
fn score(page: &ParsedSms, tail: &AccountTail, direction: PaymentDirection) -> i32 {
    let start = tail.tokens.start;
    // "Your FD XX118": a deposit or loan is no account to pay from.
    if start.checked_sub(1).is_some_and(|at| page.is_class(at, SmsWordClass::Loan)) {
        return -3;
    }
    let mut score = 0;
    for at in (start.saturating_sub(9)..start).rev() {
        if page.sentence(at) != page.sentence(start)
            || matches!(page.token_use(at), SmsTokenUse::Tail | SmsTokenUse::Amount)
        {
            break;
        }
        // "From SITA in A/c XX1".
        if matches!(page.cut.lowercase(at), "in" | "into")
            && (at + 1..start).any(|at| page.is_class(at, SmsWordClass::Account))
        {
            score = 2;
            break;
        }
        match (page.class(at), direction) {
            (Some(SmsWordClass::Own), PaymentDirection::Debit)
                if at > 0 && page.is_class(at - 1, SmsWordClass::To) =>
            {
                return if at > 1 && page.is_class(at - 2, SmsWordClass::Debited) { 3 } else { -1 };
            }
            (Some(SmsWordClass::Own), PaymentDirection::Credit)
                if at > 0 && page.is_class(at - 1, SmsWordClass::From) =>
            {
                return -1;
            }
            (Some(SmsWordClass::Own), _) => return 3,
            (Some(SmsWordClass::Other), _) => return -2,
            (Some(SmsWordClass::To), PaymentDirection::Debit)
                if at > 0 && page.is_class(at - 1, SmsWordClass::Debited) =>
            {
                return 2;
            }
            (Some(SmsWordClass::To), PaymentDirection::Debit)
            | (Some(SmsWordClass::From), PaymentDirection::Credit) => {
                score = -2;
                break;
            }
            (Some(SmsWordClass::By), PaymentDirection::Credit) if page.cut.lowercase(at) == "by" => {
                score = -2;
                break;
            }
            (Some(SmsWordClass::By), PaymentDirection::Debit) => {
                score = 2;
                break;
            }
            (Some(SmsWordClass::From), PaymentDirection::Debit)
            | (Some(SmsWordClass::To), PaymentDirection::Credit) => {
                score = 2;
                break;
            }
            (Some(class), _) if class.is_act() => break,
            _ => {}
        }
    }
    score + score_verb_behind(page, tail, direction)
}

/// "… and a/c XX5678 credited" of a debit is the other one.
fn score_verb_behind(page: &ParsedSms, tail: &AccountTail, direction: PaymentDirection) -> i32 {
    let told = (tail.tokens.end..tail.tokens.end + 3)
        .take_while(|at| !matches!(page.cut.lowercase(*at), "and" | "&" | ","))
        .find_map(|at| page.class(at).filter(|class| class.is_act()));
    match (told, direction) {
        (Some(SmsWordClass::Credited), PaymentDirection::Debit)
        | (Some(SmsWordClass::Debited), PaymentDirection::Credit) => -3,
        (Some(SmsWordClass::Debited), PaymentDirection::Debit)
        | (Some(SmsWordClass::Credited), PaymentDirection::Credit) => 1,
        _ => 0,
    }
}
