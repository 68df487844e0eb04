//! What the message says was done, will be done or was not done to money: one event for each verb or noun of it.

use super::lexicon::{SmsWordClass, SmsWordMatch};
use super::nouns::parse_noun_event;
use super::parsed_message::{AmountRole, ParsedSms, SmsTokenUse};
use super::reading::PaymentDirection;
use super::reversal::{drop_reversed_credits, reverses_credit};
use super::state::{SmsEventState, state};

/// How plainly it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SmsEventStrength {
    /// A noun alone: "Txn of Rs 500 on card".
    Noun,
    /// A noun and a word of success: "payment of Rs 500 successful".
    Made,
    /// "Paid", "sent", "received", which other things than money can be too.
    Weak,
    /// "Debited", "credited".
    Strong,
}

#[derive(Clone, Debug)]
pub(crate) struct SmsEvent {
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) class: SmsWordClass,
    pub(crate) direction: PaymentDirection,
    pub(crate) state: SmsEventState,
    pub(crate) weight: SmsEventStrength,
    /// Its place among the page's amounts.
    pub(crate) amount: Option<usize>,
    /// It is said of the owner's own account.
    pub(crate) is_own: bool,
}

pub(crate) fn events(page: &ParsedSms) -> Vec<SmsEvent> {
    let words = page.marks.iter().filter(|mark| page.is_message_word(mark));
    drop_reversed_credits(
        page,
        words
            .filter_map(|mark| parse_verb_event(page, mark).or_else(|| parse_noun_event(page, mark)))
            .collect(),
    )
}

fn parse_verb_event(page: &ParsedSms, mark: &SmsWordMatch) -> Option<SmsEvent> {
    let settled = is_settled(page, mark);
    let acts = mark.class.is_act() || settled;
    if !acts || is_stray_abbreviation(page, mark) || is_of_other_things(page, mark) {
        return None;
    }
    let class = if settled { SmsWordClass::Credited } else { mark.class };
    let weight = match class {
        SmsWordClass::Debited | SmsWordClass::Credited | SmsWordClass::Refunded => SmsEventStrength::Strong,
        _ => SmsEventStrength::Weak,
    };
    Some(SmsEvent {
        at: mark.tokens.start,
        end: mark.tokens.end,
        class,
        direction: if settled { PaymentDirection::Credit } else { direction(page, mark)? },
        state: state(page, mark),
        weight,
        amount: find_amount(page, mark),
        is_own: is_own(page, mark),
    })
}

/// "Settled to your bank a/c XX12": who collects for a shop pays it out.
fn is_settled(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let end = mark.tokens.end;
    let led = page.is_class(end, SmsWordClass::To) || matches!(page.cut.lowercase(end), "in" | "into");
    let account = (end + 1..end + 7).take_while(|at| page.sentence(*at) == page.sentence(end));
    page.cut.lowercase(mark.tokens.start) == "settled"
        && mark.class == SmsWordClass::Success
        && led
        && account
            .into_iter()
            .any(|at| page.is_class(at, SmsWordClass::Account) || page.token_use(at) == SmsTokenUse::Tail)
}

/// `Cr` and `Dr` are marks of a balance, or a doctor, unless they stand beside an amount that moved or begin a chain.
fn is_stray_abbreviation(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let at = mark.tokens.start;
    if !matches!(page.cut.lowercase(at), "cr" | "dr") {
        return false;
    }
    let before = at.checked_sub(1);
    let of_balance =
        page.amounts.iter().any(|amount| amount.role != AmountRole::Moved && amount.tokens.end == at);
    let titled = before.is_some_and(|at| {
        matches!(
            page.class(at),
            Some(
                SmsWordClass::To
                    | SmsWordClass::From
                    | SmsWordClass::At
                    | SmsWordClass::By
                    | SmsWordClass::Own
                    | SmsWordClass::Limit
            )
        )
    });
    let beside = |at: usize| {
        page.token_use(at) == SmsTokenUse::Amount
            || matches!(page.class(at), Some(SmsWordClass::Channel | SmsWordClass::Account))
    };
    let near = (1..=2).any(|step| at.checked_sub(step).is_some_and(beside) || beside(at + step));
    let joined = matches!(page.class(at + 1), Some(SmsWordClass::From | SmsWordClass::To | SmsWordClass::By));
    let dotted = page.cut.is_sign(at + 1, '.')
        && matches!(page.class(at + 2), Some(SmsWordClass::From | SmsWordClass::To | SmsWordClass::By));
    of_balance
        || titled
        || !(near || joined || dotted || page.token_use(at.saturating_sub(1)) == SmsTokenUse::Tail)
}

