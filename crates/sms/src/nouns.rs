//! Payments told without a verb: by a noun, or by nothing but an amount, an account and a name.

use super::attempt::{is_attempt, is_needed};
use super::events::{SmsEvent, SmsEventStrength, distance, find_amount, goes_to_owner, is_own};
use super::lexicon::{SmsWordClass, SmsWordMatch};
use super::parsed_message::{AmountRole, ParsedSms};
use super::reading::PaymentDirection;
use super::reversal::reverses_credit;
use super::state::{SmsEventState, state};

/// A noun counts with an amount close by; "successful" in its sentence gives it weight.
pub(crate) fn parse_noun_event(page: &ParsedSms, mark: &SmsWordMatch) -> Option<SmsEvent> {
    // "Transaction number 5512 for Rs 500" is a payment and its number at once.
    let numbered = mark.class == SmsWordClass::Reference
        && matches!(page.cut.lowercase(mark.tokens.start), "transaction" | "txn" | "trxn");
    let ordered = mark.class == SmsWordClass::Mandate && is_executed(page, mark);
    if !(mark.class.is_noun() || numbered || ordered) || mark.class == SmsWordClass::Cashback {
        return None;
    }
    let amount = find_amount(page, mark)?;
    let tokens = page.amounts[amount].tokens.clone();
    if distance(mark, tokens.start, tokens.end) > 8 {
        return None;
    }
    let sentence = page.sentence(mark.tokens.start);
    let ended =
        page.matches_of(SmsWordClass::Success).find(|done| page.sentence(done.tokens.start) == sentence);
    let state = match ended.map_or(SmsEventState::Done, |done| state(page, done)) {
        SmsEventState::Done if is_denied(page, mark) => SmsEventState::Undone,
        SmsEventState::Done if ended.is_none() && is_attempt(page, mark) => SmsEventState::Undone,
        SmsEventState::Done if is_needed(page, mark) => SmsEventState::Maybe,
        SmsEventState::Done => state(page, mark),
        other => other,
    };
    let direction = match mark.class {
        SmsWordClass::Refund if reverses_credit(page, mark) => PaymentDirection::Debit,
        SmsWordClass::Credit | SmsWordClass::Refund => PaymentDirection::Credit,
        SmsWordClass::Pay if goes_to_owner(page, mark.tokens.end) && page.has(SmsWordClass::Account) => {
            PaymentDirection::Credit
        }
        _ => PaymentDirection::Debit,
    };
    let weight = if ended.is_some() { SmsEventStrength::Made } else { SmsEventStrength::Noun };
    if weight == SmsEventStrength::Noun && is_imperative(page, mark.tokens.start) {
        return None;
    }
    let is_own = is_own(page, mark);
    Some(SmsEvent {
        at: mark.tokens.start,
        end: mark.tokens.end,
        class: if ordered { SmsWordClass::Pay } else { mark.class },
        direction,
        state,
        weight,
        amount: Some(amount),
        is_own,
    })
}

/// "Your standing instruction for Rs 3,000 was executed from a/c XX12".
fn is_executed(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let sentence = page.sentence(mark.tokens.start);
    let here = |at: &usize| page.sentence(*at) == sentence;
    let executed = (0..page.len()).filter(here).any(|at| page.cut.lowercase(at) == "executed");
    executed
        && page.has_in_sentence(mark.tokens.start, SmsWordClass::From)
        && !page.has(SmsWordClass::Arranged)
}

/// "We are unable to confirm txn of Rs 500".
fn is_denied(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    page.matches_of(SmsWordClass::Negation).any(|no| {
        no.tokens.start < mark.tokens.start
            && page.sentence(no.tokens.start) == page.sentence(mark.tokens.start)
            && matches!(page.cut.lowercase(no.tokens.start), "unable" | "could" | "couldn" | "cannot" | "can")
    })
}

/// "Deposit Rs 10,000 to avoid charges": a noun that begins a sentence may be a verb that tells one to.
fn is_imperative(page: &ParsedSms, at: usize) -> bool {
    let begins = at == 0
        || page.sentence(at - 1) != page.sentence(at)
        || matches!(page.cut.lowercase(at - 1), "&" | "and");
    begins && matches!(page.cut.lowercase(at), "deposit" | "transfer" | "recharge" | "spend" | "purchase")
}

/// Some cards and banks leave the verb out: "Rs 499 XYZ Bank Card x1207 At TUNEBOX", "Rs 80 UPI frm A/c X9021". It
/// counts where the owner's side is plain and nothing speaks against it.
pub(crate) fn find_implied_event(page: &ParsedSms) -> Option<SmsEvent> {
    let against = [
        SmsWordClass::Request,
        SmsWordClass::Due,
        SmsWordClass::Failed,
        SmsWordClass::Mandate,
        SmsWordClass::Future,
        SmsWordClass::Pending,
        SmsWordClass::Hold,
        SmsWordClass::Loan,
        SmsWordClass::Delivery,
        SmsWordClass::Investment,
        SmsWordClass::Lure,
        SmsWordClass::Warning,
        SmsWordClass::Cashback,
    ];
    if against.into_iter().any(|class| page.has(class)) {
        return None;
    }
    let mut moved = page
        .amounts
        .iter()
        .enumerate()
        .filter(|(_, amount)| amount.role == AmountRole::Moved && !amount.is_bare);
    let (number, amount) = moved.next()?;
    let tail = page.tails.iter().find(|tail| tail.tokens.start > amount.tokens.end)?;
    let between = amount.tokens.end..tail.tokens.start;
    let carded = between.clone().any(|at| page.is_class(at, SmsWordClass::Card))
        && (tail.tokens.end..tail.tokens.end + 3).any(|at| page.is_class(at, SmsWordClass::At));
    let taken = between.clone().any(|at| page.is_class(at, SmsWordClass::From))
        && between.clone().any(|at| page.is_class(at, SmsWordClass::Account));
    let alone =
        moved.next().is_none() && page.sentence(amount.tokens.start) == page.sentence(tail.tokens.start);
    (alone && (carded || taken)).then_some(SmsEvent {
        at: amount.tokens.start,
        end: amount.tokens.end,
        class: SmsWordClass::Paid,
        direction: PaymentDirection::Debit,
        state: SmsEventState::Done,
        weight: SmsEventStrength::Weak,
        amount: Some(number),
        is_own: true,
    })
}
