//! A name in a message: where it begins, where it ends, and what is nobody's.

use std::ops::Range;

use super::chain::read_chain_name;
use super::lexicon::SmsWordClass;
use super::parsed_message::{ParsedSms, SmsTokenUse};
use super::tokens::SmsTokenKind;

/// A name has no more words than this.
pub(crate) const LONGEST: usize = 7;

/// Words that name nobody.
const NOBODY: [&str; 55] = [
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
    "customer",
    "aapko",
    "reverse",
];

/// Who signs a message behind a hyphen: "… to RAHUL-SBI".
const BANKS: [&str; 24] = [
    "sbi", "icici", "axis", "hdfc", "bob", "pnb", "kotak", "union", "canara", "federal", "iob", "uco", "cub",
    "sib", "kvb", "ippb", "boi", "idfc", "indusind", "yes", "rbl", "dcb", "idbi", "cboi",
];

/// Steps over what may stand before a name: "VPA", "M/s", a colon.
fn skip_prefix(page: &ParsedSms, from: usize) -> Option<usize> {
    let mut at = from;
    while at < page.len() && at < from + 6 {
        let sign = matches!(
            page.cut.shape(at),
            Some(SmsTokenKind::Sign(':' | '-' | '.' | '"' | '\'' | '@' | '*' | '(' | '_'))
        );
        let word = matches!(page.class(at), Some(SmsWordClass::Vpa | SmsWordClass::Info))
            || (page.is_class(at, SmsWordClass::Other) || page.is_class(at, SmsWordClass::To))
            || (page.cut.lowercase(at) == "upi" && page.cut.is_sign(at + 1, '_'))
            || matches!(page.cut.lowercase(at), "name" | "a" | "is");
        if !(sign || word) || page.token_use(at) == SmsTokenUse::Vpa {
            break;
        }
        at += 1;
    }
    (at < page.len()).then_some(at)
}

pub(crate) fn read_name(page: &ParsedSms, from: usize) -> Option<String> {
    let start = skip_prefix(page, from)?;
    if page.token_use(start) == SmsTokenUse::Vpa {
        let vpa = page.vpas.iter().find(|vpa| vpa.contains(&start))?;
        return Some(page.cut.text(vpa.clone()).to_owned());
    }
    if page.is_class(start, SmsWordClass::Channel) {
        return read_chain_name(page, start);
    }
    let end = find_end(page, start);
    if matches!(page.class(end), Some(SmsWordClass::Account | SmsWordClass::Card))
        || page.token_use(end) == SmsTokenUse::Tail
    {
        return None;
    }
    accept_name(page, start..end)
}

