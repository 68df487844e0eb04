//! What the message says was done, will be done or was not done to money: one event for each verb or noun of it.

use super::lexicon::{Class, Mark};
use super::nouns::noun;
use super::page::{Page, Role, Use};
use super::reading::Direction;
use super::state::{State, state};
use super::undo::{takes_back, without_undone};

/// How plainly it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
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
pub(crate) struct Event {
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) class: Class,
    pub(crate) direction: Direction,
    pub(crate) state: State,
    pub(crate) weight: Weight,
    /// Its place among the page's amounts.
    pub(crate) amount: Option<usize>,
    /// It is said of the owner's own account.
    pub(crate) is_own: bool,
}

pub(crate) fn events(page: &Page) -> Vec<Event> {
    let words = page.marks.iter().filter(|mark| page.counts(mark));
    without_undone(page, words.filter_map(|mark| act(page, mark).or_else(|| noun(page, mark))).collect())
}

fn act(page: &Page, mark: &Mark) -> Option<Event> {
    let settled = is_settled(page, mark);
    let acts = mark.class.is_act() || settled;
    if !acts || is_letter_only(page, mark) || is_of_other_things(page, mark) {
        return None;
    }
    let class = if settled { Class::Credited } else { mark.class };
    let weight = match class {
        Class::Debited | Class::Credited | Class::Refunded => Weight::Strong,
        _ => Weight::Weak,
    };
    Some(Event {
        at: mark.tokens.start,
        end: mark.tokens.end,
        class,
        direction: if settled { Direction::Credit } else { direction(page, mark)? },
        state: state(page, mark),
        weight,
        amount: amount_of(page, mark),
        is_own: is_own(page, mark),
    })
}

/// "Settled to your bank a/c XX12": who collects for a shop pays it out.
fn is_settled(page: &Page, mark: &Mark) -> bool {
    let end = mark.tokens.end;
    let led = page.is(end, Class::To) || matches!(page.cut.low(end), "in" | "into");
    let account = (end + 1..end + 7).take_while(|at| page.sentence(*at) == page.sentence(end));
    page.cut.low(mark.tokens.start) == "settled"
        && mark.class == Class::Success
        && led
        && account.into_iter().any(|at| page.is(at, Class::Account) || page.used(at) == Use::Tail)
}

/// `Cr` and `Dr` are marks of a balance, or a doctor, unless they stand beside an amount that moved or begin a chain.
fn is_letter_only(page: &Page, mark: &Mark) -> bool {
    let at = mark.tokens.start;
    if !matches!(page.cut.low(at), "cr" | "dr") {
        return false;
    }
    let before = at.checked_sub(1);
    let of_balance = page.amounts.iter().any(|amount| amount.role != Role::Moved && amount.tokens.end == at);
    let titled = before.is_some_and(|at| {
        matches!(
            page.class(at),
            Some(Class::To | Class::From | Class::At | Class::By | Class::Own | Class::Limit)
        )
    });
    let beside = |at: usize| {
        page.used(at) == Use::Amount || matches!(page.class(at), Some(Class::Channel | Class::Account))
    };
    let near = (1..=2).any(|step| at.checked_sub(step).is_some_and(beside) || beside(at + step));
    let joined = matches!(page.class(at + 1), Some(Class::From | Class::To | Class::By));
    let dotted = page.cut.is_sign(at + 1, '.')
        && matches!(page.class(at + 2), Some(Class::From | Class::To | Class::By));
    of_balance || titled || !(near || joined || dotted || page.used(at.saturating_sub(1)) == Use::Tail)
}

