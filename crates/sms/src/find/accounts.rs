//! Tails of accounts and cards: `XX1234`, `*1234`, "ending 1234".

use std::ops::Range;

use crate::lexicon::SmsWordClass;
use crate::parsed_message::{AccountTail, ParsedSms, SmsTokenUse};
use crate::tokens::SmsTokenKind;

/// What is kept of an account, however much the message shows: so that one account has one tail.
const KEPT: usize = 4;

pub(crate) fn accounts(page: &mut ParsedSms) {
    let mut at = 0;
    while at < page.len() {
        let found = match_masked(page, at).or_else(|| match_labelled(page, at));
        match found {
            Some(tokens) => {
                at = tokens.end;
                record(page, tokens);
            }
            None => at += 1,
        }
    }
}

fn record(page: &mut ParsedSms, tokens: Range<usize>) {
    if is_phone(page, tokens.start) || is_masked_phone(page.cut.text(tokens.clone())) {
        page.assign_use(tokens, SmsTokenUse::Phone);
        return;
    }
    let digits = page.cut.digits(tokens.end - 1);
    let digits = digits[digits.len().saturating_sub(KEPT)..].to_owned();
    page.assign_use(tokens.clone(), SmsTokenUse::Tail);
    page.tails.push(AccountTail { tokens, digits });
}

fn is_phone(page: &ParsedSms, start: usize) -> bool {
    (1..=3).filter_map(|back| start.checked_sub(back)).any(|at| {
        matches!(page.cut.lowercase(at), "mobile" | "mob" | "phone" | "mobileno" | "ph" | "tel")
            && !page.is_class(at, SmsWordClass::Channel)
    })
}

/// `98XXXXXX10` has the length of a phone number and begins as one.
fn is_masked_phone(text: &str) -> bool {
    text.len() == 10 && text.starts_with(['6', '7', '8', '9'])
}

fn is_mask(page: &ParsedSms, at: usize) -> bool {
    match page.cut.shape(at) {
        Some(SmsTokenKind::Word) => {
            let word = page.cut.lowercase(at);
            word.bytes().all(|byte| byte == b'x') || (word.len() > 1 && word.bytes().all(|byte| byte == b'n'))
        }
        Some(SmsTokenKind::Sign('*' | '#' | '•' | '×')) => true,
        _ => false,
    }
}

/// Signs for hidden digits, and at least two digits behind them. Digits may stand before them too: `4xxx1234`.
fn match_masked(page: &ParsedSms, at: usize) -> Option<Range<usize>> {
    let mut from = at;
    if page.is_free(at) && page.cut.is_digits(at) && page.cut.is_glued(at + 1) {
        from += 1;
    }
    let dots =
        |at: usize| page.cut.is_sign(at, '.') && page.cut.is_sign(at + 1, '.') && page.cut.is_glued(at + 1);
    if !page.is_free(from) || !(is_mask(page, from) || (from == at && dots(from))) {
        return None;
    }
    let mut end = from + 1;
    let hides = |end: usize| is_mask(page, end) || page.cut.is_sign(end, '.') || page.cut.is_sign(end, '-');
    while end < page.len() && hides(end) && page.cut.is_glued(end) {
        end += 1;
    }
    // "XX 1234": one blank is let pass behind two signs or more, but not behind dots, which end sentences too.
    let signs = is_mask(page, from) && (end - from >= 2 || page.cut.lowercase(from).len() >= 2);
    let close = page.cut.is_glued(end) || signs;
    let digits =
        page.is_free(end) && page.cut.is_digits(end) && (2..=16).contains(&page.cut.lowercase(end).len());
    (close && digits).then_some(at..end + 1)
}

/// A number behind the word for an account or card.
fn match_labelled(page: &ParsedSms, at: usize) -> Option<Range<usize>> {
    let ending = page.is_class(at, SmsWordClass::Ending) && page.cut.lowercase(at).starts_with("end");
    if !ending && !matches!(page.class(at), Some(SmsWordClass::Account | SmsWordClass::Card)) {
        return None;
    }
    let between = |at: usize| {
        page.is_class(at, SmsWordClass::Ending)
            || page.is_class(at, SmsWordClass::Account)
            || matches!(page.cut.lowercase(at), "is" | "bearing")
            || matches!(page.cut.shape(at), Some(SmsTokenKind::Sign('.' | ':' | '-' | '(' | '#' | '/' | ',')))
    };
    let mut end = at + 1;
    while end < page.len() && end < at + 8 && between(end) {
        end += 1;
    }
    let digits =
        page.is_free(end) && page.cut.is_digits(end) && (3..=18).contains(&page.cut.lowercase(end).len());
    let hyphened =
        page.cut.is_sign(end + 1, '-') && page.cut.is_glued(end + 1) && page.cut.is_digits(end + 2);
    match (digits, hyphened && page.cut.is_glued(end + 2)) {
        (true, true) => Some(end..end + 3),
        (true, false) if !page.cut.is_glued(end + 1) || !page.cut.is_sign(end + 1, '/') => Some(end..end + 1),
        _ => None,
    }
}
