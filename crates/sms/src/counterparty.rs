//! Who is on the other side: behind a preposition, in a chain like `UPI/P2M/…/NAME`, before "credited", or a payment
//! address.

use std::ops::Range;

use super::chain::find_chain_name;
use super::events::SmsEvent;
use super::lexicon::SmsWordClass;
use super::name::{LONGEST, accept_name, ends_name, read_name};
use super::parsed_message::{ParsedSms, SmsTokenUse};
use super::reading::PaymentDirection;
use super::tokens::SmsTokenKind;

pub(crate) fn counterparty(page: &ParsedSms, event: &SmsEvent) -> Option<String> {
    let found = match event.direction {
        PaymentDirection::Debit => find_credited_name(page)
            .or_else(|| find_name_after(page, event, &[SmsWordClass::To, SmsWordClass::At]))
            .or_else(|| find_name_before(page, &["ko", "को"]))
            .or_else(|| find_chain_name(page))
            .or_else(|| find_name_after(page, event, &[SmsWordClass::Towards, SmsWordClass::Info]))
            .or_else(|| find_card_merchant(page))
            .or_else(|| between_labels(page, event)),
        PaymentDirection::Credit => find_name_after(page, event, &[SmsWordClass::From])
            .or_else(|| find_name_after(page, event, &[SmsWordClass::By]))
            .or_else(|| find_name_before(page, &["ne", "ने"]))
            .or_else(|| find_chain_name(page))
            .or_else(|| find_name_before(page, &["se", "से"]))
            .or_else(|| subject(page))
            .or_else(|| find_name_after(page, event, &[SmsWordClass::Info, SmsWordClass::Towards])),
    };
    found.or_else(|| address(page)).or_else(|| super::account_owner::find_other(page, event))
}

/// "Ramesh ko", "Aslam Tailor ne": Hindi says behind a name what it does.
fn find_name_before(page: &ParsedSms, words: &[&str]) -> Option<String> {
    let mut marks =
        (1..page.len()).filter(|at| words.contains(&page.cut.lowercase(*at)) && !is_advice(page, *at));
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
        if start < end { accept_name(page, start..end) } else { None }
    })
}

/// Who is said to have paid: behind "from" or "by", before "sent", or by address.
pub(crate) fn payer(page: &ParsedSms, event: &SmsEvent) -> Option<String> {
    find_name_after(page, event, &[SmsWordClass::From, SmsWordClass::By])
        .or_else(|| find_name_before(page, &["ne", "ने", "se", "से"]))
        .or_else(|| subject(page))
        .or_else(|| address(page))
}

/// A payment address that is not the owner's: theirs is "yours" or "linked to" their card.
fn address(page: &ParsedSms) -> Option<String> {
    let theirs = |vpa: &&Range<usize>| {
        page.cut.lowercase(vpa.end) != "linked"
            && !vpa.start.checked_sub(1).is_some_and(|at| page.is_class(at, SmsWordClass::Own))
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
                page.cut.lowercase(at),
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
fn find_name_after(page: &ParsedSms, event: &SmsEvent, classes: &[SmsWordClass]) -> Option<String> {
    for mark in page.marks.iter().filter(|mark| classes.contains(&mark.class) && page.is_message_word(mark)) {
        let (start, end) = (mark.tokens.start, mark.tokens.end);
        let manner = mark.class == SmsWordClass::By && page.cut.lowercase(start) != "by";
        let own_debit =
            mark.class == SmsWordClass::To && start > 0 && page.is_class(start - 1, SmsWordClass::Debited);
        if manner || own_debit || page.token_use(start) == SmsTokenUse::Date || is_advice(page, start) {
            continue;
        }
        if mark.class == SmsWordClass::Towards && !shares_sentence(page, event, start) {
            continue;
        }
        if let Some(name) = read_name(page, end) {
            return Some(name);
        }
    }
    None
}

/// In the sentence of the verb or of its amount.
fn shares_sentence(page: &ParsedSms, event: &SmsEvent, at: usize) -> bool {
    let amount = event.amount.map(|amount| page.amounts[amount].tokens.start);
    let places = [Some(event.at), amount];
    places.into_iter().flatten().any(|place| page.sentence(place) == page.sentence(at))
}

/// "A/c XX123 debited for Rs 500; RAHUL credited": the name before "credited" that is not the owner's account.
fn find_credited_name(page: &ParsedSms) -> Option<String> {
    for mark in page.matches_of(SmsWordClass::Credited).filter(|mark| mark.tokens.start > 0) {
        let mut end = mark.tokens.start;
        while end > 0 && matches!(page.cut.lowercase(end - 1), "is" | "has" | "been" | "was") {
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
            || matches!(page.cut.lowercase(start - 1), "and" | "," | "&");
        let debited_before =
            page.matches_of(SmsWordClass::Debited).any(|debited| debited.tokens.start < start);
        if joined
            && debited_before
            && start < end
            && let Some(name) = accept_name(page, start..end)
        {
            return Some(name);
        }
    }
    None
}

/// Cards: "spent using Card XX1234 on 12-Mar-25 on AMAZON".
fn find_card_merchant(page: &ParsedSms) -> Option<String> {
    let signed =
        (0..page.len()).filter(|at| page.cut.is_sign(*at, '@') && page.is_free(*at) && !is_advice(page, *at));
    if let Some(name) = signed.into_iter().find_map(|at| read_name(page, at + 1)) {
        return Some(name);
    }
    let mut marks = page
        .matches_of(SmsWordClass::On)
        .filter(|mark| page.cut.lowercase(mark.tokens.start) == "on" && !is_advice(page, mark.tokens.start));
    marks.find_map(|mark| read_name(page, mark.tokens.end))
}

/// Without a preposition: the words between the time and the next label.
fn between_labels(page: &ParsedSms, event: &SmsEvent) -> Option<String> {
    let clock = (event.at..page.len())
        .rfind(|at| matches!(page.token_use(*at), SmsTokenUse::Time | SmsTokenUse::Date))?;
    let mut at = clock + 1;
    while matches!(page.cut.lowercase(at), "ist" | "hrs")
        || matches!(page.cut.shape(at), Some(SmsTokenKind::Sign(_)))
    {
        if page.sentence(at) != page.sentence(clock) {
            return None;
        }
        at += 1;
    }
    let signed = (clock + 1..at).any(|at| page.cut.is_sign(at, '-'));
    read_name(page, at).filter(|_| at < page.len() && !signed && !is_advice(page, at))
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
        while end > 0 && matches!(page.cut.lowercase(end - 1), "has" | "have" | "just" | "successfully") {
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
        if start < end { accept_name(page, start..end) } else { None }
    })
}
