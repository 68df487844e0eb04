//! Which part each amount has: by its neighbours, never by its place among the amounts.

use super::lexicon::SmsWordClass;
use super::parsed_message::{AmountRole, ParsedSms, SmsTokenUse};
use super::tokens::SmsTokenKind;

/// How far a word like "balance" reaches: "Avl bal in SBI A/c XX1234 as on 12-03-25 18:20 is INR 5".
const REACH: usize = 18;

pub(crate) fn assign(page: &mut ParsedSms) {
    let roles: Vec<AmountRole> = (0..page.amounts.len()).map(|number| role(page, number)).collect();
    for (amount, role) in page.amounts.iter_mut().zip(roles) {
        amount.role = role;
    }
    // Nothing has moved by nothing.
    for amount in page.amounts.iter_mut() {
        if amount.money.as_paise() == 0 && !matches!(amount.role, AmountRole::Balance | AmountRole::Limit) {
            amount.role = AmountRole::Spoken;
        }
    }
    exclude_totals(page);
    // A fee that stands alone is what was taken, a cashback what came.
    if page.amounts.iter().all(|amount| amount.role != AmountRole::Moved) {
        for amount in page.amounts.iter_mut().filter(|amount| amount.role == AmountRole::Fee) {
            amount.role = AmountRole::Moved;
        }
    }
}

/// "Rs 60 received. Total today Rs 1,860": a sum of many, beside what came now.
fn exclude_totals(page: &mut ParsedSms) {
    let is_total = |start: usize| {
        let words = (1..=6).filter_map(|back| start.checked_sub(back));
        let near: Vec<&str> = words
            .take_while(|at| {
                page.sentence(*at) == page.sentence(start) && page.token_use(*at) != SmsTokenUse::Amount
            })
            .map(|at| page.cut.lowercase(at))
            .collect();
        let sum =
            near.iter().any(|word| matches!(*word, "total" | "collection" | "collections" | "collected"));
        let span = near
            .iter()
            .any(|word| matches!(*word, "today" | "day" | "week" | "month" | "far" | "collection"));
        (sum && span) || near.contains(&"gross")
    };
    let totals: Vec<bool> = page.amounts.iter().map(|amount| is_total(amount.tokens.start)).collect();
    let others =
        page.amounts.iter().zip(&totals).any(|(amount, total)| amount.role == AmountRole::Moved && !total);
    for (amount, total) in page.amounts.iter_mut().zip(totals).filter(|(_, total)| *total && others) {
        amount.role = if total { AmountRole::Spoken } else { amount.role };
    }
}

/// "Limit of Rs 500".
fn is_joined_by_of(page: &ParsedSms, start: usize, distance: usize) -> bool {
    distance == 2 && start.checked_sub(1).is_some_and(|at| page.is_class(at, SmsWordClass::Of))
}

/// "Interest of Rs 214 credited": what comes is no fee.
fn is_credited(page: &ParsedSms, end: usize) -> bool {
    let sentence = page.sentence(end.saturating_sub(1));
    let mut words = (end..end + 4).take_while(|at| page.sentence(*at) == sentence && page.is_free(*at));
    let act = words.find_map(|at| page.class(at).filter(|class| class.is_act()));
    matches!(act, Some(SmsWordClass::Credited | SmsWordClass::Refunded | SmsWordClass::Received))
}

fn role(page: &ParsedSms, number: usize) -> AmountRole {
    let tokens = page.amounts[number].tokens.clone();
    let (left, distance) = find_left_class(page, tokens.start);
    let near = distance <= 3;
    match left {
        Some(SmsWordClass::Balance) if distance <= 1 && !is_moved(page, tokens.end) => {
            return AmountRole::Balance;
        }
        Some(SmsWordClass::Limit) if distance <= 1 || is_joined_by_of(page, tokens.start, distance) => {
            return AmountRole::Limit;
        }
        Some(SmsWordClass::Fee) if distance <= 2 && !is_credited(page, tokens.end) => return AmountRole::Fee,
        Some(SmsWordClass::Threshold | SmsWordClass::Lure) if near => return AmountRole::Spoken,
        _ => {}
    }
    let signed = matches!(page.cut.lowercase(tokens.end), "cr" | "dr") && left == Some(SmsWordClass::Balance);
    if let Some(role) = find_right_role(page, tokens.end).filter(|_| !signed) {
        return role;
    }
    match left {
        Some(SmsWordClass::Balance) => AmountRole::Balance,
        Some(SmsWordClass::Limit) => AmountRole::Limit,
        Some(SmsWordClass::Due) => AmountRole::Due,
        Some(SmsWordClass::Fee) if near => AmountRole::Fee,
        Some(SmsWordClass::Cashback) => AmountRole::Fee,
        _ => AmountRole::Moved,
    }
}

