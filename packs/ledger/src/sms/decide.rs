//! From what a message says to what it means.

use super::counterparty::{counterparty, payer};
use super::events::{Event, State, Weight, events, implied};
use super::lexicon::Class;
use super::nothing::{has_code, is_request, reason};
use super::own;
use super::page::{Page, Role, Use};
use super::reading::{Certainty, Currency, Direction, Doubt, Nothing, Payment, Reading, Sms};
use super::sender::{self, Origin};

pub(crate) fn decide(page: &Page, sms: &Sms<'_>) -> Reading {
    if has_code(page) {
        return Reading::Nothing(Nothing::Otp);
    }
    let events = events(page);
    let done: Vec<&Event> = events.iter().filter(|event| event.state == State::Done).collect();
    if is_request(page, &done) {
        return Reading::Nothing(Nothing::Request);
    }
    let origin = sender::origin(sms.sender);
    let mut doubts = Vec::new();
    let implied = if events.iter().any(|event| event.amount.is_some()) { None } else { implied(page) };
    let chosen = match &implied {
        Some(event) => event.amount.map(|amount| (event, amount)),
        None => choose(page, &done, &mut doubts),
    };
    doubts.extend(implied.as_ref().map(|_| Doubt::Implied));
    let Some((event, amount)) = chosen else { return Reading::Nothing(reason(page, &events)) };
    if let Some(nothing) = veto(page, &events, event, origin, &mut doubts) {
        return Reading::Nothing(nothing);
    }
    Reading::Payment(Box::new(payment(page, sms, event, amount, origin, doubts)))
}

/// The event that counts, and the amount that moved by it.
fn choose<'e>(page: &Page, done: &[&'e Event], doubts: &mut Vec<Doubt>) -> Option<(&'e Event, usize)> {
    let with_amount = |event: &&Event| event.amount.is_some();
    let best = |direction: Direction| {
        let of = done.iter().copied().filter(|event| event.direction == direction);
        let mut of: Vec<&Event> = of.collect();
        of.sort_by_key(|event| (!with_amount(event), std::cmp::Reverse(event.weight), event.at));
        of.into_iter().next()
    };
    let event = match (best(Direction::Debit), best(Direction::Credit)) {
        (Some(debit), Some(credit)) => between(page, debit, credit, doubts),
        (one, other) => one.or(other)?,
    };
    let amount = event.amount.or_else(|| elsewhere(page, event))?;
    let value = page.amounts[amount].money;
    let sentence = page.sentence(page.amounts[amount].tokens.start);
    let rivals = page.amounts.iter().filter(|other| {
        other.role == Role::Moved && other.money != value && page.sentence(other.tokens.start) == sentence
    });
    if rivals.count() > 0 && !is_beside(page, event, amount) {
        doubts.push(Doubt::Amount);
    }
    Some((event, amount))
}

fn is_beside(page: &Page, event: &Event, amount: usize) -> bool {
    let tokens = &page.amounts[amount].tokens;
    let (from, to) = if tokens.start >= event.end { (event.end, tokens.start) } else { (tokens.end, event.at) };
    to.saturating_sub(from) <= 3
}

