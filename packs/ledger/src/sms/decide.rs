//! From what a message says to what it means.

use std::cmp::Ordering;

use munshi_types::Money;

use super::counterparty::counterparty;
use super::events::{Event, Weight, events};
use super::lexicon::Class;
use super::nothing::{has_code, is_request, reason, wants_pin};
use super::nouns::implied;
use super::own;
use super::page::{Amount, Page, Role};
use super::purse::purse;
use super::reading::{Certainty, Currency, Direction, Doubt, Nothing, Payment, Reading, Sms};
use super::sender::{self, Origin};
use super::state::State;
use super::veto::veto;

pub(crate) fn decide(page: &Page, sms: &Sms<'_>) -> Reading {
    if has_code(page) {
        return Reading::Nothing(Nothing::Otp);
    }
    let events = events(page);
    let done: Vec<&Event> = events.iter().filter(|event| event.state == State::Done).collect();
    if wants_pin(page) || is_request(page, &done) {
        return Reading::Nothing(Nothing::Request);
    }
    let origin = sender::origin(sms.sender);
    let mut doubts = Vec::new();
    let told = choose(page, &done, &mut doubts);
    let verbless = told.is_none() && events.iter().all(|event| event.amount.is_none());
    let implied = if verbless { implied(page) } else { None };
    doubts.extend(implied.as_ref().map(|_| Doubt::Implied));
    let chosen =
        told.or_else(|| implied.as_ref().and_then(|event| event.amount.map(|amount| (event, amount))));
    let Some((event, amount)) = chosen else { return Reading::Nothing(reason(page, &events)) };
    if let Some(nothing) = veto(page, &events, event, origin, &mut doubts) {
        return Reading::Nothing(nothing);
    }
    Reading::Payment(Box::new(payment(page, sms, event, amount, origin, doubts)))
}

/// The event that counts, and the amount that moved by it.
fn choose<'e>(page: &Page, done: &[&'e Event], doubts: &mut Vec<Doubt>) -> Option<(&'e Event, usize)> {
    let best = |direction: Direction| {
        let of = done.iter().copied().filter(|event| event.direction == direction);
        let mut of: Vec<&Event> = of.collect();
        of.sort_by_key(|event| (rank(page, done, event), std::cmp::Reverse(event.weight), event.at));
        of.into_iter().next()
    };
    let event = match (best(Direction::Debit), best(Direction::Credit)) {
        (Some(debit), Some(credit)) => match rank(page, done, debit).cmp(&rank(page, done, credit)) {
            Ordering::Less if rank(page, done, credit) >= FEE => debit,
            Ordering::Greater if rank(page, done, debit) >= FEE => credit,
            _ => between(page, debit, credit, doubts),
        },
        (one, other) => one.or(other)?,
    };
    let amount = event.amount.or_else(|| elsewhere(page, event))?;
    if is_one_of_many(page, done, event, amount) {
        doubts.push(Doubt::Amount);
    }
    Some((event, amount))
}

/// How likely it is that an event is what the message tells, by its amount; less is better.
fn rank(page: &Page, done: &[&Event], event: &Event) -> usize {
    let role = |event: &Event| event.amount.map(|amount| page.amounts[amount].role);
    let strong = event.weight == Weight::Strong;
    // A cheque that came back brings nothing, though it was deposited.
    let lost =
        event.direction == Direction::Credit && event.class == Class::Credited && page.has(Class::Cheque);
    let void = (event.weight <= Weight::Made || lost) && page.beside(event.at, Class::Failed);
    // "Charges Rs 6 debited for transfer of Rs 40,000".
    let charged = |other: &&Event| {
        role(other) == Some(Role::Fee)
            && other.weight == Weight::Strong
            && page.sentence(other.at) == page.sentence(event.at)
    };
    let void = void || (event.weight == Weight::Noun && done.iter().copied().any(|other| charged(&other)));
    match role(event) {
        Some(Role::Fee) => FEE,
        None if strong => FEE + 1,
        Some(_) if void => FEE + 2,
        None => FEE + 3,
        Some(_) => 0,
    }
}

/// The rank of a fee beside something else.
const FEE: usize = 1;

/// Other amounts moved too, or could be the one.
fn is_one_of_many(page: &Page, done: &[&Event], event: &Event, amount: usize) -> bool {
    let chosen = &page.amounts[amount];
    let sentence = page.sentence(chosen.tokens.start);
    let same_sentence = |other: &&Amount| page.sentence(other.tokens.start) == sentence;
    let differs = |other: &&Amount| other.role == Role::Moved && other.money != chosen.money;
    let mut rivals = page.amounts.iter().filter(differs).filter(same_sentence).peekable();
    let vague = rivals.peek().is_some() && !is_beside(page, event, amount);
    let listed = rivals.any(|rival| is_joined(page, rival) || is_joined(page, chosen));
    // Another sentence tells of another payment, or of a charge of its own beside what came.
    let told = done.iter().filter(|other| other.weight >= Weight::Weak).any(|other| {
        let Some(theirs) = other.amount.map(|number| &page.amounts[number]) else { return false };
        let fee = theirs.role == Role::Fee
            && event.direction == Direction::Credit
            && other.direction == Direction::Debit
            && page.cut.low(other.at) != "deducted";
        theirs.money != chosen.money
            && (fee || theirs.role == Role::Moved && page.sentence(theirs.tokens.start) != sentence)
    });
    vague || listed || told
}

