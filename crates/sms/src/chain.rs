//! Names in the chains that networks write: `UPI/P2M/507812345678/SWIGGY`, `NEFT-UTR-NAME`.

use std::ops::Range;

use super::counterparty::is_advice;
use super::lexicon::SmsWordClass;
use super::name::accept_name;
use super::parsed_message::{ParsedSms, SmsTokenUse};
use super::tokens::SmsTokenKind;

/// `UPI/P2M/507812345678/SWIGGY`, `NEFT-UTR-NAME`, `NEFT Cr-IFSC-NAME`: the first piece that is a name.
pub(crate) fn find_chain_name(page: &ParsedSms) -> Option<String> {
    let mut marks = page.matches_of(SmsWordClass::Channel).filter(|mark| !is_advice(page, mark.tokens.start));
    marks.find_map(|mark| read_chain_name(page, mark.tokens.start))
}

pub(crate) fn read_chain_name(page: &ParsedSms, start: usize) -> Option<String> {
    let joins = |at: usize| matches!(page.cut.shape(at), Some(SmsTokenKind::Sign('/' | '-' | ':' | '*')));
    let last = (start + 40).min(page.len());
    let first = (start + 1..last).take(4).find(|at| joins(*at))?;
    if !(start + 1..first).all(|at| page.cut.is_word(at))
        || page.cut.is_sign(first, ':')
        || is_signature(page, first)
    {
        return None;
    }
    let mut at = first + 1;
    while at < last {
        let end = (at..last).find(|at| joins(*at) || stops_chain(page, *at)).unwrap_or(last);
        if at < end
            && is_name(page, at..end)
            && let Some(name) = accept_name(page, at..end)
        {
            return Some(name);
        }
        if is_signature(page, end)
            || (stops_chain(page, end) && page.token_use(end) != SmsTokenUse::Reference)
        {
            return None;
        }
        at = end + 1;
    }
    None
}

/// A hyphen behind a blank: "… - Canara Bank".
fn is_signature(page: &ParsedSms, at: usize) -> bool {
    page.cut.is_sign(at, '-') && !page.cut.is_glued(at)
}

fn stops_chain(page: &ParsedSms, at: usize) -> bool {
    let figure = matches!(
        page.token_use(at),
        SmsTokenUse::Amount | SmsTokenUse::Date | SmsTokenUse::Link | SmsTokenUse::Tail
    );
    let word = matches!(
        page.class(at),
        Some(
            SmsWordClass::Balance
                | SmsWordClass::Limit
                | SmsWordClass::Condition
                | SmsWordClass::Negation
                | SmsWordClass::On
                | SmsWordClass::Stop
        )
    );
    let sign = matches!(page.cut.shape(at), Some(SmsTokenKind::Sign('(' | ')' | ',' | ';' | '?' | '!')));
    let ended = at > 0 && page.sentence(at) != page.sentence(at - 1);
    figure || word || sign || ended
}

/// Letters, and not a bank's code, a network's word or a number.
fn is_name(page: &ParsedSms, tokens: Range<usize>) -> bool {
    let text = page.cut.text(tokens.clone());
    let (letters, digits) = text.chars().fold((0, 0), |(letters, digits), letter| {
        (letters + usize::from(letter.is_alphabetic()), digits + usize::from(letter.is_ascii_digit()))
    });
    let small = matches!(page.cut.lowercase(tokens.start), "dr" | "cr" | "p" | "d" | "c" | "tp" | "n");
    let channel = page.is_class(tokens.start, SmsWordClass::Channel) && tokens.len() <= 2;
    let referred = tokens.clone().any(|at| page.token_use(at) == SmsTokenUse::Reference);
    letters >= 3 && letters > digits * 2 && !channel && !referred && !(small && tokens.len() == 1)
}