/// Requests, statements and codes are received and sent too, points are credited, and contacts are added.
fn is_of_other_things(page: &Page, mark: &Mark) -> bool {
    let (start, end) = (mark.tokens.start, mark.tokens.end);
    let around = (start.saturating_sub(4)..(end + 4).min(page.len()))
        .filter(|at| page.sentence(*at) == page.sentence(start));
    let mut thing = false;
    for at in around {
        thing |= matches!(
            page.cut.low(at),
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
        .any(|at| page.is(at, Class::Points) && page.sentence(at) == page.sentence(start));
    let counted = points && !page.amounts.iter().any(|amount| amount.role == Role::Moved);
    let weak = matches!(mark.class, Class::Received | Class::Sent | Class::Added);
    let homeless = mark.class == Class::Added
        && ![Class::Wallet, Class::Account, Class::Card, Class::Balance, Class::Refund]
            .into_iter()
            .any(|class| page.beside(start, class));
    // "I paid Rs 300": a person tells, not a bank.
    let told_by_person = start > 0 && matches!(page.cut.low(start - 1), "i" | "maine");
    let limit = page.cut.low(end) == "as" && (end + 1..end + 4).any(|at| page.is(at, Class::Limit));
    (weak && thing) || counted || homeless || told_by_person || limit
}

fn is_you(page: &Page, at: usize) -> bool {
    page.is(at, Class::Own)
}

/// "To your", "you", "in your": the money came to the owner.
pub(crate) fn goes_to_owner(page: &Page, end: usize) -> bool {
    let sentence = page.sentence(end.saturating_sub(1));
    for at in end..(end + 9).min(page.len()) {
        if page.sentence(at) != sentence {
            return false;
        }
        match page.class(at) {
            Some(Class::Own) => {
                let before = at.checked_sub(1);
                let led = before
                    .is_some_and(|at| page.is(at, Class::To) || matches!(page.cut.low(at), "in" | "into"));
                return led || at == end;
            }
            Some(Class::From) => return false,
            Some(Class::To) if !is_you(page, at + 1) => return false,
            _ => {}
        }
    }
    false
}

fn direction(page: &Page, mark: &Mark) -> Option<Direction> {
    let end = mark.tokens.end;
    let by_means = matches!(
        page.class(end + 1),
        Some(Class::Mandate | Class::Channel | Class::Card | Class::Cheque | Class::Wallet)
    );
    let by_somebody = page.is(end, Class::By) && page.cut.low(end) == "by" && !by_means;
    let came = goes_to_owner(page, end) || is_to_you(page, mark);
    Some(match mark.class {
        Class::Refunded if takes_back(page, mark) => Direction::Debit,
        Class::Debited => Direction::Debit,
        Class::Credited if is_to_others(page, mark) => Direction::Debit,
        Class::Credited | Class::Refunded | Class::Added => Direction::Credit,
        Class::Received
            if by_somebody
                && !is_you(page, end + 1)
                && page.cut.is_word(end + 1)
                && page.class(end + 1).is_none() =>
        {
            Direction::Debit
        }
        Class::Received => Direction::Credit,
        // "Sent by", "paid by": somebody is named, the direction is another word's.
        Class::Sent | Class::Paid if by_somebody && !is_you(page, end + 1) => return None,
        _ if came => Direction::Credit,
        _ => Direction::Debit,
    })
}

/// "Aapko Rs 250 bheje", "aapke khate mein": in the languages of India it stands before the verb.
fn is_to_you(page: &Page, mark: &Mark) -> bool {
    let start = mark.tokens.start;
    let here = |at: &usize| page.sentence(*at) == page.sentence(start);
    let inside = |at: usize| matches!(page.cut.low(at), "mein" | "me" | "men" | "में" | "मध्ये");
    (0..start).rev().take(8).take_while(here).any(|at| {
        let housed = page.is(at, Class::Account) && (at + 1..at + 5).any(inside);
        page.is(at, Class::ToYou) || housed
    })
}

/// "Credited to beneficiary", "your NEFT … has been credited to": our own transfer, told by its far end.
fn is_to_others(page: &Page, mark: &Mark) -> bool {
    let (start, end) = (mark.tokens.start, mark.tokens.end);
    if goes_to_owner(page, end) {
        return false;
    }
    let sentence = page.sentence(start);
    let here = |at: &usize| page.sentence(*at) == sentence;
    // "Your NEFT was returned and credited to": it came back.
    if (0..start).filter(here).any(|at| page.is(at, Class::Failed)) {
        return false;
    }
    let others = (end..page.len()).take(6).take_while(here).any(|at| page.is(at, Class::Other));
    let theirs = (0..start).rev().take(8).take_while(here).any(|at| page.is(at, Class::Other));
    let ours = (0..start).filter(here).any(|at| {
        page.is(at, Class::Own)
            && (at + 1..at + 4).any(|at| matches!(page.class(at), Some(Class::Pay | Class::Channel)))
    });
    let names_end = (end..page.len()).take(2).any(|at| page.is(at, Class::To));
    others || theirs || (ours && names_end)
}

/// The owner's account stands beside it: "your a/c", or a tail right before or behind.
pub(crate) fn is_own(page: &Page, mark: &Mark) -> bool {
    let sentence = page.sentence(mark.tokens.start);
    let near =
        |at: usize| page.sentence(at) == sentence && (page.is(at, Class::Own) || page.used(at) == Use::Tail);
    let behind = (mark.tokens.end..mark.tokens.end + 5).any(near);
    let before = (1..=8).filter_map(|back| mark.tokens.start.checked_sub(back)).any(near);
    behind || before
}

/// The nearest amount of the sentence that may have moved. Where there is none, a fee, or the bill that was paid, or what
/// stands behind a heading: "Money sent! Rs 250 to …".
pub(crate) fn amount_of(page: &Page, mark: &Mark) -> Option<usize> {
    let start = mark.tokens.start;
    let failed = page.of(Class::Failed).map(|failed| failed.tokens.start);
    // "The ECS of Rs 1,800 was dishonoured, charge Rs 250 debited": the first amount is of what failed.
    let failed = failed.filter(|at| *at < start && page.sentence(*at) == page.sentence(start)).max();
    let fee = near(page, mark, Role::Fee)
        .filter(|number| failed.is_some_and(|at| at < page.amounts[*number].tokens.start));
    let fee = fee.or_else(|| near(page, mark, Role::Fee).filter(|number| is_alone_with(page, mark, *number)));
    fee.or_else(|| near(page, mark, Role::Moved))
        .or_else(|| near(page, mark, Role::Fee).filter(|_| mark.class.is_act()))
        .or_else(|| near(page, mark, Role::Due).filter(|_| is_paid(page, mark)))
        .or_else(|| headed(page, mark))
}

/// "… credited, TDS of Rs 21 deducted": the fee is what the verb is said of, and another verb has what stands before.
fn is_alone_with(page: &Page, mark: &Mark, number: usize) -> bool {
    let fee = page.amounts[number].tokens.clone();
    let start = mark.tokens.start;
    let sentence = page.sentence(start);
    let here = |at: &usize| page.sentence(*at) == sentence;
    let mut before = (0..fee.start).rev().take_while(here);
    let other = before
        .find(|at| page.used(*at) == Use::Amount || page.class(*at).is_some_and(Class::is_act))
        .is_none_or(|at| page.used(at) != Use::Amount);
    let own = (fee.end..start).all(|at| page.used(at) != Use::Amount);
    fee.end <= start && start - fee.end <= 4 && own && other
}

fn near(page: &Page, mark: &Mark, role: Role) -> Option<usize> {
    let sentence = page.sentence(mark.tokens.start);
    let amounts = page.amounts.iter().enumerate().filter(|(_, amount)| amount.role == role);
    let here = amounts.filter(|(_, amount)| page.sentence(amount.tokens.start) == sentence);
    here.min_by_key(|(_, amount)| distance(mark, amount.tokens.start, amount.tokens.end))
        .map(|(number, _)| number)
}

/// "Bill of Rs 599 has been paid".
fn is_paid(page: &Page, mark: &Mark) -> bool {
    let told = |at: usize| matches!(page.cut.low(at), "been" | "was" | "successfully");
    let is_told = (1..=2).filter_map(|back| mark.tokens.start.checked_sub(back)).any(told);
    let led = page.cut.low(mark.tokens.end) != "by"
        && matches!(page.class(mark.tokens.end), Some(Class::By | Class::From));
    mark.class == Class::Debited || (mark.class == Class::Paid && (is_told || led))
}

/// A heading of a few words, and the amount that begins the next sentence.
fn headed(page: &Page, mark: &Mark) -> Option<usize> {
    let sentence = page.sentence(mark.tokens.start);
    let words = (0..page.len()).filter(|at| page.sentence(*at) == sentence).count();
    let next = (mark.tokens.end..page.len()).find(|at| page.sentence(*at) > sentence)?;
    let first = |amount: &super::page::Amount| amount.role == Role::Moved && amount.tokens.start == next;
    let done = mark.class.is_act() || page.beside(mark.tokens.start, Class::Success);
    page.amounts.iter().position(first).filter(|_| words <= 4 && done)
}

pub(crate) fn distance(mark: &Mark, start: usize, end: usize) -> usize {
    if start >= mark.tokens.end { start - mark.tokens.end } else { mark.tokens.start.saturating_sub(end) }
}