/// Requests, statements and codes are received and sent too, points are credited, and contacts are added.
fn is_of_other_things(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let (start, end) = (mark.tokens.start, mark.tokens.end);
    let around = (start.saturating_sub(4)..(end + 4).min(page.len()))
        .filter(|at| page.sentence(*at) == page.sentence(start));
    let mut thing = false;
    for at in around {
        thing |= matches!(
            page.cut.lowercase(at),
            "request"
                | "application"
                | "complaint"
                | "documents"
                | "email"
                | "link"
                | "feedback"
                | "sms"
                | "statement"
                | "report"
                | "message"
                | "mail"
                | "notification"
        );
    }
    let points = (1..=3)
        .filter_map(|back| start.checked_sub(back))
        .any(|at| page.is_class(at, SmsWordClass::Points) && page.sentence(at) == page.sentence(start));
    let counted = points && !page.amounts.iter().any(|amount| amount.role == AmountRole::Moved);
    let weak = matches!(mark.class, SmsWordClass::Received | SmsWordClass::Sent | SmsWordClass::Added);
    let homeless = mark.class == SmsWordClass::Added
        && ![
            SmsWordClass::Wallet,
            SmsWordClass::Account,
            SmsWordClass::Card,
            SmsWordClass::Balance,
            SmsWordClass::Refund,
        ]
        .into_iter()
        .any(|class| page.has_in_sentence(start, class));
    // "I paid Rs 300": a person tells, not a bank.
    let told_by_person = start > 0 && matches!(page.cut.lowercase(start - 1), "i" | "maine");
    let limit = page.cut.lowercase(end) == "as"
        && (end + 1..end + 4).any(|at| page.is_class(at, SmsWordClass::Limit));
    (weak && thing) || counted || homeless || told_by_person || limit
}

fn is_owner(page: &ParsedSms, at: usize) -> bool {
    page.is_class(at, SmsWordClass::Own)
}

/// "To your", "you", "in your": the money came to the owner.
pub(crate) fn goes_to_owner(page: &ParsedSms, end: usize) -> bool {
    let sentence = page.sentence(end.saturating_sub(1));
    for at in end..(end + 9).min(page.len()) {
        if page.sentence(at) != sentence {
            return false;
        }
        match page.class(at) {
            Some(SmsWordClass::Own) => {
                let before = at.checked_sub(1);
                let led = before.is_some_and(|at| {
                    page.is_class(at, SmsWordClass::To) || matches!(page.cut.lowercase(at), "in" | "into")
                });
                return led || at == end;
            }
            Some(SmsWordClass::From) => return false,
            Some(SmsWordClass::To) if !is_owner(page, at + 1) => return false,
            _ => {}
        }
    }
    false
}

