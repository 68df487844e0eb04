//! What makes nothing of what seems done.

use super::counterparty::{counterparty, payer};
use super::events::{Event, Weight};
use super::lexicon::Class;
use super::nothing::{has_failed, reason};
use super::page::{Page, Role, Use};
use super::reading::{Direction, Doubt, Nothing};
use super::sender::Origin;
use super::state::State;

/// Why the event is not booked after all. What is booked with a doubt has it added.
pub(crate) fn veto(
    page: &Page,
    events: &[Event],
    event: &Event,
    origin: Origin,
    doubts: &mut Vec<Doubt>,
) -> Option<Nothing> {
    if page.is_disguised {
        return Some(Nothing::Promotion);
    }
    if page.has(Class::Listing) {
        return Some(Nothing::Balance);
    }
    if page.has(Class::Swindle) && event.class != Class::Refunded {
        return Some(Nothing::Warning);
    }
    let early = failed(page, events, event, doubts)
        .or_else(|| (is_receipt(page, event) || is_billed(page, event)).then_some(Nothing::Receipt))
        .or_else(|| is_ordered(page, event).then_some(Nothing::Delivery))
        .or_else(|| lured(page, event, origin))
        .or_else(|| unfinished(page, events, event));
    if early.is_some() {
        return early;
    }
    let clicked = (0..page.len()).any(|at| page.cut.low(at) == "click") && page.uses.contains(&Use::Link);
    if clicked && event.direction == Direction::Debit {
        doubts.push(Doubt::Lure);
    }
    // "Rs 60 is debited but the payment is pending".
    if event.direction == Direction::Debit && page.beside(event.at, Class::Pending) {
        doubts.push(Doubt::Done);
    }
    if event.weight <= Weight::Made {
        return noun_veto(page, events, event, doubts);
    }
    let anchored = has_evidence(page)
        || page.has(Class::Wallet)
        || event.class == Class::Added
        || !page.vpas.is_empty()
        || counterparty(page, event).is_some();
    (event.weight != Weight::Strong && !anchored).then_some(Nothing::Receipt)
}

/// An account, a reference or a balance: what those who advertise don't have.
fn has_evidence(page: &Page) -> bool {
    let balance = page.amounts.iter().any(|amount| amount.role == Role::Balance);
    balance || !page.tails.is_empty() || !page.references.is_empty()
}

/// It did not go through. Where the account was debited all the same, or what came back was, that is told.
fn failed(page: &Page, events: &[Event], event: &Event, doubts: &mut Vec<Doubt>) -> Option<Nothing> {
    if !has_failed(page) {
        return None;
    }
    // A cheque that came back brings nothing, though it says that it was deposited.
    let fee = page.beside(event.at, Class::Fee);
    let lost = page.has(Class::Cheque) && event.direction == Direction::Credit && !fee;
    let undone = || page.of(Class::Failed).any(|mark| page.cut.low(mark.tokens.start) == "not");
    let denied = events.iter().any(|other| other.state == State::Undone) || undone();
    let denied = denied && event.class != Class::Refunded && !fee;
    if lost || denied {
        return Some(Nothing::Declined);
    }
    if event.class == Class::Refunded {
        return None;
    }
    if event.weight != Weight::Strong {
        return Some(Nothing::Declined);
    }
    if event.direction == Direction::Debit && !fee {
        doubts.push(Doubt::Failed);
    }
    None
}

/// Advertisements and swindles that speak as if money had moved.
fn lured(page: &Page, event: &Event, origin: Origin) -> Option<Nothing> {
    if event.direction == Direction::Credit && is_baited(page) {
        return Some(Nothing::Warning);
    }
    if has_evidence(page) {
        return None;
    }
    if page.has(Class::Warning) || origin == Origin::Person {
        return Some(Nothing::Warning);
    }
    let linked = page.uses.contains(&Use::Link);
    let promotes = origin == (Origin::Business { promotes: true });
    let round = event.amount.is_some_and(|amount| page.amounts[amount].is_round);
    let words = page.of(Class::Lure).count() + page.of(Class::Threshold).count();
    // Nobody who gives money without naming an account needs a click for it.
    let gift = event.direction == Direction::Credit && linked;
    let lured = words + usize::from(linked) + usize::from(round) + usize::from(promotes) * 2 >= 3;
    let loan = if page.has(Class::Loan) { Nothing::Loan } else { Nothing::Promotion };
    (gift || lured).then_some(loan)
}

