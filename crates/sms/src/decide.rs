//! From what a message says to what it means.

use std::cmp::Ordering;

use munshi_types::Money;

use super::account_owner;
use super::counterparty::counterparty;
use super::disqualify::find_disqualification;
use super::events::{SmsEvent, SmsEventStrength, events};
use super::lexicon::SmsWordClass;
use super::non_payment::{has_code, is_request, reason, wants_pin};
use super::nouns::find_implied_event;
use super::own_transfers::find_own_transfer;
use super::parsed_message::{AmountRole, ParsedSms, SmsAmount};
use super::reading::{
    Currency, NonPaymentReason, Payment, PaymentCertainty, PaymentDirection, PaymentDoubt, Sms, SmsReading,
};
use super::sender::{self, SmsSenderKind};
use super::state::SmsEventState;

pub(crate) fn decide(page: &ParsedSms, sms: &Sms<'_>) -> SmsReading {
    if has_code(page) {
        return SmsReading::Nothing(NonPaymentReason::Otp);
    }
    let events = events(page);
    let done: Vec<&SmsEvent> = events.iter().filter(|event| event.state == SmsEventState::Done).collect();
    if wants_pin(page) || is_request(page, &done) {
        return SmsReading::Nothing(NonPaymentReason::Request);
    }
    let origin = sender::classify(sms.sender);
    let mut doubts = Vec::new();
    let told = choose(page, &done, &mut doubts);
    let verbless = told.is_none() && events.iter().all(|event| event.amount.is_none());
    let implied = if verbless { find_implied_event(page) } else { None };
    doubts.extend(implied.as_ref().map(|_| PaymentDoubt::Implied));
    let chosen =
        told.or_else(|| implied.as_ref().and_then(|event| event.amount.map(|amount| (event, amount))));
    let Some((event, amount)) = chosen else { return SmsReading::Nothing(reason(page, &events)) };
    if let Some(nothing) = find_disqualification(page, &events, event, origin, &mut doubts) {
        return SmsReading::Nothing(nothing);
    }
    SmsReading::Payment(Box::new(payment(page, sms, event, amount, origin, doubts)))
}

/// The event that counts, and the amount that moved by it.
fn choose<'e>(
    page: &ParsedSms,
    done: &[&'e SmsEvent],
    doubts: &mut Vec<PaymentDoubt>,
) -> Option<(&'e SmsEvent, usize)> {
    let best = |direction: PaymentDirection| {
        let of = done.iter().copied().filter(|event| event.direction == direction);
        let mut of: Vec<&SmsEvent> = of.collect();
        of.sort_by_key(|event| (rank(page, done, event), std::cmp::Reverse(event.weight), event.at));
        of.into_iter().next()
    };
    let event = match (best(PaymentDirection::Debit), best(PaymentDirection::Credit)) {
        (Some(debit), Some(credit)) => match rank(page, done, debit).cmp(&rank(page, done, credit)) {
            Ordering::Less if rank(page, done, credit) >= FEE => debit,
            Ordering::Greater if rank(page, done, debit) >= FEE => credit,
            _ => choose_between(page, debit, credit, doubts),
        },
        (one, other) => one.or(other)?,
    };
    let amount = event.amount.or_else(|| find_amount_elsewhere(page, event))?;
    if is_one_of_many(page, done, event, amount) {
        doubts.push(PaymentDoubt::Amount);
    }
    Some((event, amount))
}

/// How likely it is that an event is what the message tells, by its amount; less is better.
fn rank(page: &ParsedSms, done: &[&SmsEvent], event: &SmsEvent) -> usize {
    let role = |event: &SmsEvent| event.amount.map(|amount| page.amounts[amount].role);
    let strong = event.weight == SmsEventStrength::Strong;
    // A cheque that came back brings nothing, though it was deposited.
    let lost = event.direction == PaymentDirection::Credit
        && event.class == SmsWordClass::Credited
        && page.has(SmsWordClass::Cheque);
    let void = (event.weight <= SmsEventStrength::Made || lost)
        && page.has_in_sentence(event.at, SmsWordClass::Failed);
    // "Charges Rs 6 debited for transfer of Rs 40,000".
    let charged = |other: &&SmsEvent| {
        role(other) == Some(AmountRole::Fee)
            && other.weight == SmsEventStrength::Strong
            && page.sentence(other.at) == page.sentence(event.at)
    };
    let void =
        void || (event.weight == SmsEventStrength::Noun && done.iter().copied().any(|other| charged(&other)));
    match role(event) {
        Some(AmountRole::Fee) => FEE,
        None if strong => FEE + 1,
        Some(_) if void => FEE + 2,
        None => FEE + 3,
        Some(_) => 0,
    }
}