fn direction(page: &ParsedSms, mark: &SmsWordMatch) -> Option<PaymentDirection> {
    let end = mark.tokens.end;
    let by_means = matches!(
        page.class(end + 1),
        Some(
            SmsWordClass::Mandate
                | SmsWordClass::Channel
                | SmsWordClass::Card
                | SmsWordClass::Cheque
                | SmsWordClass::Wallet
        )
    );
    let by_somebody = page.is_class(end, SmsWordClass::By) && page.cut.lowercase(end) == "by" && !by_means;
    let came = goes_to_owner(page, end) || is_to_owner(page, mark);
    Some(match mark.class {
        SmsWordClass::Refunded if reverses_credit(page, mark) => PaymentDirection::Debit,
        SmsWordClass::Debited => PaymentDirection::Debit,
        SmsWordClass::Credited if is_to_others(page, mark) => PaymentDirection::Debit,
        SmsWordClass::Credited | SmsWordClass::Refunded | SmsWordClass::Added => PaymentDirection::Credit,
        SmsWordClass::Received
            if by_somebody
                && !is_owner(page, end + 1)
                && page.cut.is_word(end + 1)
                && page.class(end + 1).is_none() =>
        {
            PaymentDirection::Debit
        }
        SmsWordClass::Received => PaymentDirection::Credit,
        // "Sent by", "paid by": somebody is named, the direction is another word's.
        SmsWordClass::Sent | SmsWordClass::Paid if by_somebody && !is_owner(page, end + 1) => return None,
        _ if came => PaymentDirection::Credit,
        _ => PaymentDirection::Debit,
    })
}

/// "Aapko Rs 250 bheje", "aapke khate mein": in the languages of India it stands before the verb.
fn is_to_owner(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let start = mark.tokens.start;
    let here = |at: &usize| page.sentence(*at) == page.sentence(start);
    let inside = |at: usize| matches!(page.cut.lowercase(at), "mein" | "me" | "men" | "में" | "मध्ये");
    (0..start).rev().take(8).take_while(here).any(|at| {
        let housed = page.is_class(at, SmsWordClass::Account) && (at + 1..at + 5).any(inside);
        page.is_class(at, SmsWordClass::ToYou) || housed
    })
}

/// "Credited to beneficiary", "your NEFT … has been credited to": our own transfer, told by its far end.
fn is_to_others(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let (start, end) = (mark.tokens.start, mark.tokens.end);
    if goes_to_owner(page, end) {
        return false;
    }
    let sentence = page.sentence(start);
    let here = |at: &usize| page.sentence(*at) == sentence;
    // "Your NEFT was returned and credited to": it came back.
    if (0..start).filter(here).any(|at| page.is_class(at, SmsWordClass::Failed)) {
        return false;
    }
    let others = (end..page.len()).take(6).take_while(here).any(|at| page.is_class(at, SmsWordClass::Other));
    let theirs = (0..start).rev().take(8).take_while(here).any(|at| page.is_class(at, SmsWordClass::Other));
    let ours = (0..start).filter(here).any(|at| {
        page.is_class(at, SmsWordClass::Own)
            && (at + 1..at + 4)
                .any(|at| matches!(page.class(at), Some(SmsWordClass::Pay | SmsWordClass::Channel)))
    });
    let names_end = (end..page.len()).take(2).any(|at| page.is_class(at, SmsWordClass::To));
    others || theirs || (ours && names_end)
}

/// The owner's account stands beside it: "your a/c", or a tail right before or behind.
pub(crate) fn is_own(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let sentence = page.sentence(mark.tokens.start);
    let near = |at: usize| {
        page.sentence(at) == sentence
            && (page.is_class(at, SmsWordClass::Own) || page.token_use(at) == SmsTokenUse::Tail)
    };
    let behind = (mark.tokens.end..mark.tokens.end + 5).any(near);
    let before = (1..=8).filter_map(|back| mark.tokens.start.checked_sub(back)).any(near);
    behind || before
}