/// "Your a/c is debited. Amount: Rs 500": the only amount of another sentence.
fn elsewhere(page: &Page, event: &Event) -> Option<usize> {
    if event.weight != Weight::Strong {
        return None;
    }
    let mut moved = page.amounts.iter().enumerate().filter(|(_, amount)| amount.role == Role::Moved);
    let first = moved.next()?;
    let counts_other = (0..event.at).any(|at| {
        page.sentence(at) == page.sentence(event.at) && page.is_free(at) && page.cut.is_number(at)
    });
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
        (Weight::Strong, Weight::Strong) if to_owner && debit.is_own && page.sentence(debit.at) == page.sentence(credit.at) => {
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

/// What makes nothing of what seems done.
fn veto(page: &Page, events: &[Event], event: &Event, origin: Origin, doubts: &mut Vec<Doubt>) -> Option<Nothing> {
    let balance = page.amounts.iter().any(|amount| amount.role == Role::Balance);
    let evidence = !page.tails.is_empty() || !page.references.is_empty() || balance;
    let lures = page.of(Class::Lure).count() + page.of(Class::Threshold).count();
    let linked = page.uses.contains(&Use::Link);
    let promotes = origin == (Origin::Business { promotes: true });
    let strong = event.weight == Weight::Strong;
    let round = event.amount.is_some_and(|amount| page.amounts[amount].is_round);
    if page.has(Class::Failed) && event.class != Class::Refunded && event.direction == Direction::Debit {
        let fee = page.beside(event.at, Class::Fee);
        if !strong {
            return Some(Nothing::Declined);
        }
        if !fee {
            doubts.push(Doubt::Failed);
        }
    }
    if page.has(Class::Failed) && event.direction == Direction::Credit && event.weight <= Weight::Weak && event.class != Class::Refunded {
        return Some(Nothing::Declined);
    }
    if page.is_disguised {
        return Some(Nothing::Promotion);
    }
    if is_receipt(page, event) {
        return Some(Nothing::Receipt);
    }
    if !evidence && (page.has(Class::Warning) || origin == Origin::Person) {
        return Some(Nothing::Warning);
    }
    // Nobody who gives money without naming an account needs a click for it.
    let gift = event.direction == Direction::Credit && linked;
    if !evidence && (gift || lures + usize::from(linked) + usize::from(round) + usize::from(promotes) * 2 >= 3) {
        return Some(if page.has(Class::Loan) { Nothing::Loan } else { Nothing::Promotion });
    }
    let only_begun = event.direction == Direction::Credit || !strong;
    if only_begun && page.beside(event.at, Class::Pending) && page.cut.low(event.at) != "credited" {
        return Some(Nothing::Pending);
    }
    let account = page.has(Class::Account) || page.has(Class::Card);
    if page.has(Class::Investment) && !(strong && account && !page.tails.is_empty()) {
        return Some(Nothing::Investment);
    }
    if event.weight <= Weight::Made {
        return noun_veto(page, events, event, doubts);
    }
    let anchored = evidence || page.has(Class::Wallet) || event.class == Class::Added || !page.vpas.is_empty() || counterparty(page, event).is_some();
    if !strong && !anchored {
        return Some(Nothing::Receipt);
    }
    None
}

/// A noun tells of a payment only where nothing says that it is still to come.
fn noun_veto(page: &Page, events: &[Event], event: &Event, doubts: &mut Vec<Doubt>) -> Option<Nothing> {
    let beside = |class| page.beside(event.at, class);
    let future = events.iter().any(|event| event.state == State::Future);
    let stopped = beside(Class::Due) && event.weight == Weight::Noun
        || beside(Class::Pending)
        || beside(Class::Hold)
        || beside(Class::Future)
        || (page.has(Class::Mandate) && (page.has(Class::Arranged) || event.weight == Weight::Noun))
        || page.has(Class::Request)
        || (page.has(Class::Otp) && !page.of(Class::Otp).all(|otp| page.beside(otp.tokens.start, Class::Share)))
        || future;
    let offered = event.weight == Weight::Noun
        && page.of(Class::Lure).any(|lure| {
            lure.tokens.start < event.at && page.sentence(lure.tokens.start) == page.sentence(event.at)
        });
    if stopped || offered || (event.class == Class::Refund && event.weight == Weight::Noun) {
        return Some(reason(page, events));
    }
    let card = page.has(Class::Card) || page.has(Class::Account) || page.has(Class::Wallet);
    if event.weight == Weight::Noun && !(card && !page.tails.is_empty()) {
        return Some(reason(page, events));
    }
    if event.class == Class::Pay && page.tails.is_empty() && page.references.is_empty() && counterparty(page, event).is_none() {
        return Some(Nothing::Receipt);
    }
    if event.weight == Weight::Noun && event.class == Class::Pay && counterparty(page, event).is_none() {
        doubts.push(Doubt::Done);
    }
    None
}

fn payment(page: &Page, sms: &Sms<'_>, event: &Event, amount: usize, origin: Origin, mut doubts: Vec<Doubt>) -> Payment {
    let moved = &page.amounts[amount];
    let account = own::account(page, event);
    let counterparty = counterparty(page, event);
    let reference = reference(page);
    let rules = [
        (moved.is_bare, Doubt::Bare),
        (moved.currency != Currency::INR, Doubt::Foreign),
        (origin == Origin::Person, Doubt::Person),
        (account.is_none() && reference.is_none() && counterparty.is_none(), Doubt::Vague),
        (event.weight == Weight::Weak && account.is_none() && reference.is_none() && page.of(Class::Lure).count() > 1, Doubt::Lure),
    ];
    doubts.extend(rules.into_iter().filter(|(holds, _)| *holds).map(|(_, doubt)| doubt));
    let certainty = doubts.iter().map(|doubt| doubt.leaves()).min().unwrap_or(Certainty::Sure);
    let balance = page.amounts.iter().find(|amount| amount.role == Role::Balance && amount.currency == Currency::INR);
    Payment {
        direction: event.direction,
        amount: moved.money,
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

/// The number of a mandate stays the same with every payment, so it is taken only where there is no other.
fn reference(page: &Page) -> Option<String> {
    let is_mandate = |start: usize| (1..=3).filter_map(|back| start.checked_sub(back)).any(|at| matches!(page.cut.low(at), "umrn" | "umn"));
    let found = page.references.iter().find(|reference| !is_mandate(reference.tokens.start));
    found.map(|reference| reference.value.clone())
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
    let from_you = (event.end..page.len()).any(|at| page.is(at, Class::From) && page.cut.low(at + 1) == "you");
    let banked = (page.has(Class::Account) || page.has(Class::Wallet)) && !page.tails.is_empty();
    let begins = event.at == 0 || page.sentence(event.at - 1) != page.sentence(event.at) || page.cut.is_sign(event.at - 1, ':');
    let told_you = (1..=3).any(|back| before(back) == "you");
    let nobody = !told_you && !begins && !page.has(Class::Wallet) && payer(page, event).is_none();
    page.beside(event.at, Class::Loan) || ((thanked || with_thanks || yours || from_you || nobody) && !banked)
}
