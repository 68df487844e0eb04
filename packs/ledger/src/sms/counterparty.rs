//! Who is on the other side: behind a preposition, in a chain like `UPI/P2M/…/NAME`, before "credited", or a payment
//! address.

use std::ops::Range;

use super::chain::{chain, piece};
use super::clean::Shape;
use super::events::Event;
use super::lexicon::Class;
use super::page::{Page, Use};
use super::reading::Direction;

const LONGEST: usize = 7;

/// Words that name nobody.
const NOBODY: [&str; 52] = [
    "bank",
    "account",
    "self",
    "upi",
    "wallet",
    "you",
    "the",
    "a",
    "an",
    "beneficiary",
    "merchant",
    "payment",
    "transfer",
    "other",
    "same",
    "mr",
    "mrs",
    "ms",
    "linked",
    "mobile",
    "no",
    "date",
    "be",
    "us",
    "avoid",
    "pos",
    "ecom",
    "ref",
    "it",
    "any",
    "own",
    "txn",
    "bill",
    "card",
    "dispute",
    "report",
    "stop",
    "know",
    "pay",
    "block",
    "unblock",
    "raise",
    "atm",
    "cash",
    "of",
    "imps",
    "neft",
    "rtgs",
    "autopay",
    "mandate",
    "emi",
    "sip",
];

/// Who signs a message behind a hyphen: "… to RAHUL-SBI".
const BANKS: [&str; 24] = [
    "sbi", "icici", "axis", "hdfc", "bob", "pnb", "kotak", "union", "canara", "federal", "iob", "uco", "cub",
    "sib", "kvb", "ippb", "boi", "idfc", "indusind", "yes", "rbl", "dcb", "idbi", "cboi",
];

pub(crate) fn counterparty(page: &Page, event: &Event) -> Option<String> {
    let found = match event.direction {
        Direction::Debit => credited_other(page)
            .or_else(|| led(page, event, &[Class::To, Class::At]))
            .or_else(|| chain(page))
            .or_else(|| led(page, event, &[Class::Towards, Class::Info]))
            .or_else(|| on_merchant(page))
            .or_else(|| between_labels(page, event)),
        Direction::Credit => led(page, event, &[Class::From])
            .or_else(|| led(page, event, &[Class::By]))
            .or_else(|| chain(page))
            .or_else(|| subject(page))
            .or_else(|| led(page, event, &[Class::Info, Class::Towards])),
    };
    found.or_else(|| address(page)).or_else(|| super::own::other(page, event))
}

/// Who is said to have paid: behind "from" or "by", before "sent", or by address.
pub(crate) fn payer(page: &Page, event: &Event) -> Option<String> {
    led(page, event, &[Class::From, Class::By]).or_else(|| subject(page)).or_else(|| address(page))
}

/// A payment address that is not the owner's: theirs is "yours" or "linked to" their card.
fn address(page: &Page) -> Option<String> {
    let theirs = |vpa: &&Range<usize>| {
        page.cut.low(vpa.end) != "linked"
            && !vpa.start.checked_sub(1).is_some_and(|at| page.is(at, Class::Own))
    };
    let vpa = page.vpas.iter().find(theirs)?;
    Some(page.cut.text(vpa.clone()).to_owned())
}

/// Sentences about what to do name nobody: "if not you, SMS BLOCK to 92…".
pub(crate) fn is_advice(page: &Page, at: usize) -> bool {
    let sentence = page.sentence(at);
    let before = (0..at).rev().take_while(|at| page.sentence(*at) == sentence);
    before.into_iter().any(|at| {
        matches!(page.class(at), Some(Class::Condition | Class::Negation))
            || matches!(
                page.cut.low(at),
                "call"
                    | "sms"
                    | "dial"
                    | "visit"
                    | "click"
                    | "fwd"
                    | "forward"
                    | "report"
                    | "contact"
                    | "block"
            )
    })
}

/// A name behind one of the prepositions; the first that names somebody.
fn led(page: &Page, event: &Event, classes: &[Class]) -> Option<String> {
    for mark in page.marks.iter().filter(|mark| classes.contains(&mark.class) && page.counts(mark)) {
        let (start, end) = (mark.tokens.start, mark.tokens.end);
        let manner = mark.class == Class::By && page.cut.low(start) != "by";
        let own_debit = mark.class == Class::To && start > 0 && page.is(start - 1, Class::Debited);
        if manner || own_debit || page.used(start) == Use::Date || is_advice(page, start) {
            continue;
        }
        if mark.class == Class::Towards && !is_beside(page, event, start) {
            continue;
        }
        if let Some(name) = name(page, end) {
            return Some(name);
        }
    }
    None
}