/// The nearest amount of the sentence that may have moved. Where there is none, a fee, or the bill that was paid, or what
/// stands behind a heading: "Money sent! Rs 250 to …".
pub(crate) fn find_amount(page: &ParsedSms, mark: &SmsWordMatch) -> Option<usize> {
    let start = mark.tokens.start;
    let failed = page.matches_of(SmsWordClass::Failed).map(|failed| failed.tokens.start);
    // "The ECS of Rs 1,800 was dishonoured, charge Rs 250 debited": the first amount is of what failed.
    let failed = failed.filter(|at| *at < start && page.sentence(*at) == page.sentence(start)).max();
    let fee = find_nearest_amount(page, mark, AmountRole::Fee)
        .filter(|number| failed.is_some_and(|at| at < page.amounts[*number].tokens.start));
    let fee = fee.or_else(|| {
        find_nearest_amount(page, mark, AmountRole::Fee).filter(|number| is_alone_with(page, mark, *number))
    });
    fee.or_else(|| find_nearest_amount(page, mark, AmountRole::Moved))
        .or_else(|| find_nearest_amount(page, mark, AmountRole::Fee).filter(|_| mark.class.is_act()))
        .or_else(|| find_nearest_amount(page, mark, AmountRole::Due).filter(|_| is_paid(page, mark)))
        .or_else(|| find_amount_after_heading(page, mark))
}

/// "… credited, TDS of Rs 21 deducted": the fee is what the verb is said of, and another verb has what stands before.
fn is_alone_with(page: &ParsedSms, mark: &SmsWordMatch, number: usize) -> bool {
    let fee = page.amounts[number].tokens.clone();
    let start = mark.tokens.start;
    let sentence = page.sentence(start);
    let here = |at: &usize| page.sentence(*at) == sentence;
    let mut before = (0..fee.start).rev().take_while(here);
    let other = before
        .find(|at| {
            page.token_use(*at) == SmsTokenUse::Amount || page.class(*at).is_some_and(SmsWordClass::is_act)
        })
        .is_none_or(|at| page.token_use(at) != SmsTokenUse::Amount);
    let own = (fee.end..start).all(|at| page.token_use(at) != SmsTokenUse::Amount);
    fee.end <= start && start - fee.end <= 4 && own && other
}

fn find_nearest_amount(page: &ParsedSms, mark: &SmsWordMatch, role: AmountRole) -> Option<usize> {
    let sentence = page.sentence(mark.tokens.start);
    let amounts = page.amounts.iter().enumerate().filter(|(_, amount)| amount.role == role);
    let here = amounts.filter(|(_, amount)| page.sentence(amount.tokens.start) == sentence);
    here.min_by_key(|(_, amount)| distance(mark, amount.tokens.start, amount.tokens.end))
        .map(|(number, _)| number)
}

/// "Bill of Rs 599 has been paid".
fn is_paid(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let told = |at: usize| matches!(page.cut.lowercase(at), "been" | "was" | "successfully");
    let is_told = (1..=2).filter_map(|back| mark.tokens.start.checked_sub(back)).any(told);
    let led = page.cut.lowercase(mark.tokens.end) != "by"
        && matches!(page.class(mark.tokens.end), Some(SmsWordClass::By | SmsWordClass::From));
    mark.class == SmsWordClass::Debited || (mark.class == SmsWordClass::Paid && (is_told || led))
}

/// A heading of a few words, and the amount that begins the next sentence.
fn find_amount_after_heading(page: &ParsedSms, mark: &SmsWordMatch) -> Option<usize> {
    let sentence = page.sentence(mark.tokens.start);
    let words = (0..page.len()).filter(|at| page.sentence(*at) == sentence).count();
    let next = (mark.tokens.end..page.len()).find(|at| page.sentence(*at) > sentence)?;
    let first = |amount: &super::parsed_message::SmsAmount| {
        amount.role == AmountRole::Moved && amount.tokens.start == next
    };
    let done = mark.class.is_act() || page.has_in_sentence(mark.tokens.start, SmsWordClass::Success);
    page.amounts.iter().position(first).filter(|_| words <= 4 && done)
}

pub(crate) fn distance(mark: &SmsWordMatch, start: usize, end: usize) -> usize {
    if start >= mark.tokens.end { start - mark.tokens.end } else { mark.tokens.start.saturating_sub(end) }
}
