//! Which part each amount has: by its neighbours, never by its place among the amounts.

use super::clean::Shape;
use super::lexicon::Class;
use super::page::{Page, Role, Use};

/// How far a word like "balance" reaches: "Avl bal in SBI A/c XX1234 as on 12-03-25 18:20 is INR 5".
const REACH: usize = 18;

pub(crate) fn assign(page: &mut Page) {
    let roles: Vec<Role> = (0..page.amounts.len()).map(|number| role(page, number)).collect();
    for (amount, role) in page.amounts.iter_mut().zip(roles) {
        amount.role = role;
    }
    // Nothing has moved by nothing.
    for amount in page.amounts.iter_mut() {
        if amount.money.as_paise() == 0 && !matches!(amount.role, Role::Balance | Role::Limit) {
            amount.role = Role::Spoken;
        }
    }
    set_totals_apart(page);
    // A fee that stands alone is what was taken, a cashback what came.
    if page.amounts.iter().all(|amount| amount.role != Role::Moved) {
        for amount in page.amounts.iter_mut().filter(|amount| amount.role == Role::Fee) {
            amount.role = Role::Moved;
        }
    }
}

/// "Rs 60 received. Total today Rs 1,860": a sum of many, beside what came now.
fn set_totals_apart(page: &mut Page) {
    let is_total = |start: usize| {
        let words = (1..=6).filter_map(|back| start.checked_sub(back));
        let near: Vec<&str> = words
            .take_while(|at| page.sentence(*at) == page.sentence(start) && page.used(*at) != Use::Amount)
            .map(|at| page.cut.low(at))
            .collect();
        let sum =
            near.iter().any(|word| matches!(*word, "total" | "collection" | "collections" | "collected"));
        let span = near
            .iter()
            .any(|word| matches!(*word, "today" | "day" | "week" | "month" | "far" | "collection"));
        (sum && span) || near.contains(&"gross")
    };
    let totals: Vec<bool> = page.amounts.iter().map(|amount| is_total(amount.tokens.start)).collect();
    let others = page.amounts.iter().zip(&totals).any(|(amount, total)| amount.role == Role::Moved && !total);
    for (amount, total) in page.amounts.iter_mut().zip(totals).filter(|(_, total)| *total && others) {
        amount.role = if total { Role::Spoken } else { amount.role };
    }
}

/// "Limit of Rs 500".
fn is_of(page: &Page, start: usize, distance: usize) -> bool {
    distance == 2 && start.checked_sub(1).is_some_and(|at| page.is(at, Class::Of))
}

/// "Interest of Rs 214 credited": what comes is no fee.
fn is_given(page: &Page, end: usize) -> bool {
    let sentence = page.sentence(end.saturating_sub(1));
    let mut words = (end..end + 4).take_while(|at| page.sentence(*at) == sentence && page.is_free(*at));
    let act = words.find_map(|at| page.class(at).filter(|class| class.is_act()));
    matches!(act, Some(Class::Credited | Class::Refunded | Class::Received))
}

fn role(page: &Page, number: usize) -> Role {
    let tokens = page.amounts[number].tokens.clone();
    let (left, distance) = left(page, tokens.start);
    let near = distance <= 3;
    match left {
        Some(Class::Balance) if distance <= 1 && !is_done(page, tokens.end) => return Role::Balance,
        Some(Class::Limit) if distance <= 1 || is_of(page, tokens.start, distance) => return Role::Limit,
        Some(Class::Fee) if distance <= 2 && !is_given(page, tokens.end) => return Role::Fee,
        Some(Class::Threshold | Class::Lure) if near => return Role::Spoken,
        _ => {}
    }
    let signed = matches!(page.cut.low(tokens.end), "cr" | "dr") && left == Some(Class::Balance);
    if let Some(role) = right(page, tokens.end).filter(|_| !signed) {
        return role;
    }
    match left {
        Some(Class::Balance) => Role::Balance,
        Some(Class::Limit) => Role::Limit,
        Some(Class::Due) => Role::Due,
        Some(Class::Fee) if near => Role::Fee,
        Some(Class::Cashback) => Role::Fee,
        _ => Role::Moved,
    }
}

/// "INR 354 has been debited": a verb says right behind the amount that it moved.
fn is_done(page: &Page, end: usize) -> bool {
    let helps = |at: &usize| matches!(page.cut.low(*at), "has" | "have" | "been" | "is" | "was" | "were");
    let helped = (end..end + 2).take_while(helps).count();
    helped > 0 && page.class(end + helped).is_some_and(Class::is_act)
}

/// The nearest word to the left that says what the amount is, and how far it is.
fn left(page: &Page, start: usize) -> (Option<Class>, usize) {
    let sentence = page.sentence(start);
    let mut distance = 0;
    for at in (start.saturating_sub(REACH)..start).rev() {
        if page.used(at) == Use::Amount || page.sentence(at) != sentence {
            break;
        }
        let sign = matches!(page.cut.shape(at), Some(Shape::Sign(_)));
        distance += usize::from(!sign);
        if matches!(page.used(at), Use::Link | Use::Vpa | Use::Date) {
            continue;
        }
        let Some(class) = page.class(at) else { continue };
        // "Bal after txn Rs 500".
        if class.is_noun() && at > 0 && page.is(at - 1, Class::After)
            || page.is(at, Class::After) && page.class(at + 1).is_some_and(Class::is_noun)
        {
            continue;
        }
        let says = class.is_act()
            || matches!(class, Class::Debit | Class::Pay | Class::Credit | Class::Refund)
            || matches!(class, Class::Balance | Class::Limit | Class::Due | Class::After)
            || matches!(class, Class::Cashback | Class::Request | Class::Hold);
        // "… SHOP and Rs 900": the next of a list.
        let listed = start.checked_sub(1).is_some_and(|at| page.cut.low(at) == "and");
        let close = distance <= 3 && !listed && matches!(class, Class::Threshold | Class::Lure | Class::Fee);
        if says || close {
            return (Some(class), distance);
        }
    }
    (None, usize::MAX)
}

/// What the words behind an amount make of it, if they do.
fn right(page: &Page, end: usize) -> Option<Role> {
    let sentence = page.sentence(end.checked_sub(1)?);
    let mut steps = 0;
    for at in end..(end + 7).min(page.len()) {
        if page.sentence(at) != sentence || !matches!(page.used(at), Use::Free) {
            return None;
        }
        if matches!(page.cut.shape(at), Some(Shape::Sign(',' | '(' | ')' | ';' | '.'))) {
            return None;
        }
        steps += usize::from(page.cut.is_word(at));
        match page.class(at) {
            Some(class) if class.is_act() && steps <= 4 => return Some(Role::Moved),
            Some(Class::Balance) if steps <= 4 => return Some(Role::Balance),
            Some(Class::Limit) if steps <= 4 => return Some(Role::Limit),
            Some(Class::Due) if steps <= 3 => return Some(Role::Due),
            Some(Class::Points) if steps <= 2 => return Some(Role::Spoken),
            Some(Class::Fee) if steps == 1 => return Some(Role::Fee),
            Some(Class::Lure) if steps == 1 && page.cut.low(at) != "get" => return Some(Role::Spoken),
            Some(Class::Cashback) if steps == 1 => return Some(Role::Fee),
            Some(Class::Stop | Class::Own | Class::Success | Class::Future | Class::Loan) | None => {}
            Some(_) => return None,
        }
    }
    None
}