/// In the sentence of the verb or of its amount.
fn is_beside(page: &Page, event: &Event, at: usize) -> bool {
    let amount = event.amount.map(|amount| page.amounts[amount].tokens.start);
    let places = [Some(event.at), amount];
    places.into_iter().flatten().any(|place| page.sentence(place) == page.sentence(at))
}

/// Steps over what may stand before a name: "VPA", "M/s", a colon.
fn begin(page: &Page, from: usize) -> Option<usize> {
    let mut at = from;
    while at < page.len() && at < from + 6 {
        let sign = matches!(
            page.cut.shape(at),
            Some(Shape::Sign(':' | '-' | '.' | '"' | '\'' | '@' | '*' | '(' | '_'))
        );
        let word = matches!(page.class(at), Some(Class::Vpa | Class::Info))
            || (page.is(at, Class::Other) || page.is(at, Class::To))
            || (page.cut.low(at) == "upi" && page.cut.is_sign(at + 1, '_'))
            || matches!(page.cut.low(at), "name" | "a" | "is");
        if !(sign || word) || page.used(at) == Use::Vpa {
            break;
        }
        at += 1;
    }
    (at < page.len()).then_some(at)
}

fn name(page: &Page, from: usize) -> Option<String> {
    let start = begin(page, from)?;
    if page.used(start) == Use::Vpa {
        let vpa = page.vpas.iter().find(|vpa| vpa.contains(&start))?;
        return Some(page.cut.text(vpa.clone()).to_owned());
    }
    if page.is(start, Class::Channel) {
        return piece(page, start);
    }
    let end = end_of(page, start);
    if matches!(page.class(end), Some(Class::Account | Class::Card)) || page.used(end) == Use::Tail {
        return None;
    }
    accepted(page, start..end)
}

/// Where a name ends: at a figure that is something else, at a sign, or at a word that goes on with the sentence.
fn end_of(page: &Page, start: usize) -> usize {
    let sentence = page.sentence(start);
    let mut words = 0;
    let mut at = start;
    while at < page.len() && words < LONGEST {
        if page.sentence(at) != sentence || !page.is_free(at) {
            break;
        }
        let inside = match page.cut.shape(at) {
            Some(Shape::Word) if at > start && is_joined(page, at) => true,
            Some(Shape::Word) => !ends_name(page, at) || is_inner(page, at, start),
            Some(Shape::Number) => at > start || page.cut.is_glued(at + 1) || page.cut.is_word(at + 1),
            Some(Shape::Sign('.' | '&' | '\'' | '*' | '_' | '+')) => true,
            Some(Shape::Sign('-' | '/')) => {
                let inner = page.cut.is_glued(at) && page.cut.is_glued(at + 1);
                inner && !page.is(at + 1, Class::Channel) && !BANKS.contains(&page.cut.low(at + 1))
            }
            _ => false,
        };
        if !inside {
            break;
        }
        words += usize::from(page.cut.is_word(at));
        at += 1;
    }
    at
}

/// `PAY*shopkart.in`: a sign holds the word to the one before.
fn is_joined(page: &Page, at: usize) -> bool {
    let held = matches!(page.cut.shape(at - 1), Some(Shape::Sign('*' | '_' | '&' | '\'')));
    let domain =
        page.cut.is_sign(at - 1, '.') && matches!(page.cut.low(at), "in" | "com" | "co" | "org" | "net");
    page.cut.is_glued(at) && (held || domain)
}

/// Small words that may stand in a name: "The Leather Co", "Dr. Mehta", "Cash and Carry".
fn is_inner(page: &Page, at: usize, start: usize) -> bool {
    let goes_on = page.cut.is_word(at + 1) && page.is_free(at + 1) && page.class(at + 1).is_none();
    match page.cut.low(at) {
        "the" => at == start && goes_on,
        "dr" => at == start,
        "and" => at > start && goes_on,
        "card" => at > start && (at + 1..at + 5).all(|at| page.used(at) != Use::Tail),
        _ => false,
    }
}

fn ends_name(page: &Page, at: usize) -> bool {
    let Some(class) = page.class(at) else { return false };
    // A name in figures and capitals may hold any word; what goes on with the sentence ends it.
    let allowed = matches!(
        class,
        Class::Lure
            | Class::Delivery
            | Class::Investment
            | Class::Loan
            | Class::Due
            | Class::Pay
            | Class::Wallet
            | Class::Of
            | Class::Mandate
            | Class::Atm
            | Class::Fee
            | Class::Debit
            | Class::Credit
            | Class::Threshold
            | Class::Warning
            | Class::Hold
            | Class::Points
            | Class::Other
    );
    !allowed || matches!(page.cut.low(at), "within" | "amount" | "amt" | "days")
}

