//! Who is on the other side: behind a preposition, in a chain like `UPI/P2M/…/NAME`, before "credited", or a payment
//! address.

use std::ops::Range;

use super::chain::chain;
use super::clean::SmsTokenKind;
use super::events::SmsEvent;
use super::lexicon::SmsWordClass;
use super::name::{LONGEST, accepted, ends_name, name};
use super::parsed_message::{ParsedSms, SmsTokenUse};
use super::reading::PaymentDirection;

pub(crate) fn counterparty(page: &ParsedSms, event: &SmsEvent) -> Option<String> {
    let found = match event.direction {
        PaymentDirection::Debit => credited_other(page)
            .or_else(|| led(page, event, &[SmsWordClass::To, SmsWordClass::At]))
            .or_else(|| behind_name(page, &["ko", "को"]))
            .or_else(|| chain(page))
            .or_else(|| led(page, event, &[SmsWordClass::Towards, SmsWordClass::Info]))
            .or_else(|| on_merchant(page))
            .or_else(|| between_labels(page, event)),
        PaymentDirection::Credit => led(page, event, &[SmsWordClass::From])
            .or_else(|| led(page, event, &[SmsWordClass::By]))
            .or_else(|| behind_name(page, &["ne", "ने"]))
            .or_else(|| chain(page))
            .or_else(|| behind_name(page, &["se", "से"]))
            .or_else(|| subject(page))
            .or_else(|| led(page, event, &[SmsWordClass::Info, SmsWordClass::Towards])),
    };
    found.or_else(|| address(page)).or_else(|| super::own::other(page, event))
}

/// "Ramesh ko", "Aslam Tailor ne": Hindi says behind a name what it does.
fn behind_name(page: &ParsedSms, words: &[&str]) -> Option<String> {
    let mut marks = (1..page.len()).filter(|at| words.contains(&page.cut.low(*at)) && !is_advice(page, *at));
    marks.find_map(|end| {
        let sentence = page.sentence(end);
        let part = |at: usize| {
            page.sentence(at) == sentence
                && page.is_free(at)
                && (page.cut.is_word(at) || page.cut.is_sign(at, '.') || page.cut.is_sign(at, '&'))
                && page.class(at).is_none()
        };
        let mut start = end;
        while start > 0 && end - start < LONGEST && part(start - 1) {
            start -= 1;
        }
        if start < end { accepted(page, start..end) } else { None }
    })
}

/// Who is said to have paid: behind "from" or "by", before "sent", or by address.
pub(crate) fn payer(page: &ParsedSms, event: &SmsEvent) -> Option<String> {
    led(page, event, &[SmsWordClass::From, SmsWordClass::By])
        .or_else(|| behind_name(page, &["ne", "ने", "se", "से"]))
        .or_else(|| subject(page))
        .or_else(|| address(page))
}

/// A payment address that is not the owner's: theirs is "yours" or "linked to" their card.
fn address(page: &ParsedSms) -> Option<String> {
    let theirs = |vpa: &&Range<usize>| {
        page.cut.low(vpa.end) != "linked"
            && !vpa.start.checked_sub(1).is_some_and(|at| page.is(at, SmsWordClass::Own))
    };
    let vpa = page.vpas.iter().find(theirs)?;
    Some(page.cut.text(vpa.clone()).to_owned())
}

/// Sentences about what to do name nobody: "if not you, SMS BLOCK to 92…".
pub(crate) fn is_advice(page: &ParsedSms, at: usize) -> bool {
    let sentence = page.sentence(at);
    let before = (0..at).rev().take_while(|at| page.sentence(*at) == sentence);
    before.into_iter().any(|at| {
        matches!(page.class(at), Some(SmsWordClass::Condition | SmsWordClass::Negation))
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
fn led(page: &ParsedSms, event: &SmsEvent, classes: &[SmsWordClass]) -> Option<String> {
    for mark in page.marks.iter().filter(|mark| classes.contains(&mark.class) && page.counts(mark)) {
        let (start, end) = (mark.tokens.start, mark.tokens.end);
        let manner = mark.class == SmsWordClass::By && page.cut.low(start) != "by";
        let own_debit =
            mark.class == SmsWordClass::To && start > 0 && page.is(start - 1, SmsWordClass::Debited);
        if manner || own_debit || page.used(start) == SmsTokenUse::Date || is_advice(page, start) {
            continue;
        }
        if mark.class == SmsWordClass::Towards && !is_beside(page, event, start) {
            continue;
        }
        if let Some(name) = name(page, end) {
            return Some(name);
        }
    }
    None
}

/// In the sentence of the verb or of its amount.
fn is_beside(page: &ParsedSms, event: &SmsEvent, at: usize) -> bool {
    let amount = event.amount.map(|amount| page.amounts[amount].tokens.start);
    let places = [Some(event.at), amount];
    places.into_iter().flatten().any(|place| page.sentence(place) == page.sentence(at))
}

/// "A/c XX123 debited for Rs 500; RAHUL credited": the name before "credited" that is not the owner's account.
fn credited_other(page: &ParsedSms) -> Option<String> {
    for mark in page.of(SmsWordClass::Credited).filter(|mark| mark.tokens.start > 0) {
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
        let debited_before = page.of(SmsWordClass::Debited).any(|debited| debited.tokens.start < start);
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
fn on_merchant(page: &ParsedSms) -> Option<String> {
    let signed =
        (0..page.len()).filter(|at| page.cut.is_sign(*at, '@') && page.is_free(*at) && !is_advice(page, *at));
    if let Some(name) = signed.into_iter().find_map(|at| name(page, at + 1)) {
        return Some(name);
    }
    let mut marks = page
        .of(SmsWordClass::On)
        .filter(|mark| page.cut.low(mark.tokens.start) == "on" && !is_advice(page, mark.tokens.start));
    marks.find_map(|mark| name(page, mark.tokens.end))
}

/// Without a preposition: the words between the time and the next label.
fn between_labels(page: &ParsedSms, event: &SmsEvent) -> Option<String> {
    let clock =
        (event.at..page.len()).rfind(|at| matches!(page.used(*at), SmsTokenUse::Time | SmsTokenUse::Date))?;
    let mut at = clock + 1;
    while matches!(page.cut.low(at), "ist" | "hrs")
        || matches!(page.cut.shape(at), Some(SmsTokenKind::Sign(_)))
    {
        if page.sentence(at) != page.sentence(clock) {
            return None;
        }
        at += 1;
    }
    let signed = (clock + 1..at).any(|at| page.cut.is_sign(at, '-'));
    name(page, at).filter(|_| at < page.len() && !signed && !is_advice(page, at))
}

/// "RAHUL has sent you Rs 500", "STYLEKART refund of Rs 500".
fn subject(page: &ParsedSms) -> Option<String> {
    let mut acts = page.marks.iter().filter(|mark| {
        matches!(
            mark.class,
            SmsWordClass::Sent | SmsWordClass::Paid | SmsWordClass::Transferred | SmsWordClass::Refund
        )
    });
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