/// The rank of a fee beside something else.
const FEE: usize = 1;

/// Other amounts moved too, or could be the one.
fn is_one_of_many(page: &ParsedSms, done: &[&SmsEvent], event: &SmsEvent, amount: usize) -> bool {
    let chosen = &page.amounts[amount];
    let sentence = page.sentence(chosen.tokens.start);
    let same_sentence = |other: &&SmsAmount| page.sentence(other.tokens.start) == sentence;
    let differs = |other: &&SmsAmount| other.role == AmountRole::Moved && other.money != chosen.money;
    let mut rivals = page.amounts.iter().filter(differs).filter(same_sentence).peekable();
    let vague = rivals.peek().is_some() && !is_near_event(page, event, amount);
    let listed = rivals.any(|rival| is_joined(page, rival) || is_joined(page, chosen));
    // Another sentence tells of another payment, or of a charge of its own beside what came.
    let told = done.iter().filter(|other| other.weight >= SmsEventStrength::Weak).any(|other| {
        let Some(theirs) = other.amount.map(|number| &page.amounts[number]) else { return false };
        let fee = theirs.role == AmountRole::Fee
            && event.direction == PaymentDirection::Credit
            && other.direction == PaymentDirection::Debit
            && page.cut.lowercase(other.at) != "deducted";
        theirs.money != chosen.money
            && (fee || theirs.role == AmountRole::Moved && page.sentence(theirs.tokens.start) != sentence)
    });
    vague || listed || told
}

/// "… and Rs 450 at": it goes on with a list.
fn is_joined(page: &ParsedSms, amount: &SmsAmount) -> bool {
    let before = amount.tokens.start.checked_sub(1);
    let joined = before.is_some_and(|at| matches!(page.cut.lowercase(at), "and" | "," | "&" | "+"));
    let led = (amount.tokens.end..amount.tokens.end + 2).any(|at| {
        matches!(page.class(at), Some(SmsWordClass::At | SmsWordClass::To | SmsWordClass::From))
            || page.class(at).is_some_and(SmsWordClass::is_act)
    });
    joined && led
}

fn is_near_event(page: &ParsedSms, event: &SmsEvent, amount: usize) -> bool {
    let tokens = &page.amounts[amount].tokens;
    let (from, to) =
        if tokens.start >= event.end { (event.end, tokens.start) } else { (tokens.end, event.at) };
    to.saturating_sub(from) <= 3
}

