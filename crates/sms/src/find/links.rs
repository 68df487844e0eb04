//! Web addresses, mail addresses and payment addresses (`name@bank`).

use crate::lexicon::SmsWordClass;
use crate::parsed_message::{ParsedSms, SmsTokenUse};
use crate::tokens::SmsTokenKind;

const DOMAINS: [&str; 22] = [
    "com", "in", "co", "org", "net", "ly", "io", "me", "gov", "app", "link", "gl", "page", "site", "xyz",
    "info", "top", "live", "club", "bank", "cc", "to",
];

pub(crate) fn links(page: &mut ParsedSms) {
    for at in 0..page.len() {
        if !page.is_free(at) {
            continue;
        }
        if page.cut.is_sign(at, '@') {
            address(page, at);
        } else if matches!(page.cut.lowercase(at), "http" | "https" | "www") && page.cut.is_glued(at + 1) {
            let end = glued_end(page, at + 1, |_| true);
            page.assign_use(at..end, SmsTokenUse::Link);
        } else if is_domain_dot(page, at) {
            let end = glued_end(page, at + 1, |_| true);
            let start =
                (0..at).rev().find(|before| !page.cut.is_glued(before + 1)).map_or(0, |before| before + 1);
            page.assign_use(start..end, SmsTokenUse::Link);
        }
    }
}

/// The dot of `bit.ly/…`: a domain behind it, and a path or another domain behind that.
fn is_domain_dot(page: &ParsedSms, at: usize) -> bool {
    let cut = &page.cut;
    let dotted = cut.is_sign(at, '.') && cut.is_glued(at) && cut.is_glued(at + 1);
    let domain = dotted && DOMAINS.contains(&cut.lowercase(at + 1));
    let path = cut.is_sign(at + 2, '/') && cut.is_glued(at + 2) && cut.is_glued(at + 3);
    let second = cut.is_sign(at + 2, '.') && cut.is_glued(at + 2) && DOMAINS.contains(&cut.lowercase(at + 3));
    domain && (path || second)
}

fn glued_end(page: &ParsedSms, from: usize, may: impl Fn(SmsTokenKind) -> bool) -> usize {
    (from..page.len())
        .find(|at| !page.cut.is_glued(*at) || !page.cut.shape(*at).is_some_and(&may))
        .unwrap_or(page.len())
}

fn address(page: &mut ParsedSms, at: usize) {
    let may = |shape: SmsTokenKind| {
        matches!(shape, SmsTokenKind::Word | SmsTokenKind::Number | SmsTokenKind::Sign('.' | '-' | '_'))
    };
    if !page.cut.is_glued(at) || !page.cut.is_glued(at + 1) || !page.cut.is_word(at + 1) {
        return;
    }
    let mut start = at;
    while start > 0 && page.cut.is_glued(start) && page.cut.shape(start - 1).is_some_and(may) {
        start -= 1;
    }
    // "debited@SBI": a verb, not somebody's address.
    let verb = start + 1 == at && page.class(start).is_some_and(SmsWordClass::is_act);
    if start == at || verb {
        return;
    }
    let handle = glued_end(page, at + 2, |shape| matches!(shape, SmsTokenKind::Word | SmsTokenKind::Number));
    let mailed = page.cut.is_sign(handle, '.') && page.cut.is_glued(handle) && page.cut.is_glued(handle + 1);
    if mailed && DOMAINS.contains(&page.cut.lowercase(handle + 1)) {
        let end = glued_end(page, handle, may);
        page.assign_use(start..end, SmsTokenUse::Link);
    } else {
        page.assign_use(start..handle, SmsTokenUse::Vpa);
        page.vpas.push(start..handle);
    }
}
