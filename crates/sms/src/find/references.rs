//! References of payments, and phone numbers so that they are taken for nothing else.

use std::ops::Range;

use crate::lexicon::SmsWordClass;
use crate::parsed_message::{ParsedSms, PaymentReference, SmsTokenUse};
use crate::tokens::SmsTokenKind;

const SHORTEST: usize = 5;

pub(crate) fn references(page: &mut ParsedSms) {
    let marks: Vec<(SmsWordClass, usize, usize)> =
        page.marks.iter().map(|mark| (mark.class, mark.tokens.start, mark.tokens.end)).collect();
    for &(class, _, end) in marks.iter().filter(|(class, ..)| *class == SmsWordClass::Reference) {
        record(page, find_reference_after(page, end, class));
    }
    for &(class, _, end) in marks.iter().filter(|(class, ..)| *class == SmsWordClass::Channel) {
        record(page, find_reference_after(page, end, class));
    }
    for &(class, _, end) in marks.iter().filter(|(class, ..)| *class == SmsWordClass::Pay) {
        let named =
            matches!(page.cut.lowercase(end - 1), "txn" | "trxn" | "transaction") && page.cut.is_digits(end);
        let found = find_reference_after(page, end, class).filter(|found| named && found.start == end);
        record(page, found);
    }
    if page.references.is_empty() {
        cheques(page, &marks);
    }
    phones(page);
}

/// The number of a cheque is six digits, and tells it from others where nothing else does.
fn cheques(page: &mut ParsedSms, marks: &[(SmsWordClass, usize, usize)]) {
    for &(_, _, end) in marks.iter().filter(|(class, ..)| *class == SmsWordClass::Cheque) {
        let found = find_reference_after(page, end, SmsWordClass::Reference);
        let six = |run: &Range<usize>| {
            run.len() == 1 && page.cut.is_digits(run.start) && page.cut.lowercase(run.start).len() == 6
        };
        record(page, found.filter(six));
    }
}

fn record(page: &mut ParsedSms, found: Option<Range<usize>>) {
    let Some(tokens) = found else { return };
    let value = page.cut.text(tokens.clone()).to_owned();
    page.assign_use(tokens.clone(), SmsTokenUse::Reference);
    page.references.push(PaymentReference { tokens, value });
}

/// The first run of letters and digits behind the word for it. Behind a channel ("UPI/P2M/…") only a long number counts.
fn find_reference_after(page: &ParsedSms, from: usize, class: SmsWordClass) -> Option<Range<usize>> {
    let mut at = from;
    let labelled = class == SmsWordClass::Reference;
    let furthest = from + if labelled { 7 } else { 6 };
    while at < furthest {
        let run = run(page, at);
        let text = page.cut.text(run.clone());
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let fits = if labelled { text.len() >= SHORTEST && digits >= 3 } else { is_long(text, digits) };
        if !run.is_empty() && fits && run.clone().all(|at| page.is_free(at)) {
            return Some(run);
        }
        if run.is_empty() && !may_stand_between(page, at, labelled) {
            return None;
        }
        if !run.is_empty() && !may_stand_between(page, at, labelled) {
            return None;
        }
        at = if run.is_empty() { at + 1 } else { run.end };
    }
    None
}

/// A number of the payment network, or a bank's code with its number.
fn is_long(text: &str, digits: usize) -> bool {
    (10..=18).contains(&digits) || (digits >= 6 && text.len() >= 12)
}

fn may_stand_between(page: &ParsedSms, at: usize, labelled: bool) -> bool {
    match page.cut.shape(at) {
        Some(SmsTokenKind::Sign(':' | '-' | '.' | '/' | '#' | '(' | '*' | ',')) => true,
        Some(SmsTokenKind::Word) => {
            let small = matches!(
                page.class(at),
                Some(SmsWordClass::Ending | SmsWordClass::Channel | SmsWordClass::Reference)
            );
            let short = matches!(page.cut.lowercase(at), "is" | "p" | "m" | "a" | "dr" | "cr" | "id");
            let chained = !labelled && page.cut.is_sign(at + 1, '/') && page.cut.is_sign(at - 1, '/');
            small || short || chained || (!labelled && page.is_class(at, SmsWordClass::Pay))
        }
        Some(SmsTokenKind::Number) => !labelled && page.cut.lowercase(at).len() <= 2,
        _ => false,
    }
}

/// Words and figures without anything between them. A word alone is no part of it: "UPI Ref:NoName".
fn run(page: &ParsedSms, at: usize) -> Range<usize> {
    let part = |at: usize| page.cut.is_word(at) || page.cut.is_digits(at);
    if !part(at) || !page.is_free(at) {
        return at..at;
    }
    let mut end = at + 1;
    while end < page.len() && page.cut.is_glued(end) && part(end) && page.is_free(end) {
        end += 1;
    }
    // "Ref no 507812345678If not you": the letters behind the figure are the next sentence's.
    if end - at >= 2 && page.cut.is_word(end - 1) && page.cut.lowercase(end - 2).len() >= 12 {
        end -= 1;
    }
    at..end
}

const CALLS: [&str; 12] =
    ["call", "sms", "dial", "helpline", "fwd", "forward", "whatsapp", "contact", "tel", "ph", "no", "toll"];

fn phones(page: &mut ParsedSms) {
    for at in 0..page.len() {
        let addressed = page.cut.is_sign(at + 1, '_') && page.cut.is_glued(at + 1);
        if page.is_free(at) && page.cut.is_digits(at) && !addressed {
            let figure = page.cut.lowercase(at);
            let asked = (1..=4)
                .filter_map(|back| at.checked_sub(back))
                .take_while(|at| !page.cut.is_sign(*at, '.'))
                .any(|at| CALLS.contains(&page.cut.lowercase(at)));
            let mobile = figure.len() == 10 && figure.starts_with(['6', '7', '8', '9']);
            let free = figure.starts_with("1800") || figure.starts_with("1860");
            if mobile || (free && (10..=11).contains(&figure.len())) || (asked && figure.len() >= 8) {
                page.assign_use(at..at + 1, SmsTokenUse::Phone);
            }
        }
    }
}