/// "To release click": who has given money asks for no step to get it.
fn is_baited(page: &Page) -> bool {
    let linked = page.uses.contains(&Use::Link);
    let step =
        (0..page.len()).any(|at| matches!(page.cut.low(at), "release" | "claim" | "unlock" | "redeem"));
    linked && step
}

/// It has only begun, is still to come, or is told by a fund instead of the account.
fn unfinished(page: &Page, events: &[Event], event: &Event) -> Option<Nothing> {
    let strong = event.weight == Weight::Strong;
    let may_wait = event.direction == Direction::Credit || !strong;
    if may_wait && page.beside(event.at, Class::Pending) && page.cut.low(event.at) != "credited" {
        return Some(Nothing::Pending);
    }
    if event.direction == Direction::Credit && !strong && page.has(Class::Refund) && is_on_its_way(page) {
        return Some(Nothing::Pending);
    }
    let account = (page.has(Class::Account) || page.has(Class::Card)) && !page.tails.is_empty();
    let acted = event.weight >= Weight::Weak && event.class != Class::Received;
    if page.has(Class::Investment) && !(acted && account) {
        return Some(Nothing::Investment);
    }
    // "Refund of Rs 500 for the txn debited on 12-03 will be credited": the debit is an old one.
    let to_come =
        events.iter().any(|other| other.state == State::Future && other.direction == Direction::Credit);
    let old = event.direction == Direction::Debit && page.beside(event.at, Class::Refund);
    // "Sent to your bank. It will be credited in 10 days."
    let begun = event.direction == Direction::Credit && !strong;
    (to_come && (old || begun)).then_some(Nothing::Future)
}

/// "It may take 3-5 days to reflect".
fn is_on_its_way(page: &Page) -> bool {
    (1..page.len()).any(|at| {
        page.cut.low(at) == "reflect" && (page.is(at - 1, Class::To) || page.is(at - 1, Class::Future))
    })
}

/// "PNR booked, fare charged": whoever was ordered from tells of what the bank tells too.
fn is_ordered(page: &Page, event: &Event) -> bool {
    event.direction == Direction::Debit
        && page.has(Class::Delivery)
        && !page.has(Class::Wallet)
        && !has_evidence(page)
        && page.vpas.is_empty()
}

/// "Payment of Rs 825 for JioFiber a/c 5500112233 is successful": the account is with whoever was paid.
fn is_billed(page: &Page, event: &Event) -> bool {
    let theirs = |tail: usize| {
        page.of(Class::Towards).any(|mark| {
            let near = event.at < mark.tokens.start && mark.tokens.end < tail && tail - mark.tokens.end <= 4;
            near && (mark.tokens.end..tail).all(|at| !page.is(at, Class::From))
                && page.sentence(mark.tokens.start) == page.sentence(tail)
        })
    };
    event.class == Class::Pay
        && event.weight == Weight::Made
        && !page.has(Class::Card)
        && !page.tails.is_empty()
        && page.tails.iter().all(|tail| theirs(tail.tokens.start))
}

/// A noun tells of a payment only where nothing says that it is still to come.
fn noun_veto(page: &Page, events: &[Event], event: &Event, doubts: &mut Vec<Doubt>) -> Option<Nothing> {
    let alone = event.weight == Weight::Noun;
    let account = page.has(Class::Card) || page.has(Class::Account) || page.has(Class::Wallet);
    // "Your card has a reversal of Rs 500": it is there.
    let stated =
        page.cut.low(event.at.saturating_sub(1)) == "a" && page.cut.low(event.at.saturating_sub(2)) == "has";
    let bare = alone && (event.class == Class::Refund && !stated || !account || page.tails.is_empty());
    if bare || is_to_come(page, events, event) || (alone && is_offered(page, event)) {
        return Some(reason(page, events));
    }
    let unnamed = event.class == Class::Pay && counterparty(page, event).is_none();
    if unnamed && page.tails.is_empty() {
        return Some(Nothing::Receipt);
    }
    if unnamed && alone && page.beside(event.at, Class::Lure) {
        return Some(Nothing::Promotion);
    }
    if unnamed && alone {
        doubts.push(Doubt::Done);
    }
    None
}