/// "… and Rs 450 at": it goes on with a list.
fn is_joined(page: &Page, amount: &Amount) -> bool {
    let before = amount.tokens.start.checked_sub(1);
    let joined = before.is_some_and(|at| matches!(page.cut.low(at), "and" | "," | "&" | "+"));
    let led = (amount.tokens.end..amount.tokens.end + 2).any(|at| {
        matches!(page.class(at), Some(Class::At | Class::To | Class::From))
            || page.class(at).is_some_and(Class::is_act)
    });
    joined && led
}

fn is_beside(page: &Page, event: &Event, amount: usize) -> bool {
    let tokens = &page.amounts[amount].tokens;
    let (from, to) =
        if tokens.start >= event.end { (event.end, tokens.start) } else { (tokens.end, event.at) };
    to.saturating_sub(from) <= 3
}

/// "Your a/c is debited. Amount: Rs 500": the only amount of another sentence.
fn elsewhere(page: &Page, event: &Event) -> Option<usize> {
    if event.weight != Weight::Strong {
        return None;
    }
    let mut moved = page.amounts.iter().enumerate().filter(|(_, amount)| amount.role == Role::Moved);
    let first = moved.next()?;
    let counts_other = (0..event.at)
        .any(|at| page.sentence(at) == page.sentence(event.at) && page.is_free(at) && page.cut.is_number(at));
    if counts_other {
        return None;
    }
    let near = page.sentence(first.1.tokens.start).abs_diff(page.sentence(event.at)) <= 2;
    (near && moved.next().is_none()).then_some(first.0)
}

/// Money both went and came: whose account is it said of?
fn between<'e>(page: &Page, debit: &'e Event, credit: &'e Event, doubts: &mut Vec<Doubt>) -> &'e Event {
    let back = credit.class == Class::Refunded
        || page.beside(credit.at, Class::Refund)
        || page.beside(credit.at, Class::Refunded)
        || page.cut.low(credit.end) == "back";
    if back && credit.weight >= Weight::Weak {
        // Both in one breath: whether the books have the debit, the owner knows.
        if debit.weight == Weight::Strong && page.sentence(debit.at) == page.sentence(credit.at) {
            doubts.push(Doubt::Failed);
        }
        return credit;
    }
    if debit.weight <= Weight::Made && credit.weight >= Weight::Weak {
        return credit;
    }
    if credit.weight <= Weight::Made && debit.weight >= Weight::Weak {
        return debit;
    }
    let to_owner = page.is(credit.end, Class::To) && page.is(credit.end + 1, Class::Own)
        || page.is(credit.end, Class::Own)
        || credit.class == Class::Received;
    match (debit.weight, credit.weight) {
        (Weight::Strong, Weight::Strong) if to_owner && !debit.is_own => credit,
        (Weight::Strong, Weight::Strong)
            if to_owner && debit.is_own && page.sentence(debit.at) == page.sentence(credit.at) =>
        {
            doubts.push(Doubt::Direction);
            debit
        }
        (Weight::Strong, _) => debit,
        (_, Weight::Strong) if to_owner || (credit.is_own && !debit.is_own) => credit,
        (_, Weight::Strong) => debit,
        _ if credit.at < debit.at => credit,
        _ => debit,
    }
}

fn payment(
    page: &Page,
    sms: &Sms<'_>,
    event: &Event,
    amount: usize,
    origin: Origin,
    mut doubts: Vec<Doubt>,
) -> Payment {
    let moved = &page.amounts[amount];
    let account = own::account(page, event);
    let counterparty = counterparty(page, event);
    let reference = reference(page);
    if origin == Origin::Person {
        doubts.push(Doubt::Person);
    }
    if moved.is_bare {
        doubts.push(Doubt::Bare);
    }
    if moved.currency != Currency::INR {
        doubts.push(Doubt::Foreign);
    }
    if account.is_none() && reference.is_none() {
        doubts.extend(vagueness(page, event, counterparty.as_deref()));
    }
    let amount = size(moved.money, &mut doubts);
    let certainty = doubts.iter().map(|doubt| doubt.leaves()).min().unwrap_or(Certainty::Sure);
    let balance =
        page.amounts.iter().find(|amount| amount.role == Role::Balance && amount.currency == Currency::INR);
    Payment {
        purse: purse(page, event, counterparty.as_deref()),
        direction: event.direction,
        amount,
        currency: moved.currency,
        account,
        counterparty,
        reference,
        balance: balance.map(|amount| amount.money),
        date: page.date,
        time: page.time,
        bank: sender::bank(sms.sender),
        certainty,
        doubts,
        said: page.cut.text(event.at..event.end).to_owned(),
    }
}

/// How much moved. A minus may only say that it went, or turn the way round.
fn size(moved: Money, doubts: &mut Vec<Doubt>) -> Money {
    if moved.is_negative() {
        doubts.push(Doubt::Direction);
    }
    Money::from_paise(moved.as_paise().saturating_abs())
}

/// What neither account nor reference vouches for.
fn vagueness(page: &Page, event: &Event, counterparty: Option<&str>) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let weak = event.weight <= Weight::Weak && !page.has(Class::Wallet) && page.amounts.len() == 1;
    if counterparty.is_none() || weak {
        doubts.push(Doubt::Vague);
    }
    if event.weight == Weight::Weak && page.of(Class::Lure).count() > 1 {
        doubts.push(Doubt::Lure);
    }
    doubts
}

/// The number of a mandate stays the same with every payment, so it is taken only where there is no other.
fn reference(page: &Page) -> Option<String> {
    let is_mandate = |start: usize| {
        (1..=3)
            .filter_map(|back| start.checked_sub(back))
            .any(|at| matches!(page.cut.low(at), "umrn" | "umn"))
    };
    let found = page.references.iter().find(|reference| !is_mandate(reference.tokens.start));
    found.map(|reference| reference.value.clone())
}
