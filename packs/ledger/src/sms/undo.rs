//! "Reversed": it undoes what it names. A debit that is reversed comes back, a credit that is reversed is taken again.

use super::events::Event;
use super::lexicon::{Class, Mark};
use super::page::{Page, Use};
use super::reading::Direction;

/// The way of money by a word of undoing, where what it undoes is a credit. Any other comes back.
pub(crate) fn takes_back(page: &Page, mark: &Mark) -> bool {
    if !page.cut.low(mark.tokens.start).starts_with("revers") || comes_to_account(page, mark.tokens.end) {
        return false;
    }
    if leaves_account(page, mark.tokens.end) {
        return true;
    }
    if mark.class == Class::Refund { names_credit(page, mark) } else { follows_credit(page, mark) }
}

/// Drops the credits of a sentence that one of the events takes back.
pub(crate) fn without_undone(page: &Page, events: Vec<Event>) -> Vec<Event> {
    let taken: Vec<usize> =
        events.iter().filter(|event| is_taking(page, event)).map(|event| page.sentence(event.at)).collect();
    let undone =
        |event: &Event| event.direction == Direction::Credit && taken.contains(&page.sentence(event.at));
    events.into_iter().filter(|event| !undone(event)).collect()
}

/// Whether it takes a credit back.
pub(crate) fn is_taking(page: &Page, event: &Event) -> bool {
    let back = event.class == Class::Debited && page.cut.low(event.end) == "back";
    event.direction == Direction::Debit && (back || matches!(event.class, Class::Refunded | Class::Refund))
}

/// "Reversed to your a/c".
fn comes_to_account(page: &Page, end: usize) -> bool {
    let led = page.is(end, Class::To) || matches!(page.cut.low(end), "in" | "into");
    let theirs = (end..end + 5).any(|at| page.is(at, Class::Other));
    let ours = page.is(end + 1, Class::Own) || (end + 1..end + 5).any(|at| page.used(at) == Use::Tail);
    led && ours && !theirs
}

/// "Reversed from your a/c".
fn leaves_account(page: &Page, end: usize) -> bool {
    let ours = page.is(end + 1, Class::Own) || (end + 1..end + 5).any(|at| page.used(at) == Use::Tail);
    page.is(end, Class::From) && ours
}

const fn way(class: Class) -> Option<Direction> {
    match class {
        Class::Credit | Class::Credited | Class::Cashback | Class::Refund | Class::Received => {
            Some(Direction::Credit)
        }
        Class::Debit | Class::Debited | Class::Pay | Class::Paid | Class::Sent | Class::Failed => {
            Some(Direction::Debit)
        }
        _ => None,
    }
}

/// "Reversal of wrong credit", "credit reversal".
fn names_credit(page: &Page, mark: &Mark) -> bool {
    let (start, end) = (mark.tokens.start, mark.tokens.end);
    let sentence = page.sentence(start);
    let before = start.checked_sub(1).is_some_and(|at| page.is(at, Class::Credit));
    let mut behind = (end..end + 6).take_while(|at| page.sentence(*at) == sentence);
    let named = behind.find_map(|at| page.class(at).and_then(way));
    before || (page.is(end, Class::Of) && named == Some(Direction::Credit))
}

/// "Credit of Rs 500 … reversed". A verb needs "has been": "credited, txn reversed" tells it the other way round.
fn follows_credit(page: &Page, mark: &Mark) -> bool {
    let start = mark.tokens.start;
    let sentence = page.sentence(start);
    let told = |at: usize| matches!(page.cut.low(at), "been" | "was" | "is" | "stands" | "stood" | "got");
    let is_told = (1..=3).filter_map(|back| start.checked_sub(back)).any(told);
    let mut before = (0..start).rev().take_while(|at| page.sentence(*at) == sentence);
    let found = before.find_map(|at| page.class(at).and_then(|class| Some((class, way(class)?))));
    found.is_some_and(|(class, way)| way == Direction::Credit && (!class.is_act() || is_told))
}