fn is_to_come(page: &Page, events: &[Event], event: &Event) -> bool {
    let alone = event.weight == Weight::Noun;
    let beside = |class| page.beside(event.at, class);
    let arranged = page.of(Class::Arranged).any(|mark| {
        page.sentence(mark.tokens.start) == page.sentence(event.at)
            && !matches!(page.cut.low(mark.tokens.start), "approved" | "authorised" | "authorized")
    });
    let ordered = page.has(Class::Mandate) && (page.has(Class::Arranged) || alone && !is_taken(page, event));
    let coded = page.of(Class::Otp).any(|otp| !page.beside(otp.tokens.start, Class::Share));
    [Class::Pending, Class::Hold, Class::Future].into_iter().any(beside)
        || (alone && beside(Class::Due))
        || arranged
        || ordered
        || coded
        || page.has(Class::Request)
        || events.iter().any(|event| event.state == State::Future)
}

/// "NACH debit of Rs 500 from a/c XX12 … Bal 1,234": the balance behind it says that it went.
fn is_taken(page: &Page, event: &Event) -> bool {
    let left =
        page.amounts.iter().any(|amount| amount.role == Role::Balance && amount.tokens.start > event.at);
    event.class == Class::Debit && left && !page.tails.is_empty() && !page.has(Class::Due)
}

/// "Convert your purchase of Rs 24,999".
fn is_offered(page: &Page, event: &Event) -> bool {
    page.of(Class::Lure).any(|lure| {
        lure.tokens.start < event.at && page.sentence(lure.tokens.start) == page.sentence(event.at)
    })
}

/// "We have received your payment", "EMI received for your loan": whoever was paid says thanks. On a card it makes the
/// debt less, and is a credit there.
fn is_receipt(page: &Page, event: &Event) -> bool {
    if event.class != Class::Received || page.has(Class::Card) {
        return false;
    }
    let before = |back: usize| event.at.checked_sub(back).map_or("", |at| page.cut.low(at));
    let thanked = (1..=3).any(|back| before(back) == "we");
    let with_thanks = page.cut.low(event.end) == "with" && page.cut.low(event.end + 1).starts_with("thank");
    let yours = (event.end..event.end + 3).any(|at| page.is(at, Class::Own))
        && (event.end..event.end + 4).any(|at| page.is(at, Class::Pay));
    let from_you =
        (event.end..page.len()).any(|at| page.is(at, Class::From) && page.cut.low(at + 1) == "you");
    let banked = (page.has(Class::Account) || page.has(Class::Wallet)) && !page.tails.is_empty();
    let begins = event.at == 0
        || page.sentence(event.at - 1) != page.sentence(event.at)
        || page.cut.is_sign(event.at - 1, ':');
    let told_you = (1..=3).any(|back| before(back) == "you");
    let nobody = !told_you && !begins && !page.has(Class::Wallet) && payer(page, event).is_none();
    let sentence = page.sentence(event.at);
    // "Received against your electricity a/c": that account is with whoever was paid.
    let against = (event.end..page.len()).take_while(|at| page.sentence(*at) == sentence).any(|at| {
        let led = page.is(at, Class::Towards) || page.cut.low(at) == "against";
        led && page.is(at + 1, Class::Own)
    });
    let titled = (0..page.len()).any(|at| page.cut.low(at) == "receipt");
    against
        || page.beside(event.at, Class::Loan)
        || (titled && !banked)
        || ((thanked || with_thanks || yours || from_you || nobody) && !banked)
}