pub(crate) fn accepted(page: &Page, tokens: Range<usize>) -> Option<String> {
    let mut tokens = tokens;
    while tokens.len() > 1
        && matches!(page.cut.low(tokens.end - 1), "of" | "for" | "in" | "-")
        && !page.cut.is_glued(tokens.end - 1)
    {
        tokens.end -= 1;
    }
    let text = page.cut.text(tokens);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text =
        text.trim_matches(|letter: char| matches!(letter, '.' | '-' | '/' | '*' | '_' | '\'' | '&' | ' '));
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    let low = text.to_lowercase();
    let mut words = low.split([' ', '.']).filter(|word| !word.is_empty());
    let nobody = words.all(|word| NOBODY.contains(&word));
    (letters >= 2 && !nobody).then(|| text.to_owned())
}

/// "A/c XX123 debited for Rs 500; RAHUL credited": the name before "credited" that is not the owner's account.
fn credited_other(page: &Page) -> Option<String> {
    for mark in page.of(Class::Credited).filter(|mark| mark.tokens.start > 0) {
        let mut end = mark.tokens.start;
        while end > 0 && matches!(page.cut.low(end - 1), "is" | "has" | "been" | "was") {
            end -= 1;
        }
        let sentence = page.sentence(end.saturating_sub(1));
        let mut start = end;
        let part = |at: usize| {
            page.sentence(at) == sentence
                && page.is_free(at)
                && (page.cut.is_word(at) || page.cut.is_sign(at, '.') || page.cut.is_sign(at, '&'))
                && !ends_name(page, at)
        };
        while start > 0 && end - start < LONGEST && part(start - 1) {
            start -= 1;
        }
        let joined = start == 0
            || page.sentence(start - 1) != sentence
            || matches!(page.cut.low(start - 1), "and" | "," | "&");
        let debited_before = page.of(Class::Debited).any(|debited| debited.tokens.start < start);
        if joined
            && debited_before
            && start < end
            && let Some(name) = accepted(page, start..end)
        {
            return Some(name);
        }
    }
    None
}

/// Cards: "spent using Card XX1234 on 12-Mar-25 on AMAZON".
fn on_merchant(page: &Page) -> Option<String> {
    let signed =
        (0..page.len()).filter(|at| page.cut.is_sign(*at, '@') && page.is_free(*at) && !is_advice(page, *at));
    if let Some(name) = signed.into_iter().find_map(|at| name(page, at + 1)) {
        return Some(name);
    }
    let mut marks = page
        .of(Class::On)
        .filter(|mark| page.cut.low(mark.tokens.start) == "on" && !is_advice(page, mark.tokens.start));
    marks.find_map(|mark| name(page, mark.tokens.end))
}

/// Without a preposition: the words between the time and the next label.
fn between_labels(page: &Page, event: &Event) -> Option<String> {
    let clock = (event.at..page.len()).rfind(|at| matches!(page.used(*at), Use::Time | Use::Date))?;
    let mut at = clock + 1;
    while matches!(page.cut.low(at), "ist" | "hrs") || matches!(page.cut.shape(at), Some(Shape::Sign(_))) {
        if page.sentence(at) != page.sentence(clock) {
            return None;
        }
        at += 1;
    }
    let signed = (clock + 1..at).any(|at| page.cut.is_sign(at, '-'));
    name(page, at).filter(|_| at < page.len() && !signed && !is_advice(page, at))
}

/// "RAHUL has sent you Rs 500", "STYLEKART refund of Rs 500".
fn subject(page: &Page) -> Option<String> {
    let mut acts = page
        .marks
        .iter()
        .filter(|mark| matches!(mark.class, Class::Sent | Class::Paid | Class::Transferred | Class::Refund));
    acts.find_map(|mark| {
        let mut end = mark.tokens.start;
        while end > 0 && matches!(page.cut.low(end - 1), "has" | "have" | "just" | "successfully") {
            end -= 1;
        }
        let sentence = page.sentence(mark.tokens.start);
        let mut start = end;
        while start > 0
            && page.sentence(start - 1) == sentence
            && page.is_free(start - 1)
            && (page.cut.is_word(start - 1) || page.cut.is_sign(start - 1, '*'))
            && !ends_name(page, start - 1)
        {
            start -= 1;
        }
        if start < end { accepted(page, start..end) } else { None }
    })
}