/// Where a name ends: at a figure that is something else, at a sign, or at a word that goes on with the sentence.
fn find_end(page: &ParsedSms, start: usize) -> usize {
    let sentence = page.sentence(start);
    let mut words = 0;
    let mut at = start;
    while at < page.len() && words < LONGEST {
        if page.sentence(at) != sentence || !page.is_free(at) {
            break;
        }
        let inside = match page.cut.shape(at) {
            Some(SmsTokenKind::Word) if at > start && is_joined(page, at) => true,
            Some(SmsTokenKind::Word) => !ends_name(page, at) || is_inside_name(page, at, start),
            Some(SmsTokenKind::Number) => at > start || page.cut.is_glued(at + 1) || page.cut.is_word(at + 1),
            Some(SmsTokenKind::Sign('.' | '&' | '\'' | '*' | '_' | '+')) => true,
            Some(SmsTokenKind::Sign('-' | '/')) => {
                let inner = page.cut.is_glued(at) && page.cut.is_glued(at + 1);
                inner
                    && !page.is_class(at + 1, SmsWordClass::Channel)
                    && !BANKS.contains(&page.cut.lowercase(at + 1))
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
fn is_joined(page: &ParsedSms, at: usize) -> bool {
    let held = matches!(page.cut.shape(at - 1), Some(SmsTokenKind::Sign('*' | '_' | '&' | '\'')));
    let domain = page.cut.is_sign(at - 1, '.')
        && matches!(page.cut.lowercase(at), "in" | "com" | "co" | "org" | "net");
    page.cut.is_glued(at) && (held || domain)
}

/// Small words that may stand in a name: "The Leather Co", "Dr. Mehta", "Cash and Carry".
fn is_inside_name(page: &ParsedSms, at: usize, start: usize) -> bool {
    let goes_on = page.cut.is_word(at + 1) && page.is_free(at + 1) && page.class(at + 1).is_none();
    match page.cut.lowercase(at) {
        "the" => at == start && goes_on,
        "dr" => at == start,
        "and" => at > start && goes_on && is_cased_alike(page, start, at + 1),
        "card" => at > start && (at + 1..at + 5).all(|at| page.token_use(at) != SmsTokenUse::Tail),
        _ => false,
    }
}

/// "MOHAN AND SONS", but not "CANTEEN and got".
fn is_cased_alike(page: &ParsedSms, first: usize, next: usize) -> bool {
    let small = |at: usize| page.cut.text(at..at + 1).starts_with(|letter: char| letter.is_lowercase());
    small(first) || !small(next)
}

pub(crate) fn ends_name(page: &ParsedSms, at: usize) -> bool {
    let Some(class) = page.class(at) else { return false };
    // A name in figures and capitals may hold any word; what goes on with the sentence ends it.
    let allowed = matches!(
        class,
        SmsWordClass::Lure
            | SmsWordClass::Delivery
            | SmsWordClass::Investment
            | SmsWordClass::Loan
            | SmsWordClass::Due
            | SmsWordClass::Pay
            | SmsWordClass::Wallet
            | SmsWordClass::Of
            | SmsWordClass::Mandate
            | SmsWordClass::Atm
            | SmsWordClass::Fee
            | SmsWordClass::Debit
            | SmsWordClass::Credit
            | SmsWordClass::Threshold
            | SmsWordClass::Warning
            | SmsWordClass::Hold
            | SmsWordClass::Points
            | SmsWordClass::Other
    );
    !allowed || matches!(page.cut.lowercase(at), "within" | "amount" | "amt" | "days")
}

/// What may follow a name and is none of it: "HOTSTAR UPI AutoPay."
fn is_trailing(page: &ParsedSms, at: usize) -> bool {
    let word = matches!(page.cut.lowercase(at), "of" | "for" | "in" | "-" | "upi" | "autopay" | "mandate");
    page.cut.is_sign(at, '.') || (word && !page.cut.is_glued(at))
}

pub(crate) fn accept_name(page: &ParsedSms, tokens: Range<usize>) -> Option<String> {
    let mut tokens = tokens;
    while tokens.len() > 1 && is_trailing(page, tokens.end - 1) {
        tokens.end -= 1;
    }
    let text = page.cut.text(tokens.clone());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text =
        text.trim_matches(|letter: char| matches!(letter, '.' | '-' | '/' | '*' | '_' | '\'' | '&' | ' '));
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    let low = text.to_lowercase();
    let mut words = low.split([' ', '.']).filter(|word| !word.is_empty());
    let figures = |word: &str| !word.chars().any(char::is_alphabetic);
    let nobody = words.all(|word| figures(word) || NOBODY.contains(&word)) || is_plain_noun(page, tokens);
    (letters >= 2 && !nobody).then(|| text.to_owned())
}

/// "Wrong credit": small letters, and a word for what is done to money.
fn is_plain_noun(page: &ParsedSms, tokens: Range<usize>) -> bool {
    let small = |at: usize| page.cut.text(at..at + 1).starts_with(|letter: char| letter.is_lowercase());
    tokens.into_iter().any(|at| {
        matches!(page.class(at), Some(SmsWordClass::Credit | SmsWordClass::Debit | SmsWordClass::Refund))
            && small(at)
    })
}