/// "Your a/c is debited. Amount: Rs 500": the only amount of another sentence.
fn find_amount_elsewhere(page: &ParsedSms, event: &SmsEvent) -> Option<usize> {
    if event.weight != SmsEventStrength::Strong {
        return None;
    }
    let mut moved = page.amounts.iter().enumerate().filter(|(_, amount)| amount.role == AmountRole::Moved);
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
fn choose_between<'e>(
    page: &ParsedSms,
    debit: &'e SmsEvent,
    credit: &'e SmsEvent,
    doubts: &mut Vec<PaymentDoubt>,
) -> &'e SmsEvent {
    let back = credit.class == SmsWordClass::Refunded
        || page.has_in_sentence(credit.at, SmsWordClass::Refund)
        || page.has_in_sentence(credit.at, SmsWordClass::Refunded)
        || page.cut.lowercase(credit.end) == "back";
    if back && credit.weight >= SmsEventStrength::Weak {
        // Both in one breath: whether the books have the debit, the owner knows.
        if debit.weight == SmsEventStrength::Strong && page.sentence(debit.at) == page.sentence(credit.at) {
            doubts.push(PaymentDoubt::Failed);
        }
        return credit;
    }
    if debit.weight <= SmsEventStrength::Made && credit.weight >= SmsEventStrength::Weak {
        return credit;
    }
    if credit.weight <= SmsEventStrength::Made && debit.weight >= SmsEventStrength::Weak {
        return debit;
    }
    let to_owner = page.is_class(credit.end, SmsWordClass::To)
        && page.is_class(credit.end + 1, SmsWordClass::Own)
        || page.is_class(credit.end, SmsWordClass::Own)
        || credit.class == SmsWordClass::Received;
    match (debit.weight, credit.weight) {
        (SmsEventStrength::Strong, SmsEventStrength::Strong) if to_owner && !debit.is_own => credit,
        (SmsEventStrength::Strong, SmsEventStrength::Strong)
            if to_owner && debit.is_own && page.sentence(debit.at) == page.sentence(credit.at) =>
        {
            doubts.push(PaymentDoubt::Direction);
            debit
        }
        (SmsEventStrength::Strong, _) => debit,
        (_, SmsEventStrength::Strong) if to_owner || (credit.is_own && !debit.is_own) => credit,
        (_, SmsEventStrength::Strong) => debit,
        _ if credit.at < debit.at => credit,
        _ => debit,
    }
}

fn payment(
    page: &ParsedSms,
    sms: &Sms<'_>,
    event: &SmsEvent,
    amount: usize,
    origin: SmsSenderKind,
    mut doubts: Vec<PaymentDoubt>,
) -> Payment {
    let moved = &page.amounts[amount];
    let account = account_owner::find_own(page, event);
    let counterparty = counterparty(page, event);
    let reference = reference(page);
    if origin == SmsSenderKind::Person {
        doubts.push(PaymentDoubt::Person);
    }
    if moved.is_bare {
        doubts.push(PaymentDoubt::Bare);
    }
    if moved.currency != Currency::INR {
        doubts.push(PaymentDoubt::Foreign);
    }
    if account.is_none() && reference.is_none() {
        doubts.extend(vagueness(page, event, counterparty.as_deref()));
    }
    let amount = absolute_amount(moved.money, &mut doubts);
    let certainty = doubts.iter().map(|doubt| doubt.certainty()).min().unwrap_or(PaymentCertainty::Sure);
    let balance = page
        .amounts
        .iter()
        .find(|amount| amount.role == AmountRole::Balance && amount.currency == Currency::INR);
    Payment {
        purse: find_own_transfer(page, event, counterparty.as_deref()),
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
fn absolute_amount(moved: Money, doubts: &mut Vec<PaymentDoubt>) -> Money {
    if moved.is_negative() {
        doubts.push(PaymentDoubt::Direction);
    }
    Money::from_paise(moved.as_paise().saturating_abs())
}

/// What neither account nor reference vouches for.
fn vagueness(page: &ParsedSms, event: &SmsEvent, counterparty: Option<&str>) -> Vec<PaymentDoubt> {
    let mut doubts = Vec::new();
    let weak =
        event.weight <= SmsEventStrength::Weak && !page.has(SmsWordClass::Wallet) && page.amounts.len() == 1;
    if counterparty.is_none() || weak {
        doubts.push(PaymentDoubt::Vague);
    }
    if event.weight == SmsEventStrength::Weak && page.matches_of(SmsWordClass::Lure).count() > 1 {
        doubts.push(PaymentDoubt::Lure);
    }
    doubts
}

/// The number of a mandate stays the same with every payment, so it is taken only where there is no other.
fn reference(page: &ParsedSms) -> Option<String> {
    let is_mandate = |start: usize| {
        (1..=3)
            .filter_map(|back| start.checked_sub(back))
            .any(|at| matches!(page.cut.lowercase(at), "umrn" | "umn"))
    };
    let found = page.references.iter().find(|reference| !is_mandate(reference.tokens.start));
    found.map(|reference| reference.value.clone())
}