/// "INR 354 has been debited": a verb says right behind the amount that it moved.
fn is_moved(page: &ParsedSms, end: usize) -> bool {
    let helps =
        |at: &usize| matches!(page.cut.lowercase(*at), "has" | "have" | "been" | "is" | "was" | "were");
    let helped = (end..end + 2).take_while(helps).count();
    helped > 0 && page.class(end + helped).is_some_and(SmsWordClass::is_act)
}

/// The nearest word to the left that says what the amount is, and how far it is.
fn find_left_class(page: &ParsedSms, start: usize) -> (Option<SmsWordClass>, usize) {
    let sentence = page.sentence(start);
    let mut distance = 0;
    for at in (start.saturating_sub(REACH)..start).rev() {
        if page.token_use(at) == SmsTokenUse::Amount || page.sentence(at) != sentence {
            break;
        }
        let sign = matches!(page.cut.shape(at), Some(SmsTokenKind::Sign(_)));
        distance += usize::from(!sign);
        if matches!(page.token_use(at), SmsTokenUse::Link | SmsTokenUse::Vpa | SmsTokenUse::Date) {
            continue;
        }
        let Some(class) = page.class(at) else { continue };
        // "Bal after txn Rs 500".
        if class.is_noun() && at > 0 && page.is_class(at - 1, SmsWordClass::After)
            || page.is_class(at, SmsWordClass::After) && page.class(at + 1).is_some_and(SmsWordClass::is_noun)
        {
            continue;
        }
        let says = class.is_act()
            || matches!(
                class,
                SmsWordClass::Debit | SmsWordClass::Pay | SmsWordClass::Credit | SmsWordClass::Refund
            )
            || matches!(
                class,
                SmsWordClass::Balance | SmsWordClass::Limit | SmsWordClass::Due | SmsWordClass::After
            )
            || matches!(class, SmsWordClass::Cashback | SmsWordClass::Request | SmsWordClass::Hold);
        // "… SHOP and Rs 900": the next of a list.
        let listed = start.checked_sub(1).is_some_and(|at| page.cut.lowercase(at) == "and");
        let close = distance <= 3
            && !listed
            && matches!(class, SmsWordClass::Threshold | SmsWordClass::Lure | SmsWordClass::Fee);
        if says || close {
            return (Some(class), distance);
        }
    }
    (None, usize::MAX)
}

/// What the words behind an amount make of it, if they do.
fn find_right_role(page: &ParsedSms, end: usize) -> Option<AmountRole> {
    let sentence = page.sentence(end.checked_sub(1)?);
    let mut steps = 0;
    for at in end..(end + 7).min(page.len()) {
        if page.sentence(at) != sentence || !matches!(page.token_use(at), SmsTokenUse::Free) {
            return None;
        }
        if matches!(page.cut.shape(at), Some(SmsTokenKind::Sign(',' | '(' | ')' | ';' | '.'))) {
            return None;
        }
        steps += usize::from(page.cut.is_word(at));
        match page.class(at) {
            Some(class) if class.is_act() && steps <= 4 => return Some(AmountRole::Moved),
            Some(SmsWordClass::Balance) if steps <= 4 => return Some(AmountRole::Balance),
            Some(SmsWordClass::Limit) if steps <= 4 => return Some(AmountRole::Limit),
            Some(SmsWordClass::Due) if steps <= 3 => return Some(AmountRole::Due),
            Some(SmsWordClass::Points) if steps <= 2 => return Some(AmountRole::Spoken),
            Some(SmsWordClass::Fee) if steps == 1 => return Some(AmountRole::Fee),
            Some(SmsWordClass::Lure) if steps == 1 && page.cut.lowercase(at) != "get" => {
                return Some(AmountRole::Spoken);
            }
            Some(SmsWordClass::Cashback) if steps == 1 => return Some(AmountRole::Fee),
            Some(
                SmsWordClass::Stop
                | SmsWordClass::Own
                | SmsWordClass::Success
                | SmsWordClass::Future
                | SmsWordClass::Loan,
            )
            | None => {}
            Some(_) => return None,
        }
    }
    None
}
