//! What is no payment, and why.

use super::events::{SmsEvent, SmsEventStrength};
use super::lexicon::SmsWordClass;
use super::parsed_message::{AmountRole, ParsedSms, SmsTokenUse};
use super::reading::NonPaymentReason;
use super::state::SmsEventState;

/// A one-time code makes it nothing, whatever else it says. Advice never to share one does not.
pub(crate) fn has_code(page: &ParsedSms) -> bool {
    let codes: Vec<usize> =
        (0..page.len()).filter(|at| is_code(page, *at) || is_spaced_code(page, *at)).collect();
    if codes.iter().any(|code| is_unnamed_code(page, *code)) {
        return true;
    }
    page.matches_of(SmsWordClass::Otp).filter(|otp| !is_code_waived(page, otp.tokens.start)).any(|otp| {
        let at = otp.tokens.start;
        let sentence = page.sentence(at);
        let advised =
            page.has_in_sentence(at, SmsWordClass::Share) || page.has_in_sentence(at, SmsWordClass::Negation);
        let beside = codes.iter().any(|code| {
            let other = page.sentence(*code);
            other == sentence || (!advised && other.abs_diff(sentence) == 1 && code.abs_diff(at) <= 8)
        });
        let lettered = !advised
            && (at..page.len()).any(|at| page.sentence(at) == sentence && is_alphanumeric_code(page, at));
        // "Do not share this OTP": it is the one of this message.
        let this = at.checked_sub(1).is_some_and(|before| page.cut.lowercase(before) == "this");
        this || beside || lettered || (!advised && !codes.is_empty()) || is_hidden_code(page, at)
    })
}

/// `1 2 3 4 5 6`, `99 12 07`, `4-4-1-9`: figures apart that are nothing else.
fn is_spaced_code(page: &ParsedSms, at: usize) -> bool {
    let part = |at: usize| page.is_free(at) && page.cut.is_digits(at) && page.cut.lowercase(at).len() <= 3;
    let mut parts = Vec::new();
    let mut next = at;
    while part(next) {
        parts.push(page.cut.lowercase(next).len());
        next += 1 + usize::from(page.cut.is_sign(next + 1, '-'));
    }
    parts.len() >= 3 && (4..=8).contains(&parts.iter().sum::<usize>())
}

/// `AB12`, `K7P2`: four to eight capital letters and digits in one.
fn is_alphanumeric_code(page: &ParsedSms, at: usize) -> bool {
    let part = |at: usize| page.is_free(at) && (page.cut.is_word(at) || page.cut.is_digits(at));
    if !part(at) || page.cut.is_glued(at) {
        return false;
    }
    let end = (at + 1..page.len()).find(|at| !page.cut.is_glued(*at) || !part(*at)).unwrap_or(page.len());
    let text = page.cut.text(at..end);
    let plain = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let mixed =
        text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte.is_ascii_uppercase());
    plain && mixed && (4..=8).contains(&text.len())
}

/// "Use 449210 to verify", "449210 is your code": a code that has no name.
fn is_unnamed_code(page: &ParsedSms, code: usize) -> bool {
    let used = code > 0 && matches!(page.cut.lowercase(code - 1), "use" | "enter" | "code");
    let secret = |at: usize| matches!(page.class(at), Some(SmsWordClass::Pin | SmsWordClass::Otp));
    let told = |at: usize| matches!(page.cut.lowercase(at), "use" | "enter" | "type" | "quote");
    let back = |steps: usize| (1..=steps).filter_map(|back| code.checked_sub(back));
    // "Use PIN 8831": whoever has to be told it is not done yet.
    let named = back(2).any(secret) && (back(5).any(told) || page.cut.lowercase(code).len() <= 4);
    let yours = page.cut.lowercase(code + 1) == "is" && page.is_class(code + 2, SmsWordClass::Own);
    used || named || yours
}

/// "Without OTP/PIN".
fn is_code_waived(page: &ParsedSms, at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| matches!(page.cut.lowercase(before), "without" | "no"))
}

/// Four to eight digits that are nothing else. "SMS BLOCK 1234 to …" is a tail again.
fn is_code(page: &ParsedSms, at: usize) -> bool {
    let commanded = (1..=2)
        .filter_map(|back| at.checked_sub(back))
        .any(|at| page.cut.lowercase(at).starts_with("bl") || page.cut.lowercase(at) == "sms");
    let glued = page.cut.is_glued(at) && at > 0 && page.cut.is_word(at - 1);
    let split = page.cut.is_sign(at + 1, '-') && page.cut.is_digits(at + 2);
    let long =
        (4..=8).contains(&page.cut.lowercase(at).len()) || (split && page.cut.lowercase(at).len() == 3);
    page.is_free(at) && page.cut.is_digits(at) && long && !commanded && !glued
}

/// "OTP is XXXXXX", "OTP generated": the code is left out.
fn is_hidden_code(page: &ParsedSms, at: usize) -> bool {
    (at + 1..at + 4).any(|next| {
        let word = page.cut.lowercase(next);
        (word.len() >= 4 && word.bytes().all(|byte| byte == b'x')) || matches!(word, "generated" | "valid")
    })
}

/// Somebody asks for money.
pub(crate) fn is_request(page: &ParsedSms, done: &[&SmsEvent]) -> bool {
    let asked = |mark: &super::lexicon::SmsWordMatch| {
        let strong = page.cut.text(mark.tokens.clone()).to_lowercase();
        !strong.contains("requests")
            || page
                .amounts
                .iter()
                .any(|amount| page.sentence(amount.tokens.start) == page.sentence(mark.tokens.start))
    };
    let mut requests = page.matches_of(SmsWordClass::Request).filter(|mark| asked(mark)).peekable();
    if requests.peek().is_none() {
        return false;
    }
    // "Your request for … is processed and your a/c debited": the account's own word counts for more. So it does where
    // it comes first and has the payment's number.
    let settled = |event: &SmsEvent| {
        let first = page.matches_of(SmsWordClass::Request).all(|mark| mark.tokens.start > event.end);
        let told = event.class == SmsWordClass::Debited
            && first
            && !page.references.is_empty()
            && !page.tails.is_empty();
        told || !page.has_in_sentence(event.at, SmsWordClass::Request)
    };
    !done.iter().any(|event| event.weight == SmsEventStrength::Strong && event.is_own && settled(event))
}

/// "Enter your PIN to receive": money that comes needs no PIN, so somebody wants to be paid.
pub(crate) fn wants_pin(page: &ParsedSms) -> bool {
    const ASKING: [&str; 7] = ["enter", "type", "put", "approve", "authorise", "authorize", "input"];
    page.matches_of(SmsWordClass::Pin).any(|pin| {
        let (at, sentence) = (pin.tokens.start, page.sentence(pin.tokens.start));
        let here = |at: &usize| page.sentence(*at) == sentence;
        let is_native = !page.cut.lowercase(at).is_ascii();
        let told = (0..page.len()).filter(here).any(|at| {
            let word = page.cut.lowercase(at);
            ASKING.contains(&word) || word.starts_with("daal") || word.starts_with("dal")
        });
        let denied = (0..page.len()).filter(here).any(|at| {
            matches!(page.class(at), Some(SmsWordClass::Negation | SmsWordClass::Share))
                || page.cut.lowercase(at) == "न"
        });
        (told || is_native) && !denied && !is_code_waived(page, at)
    })
}

/// It says that something did not go through, and not only what to do if it should not.
pub(crate) fn has_failed(page: &ParsedSms) -> bool {
    page.matches_of(SmsWordClass::Failed).any(|failed| {
        let sentence = page.sentence(failed.tokens.start);
        !is_avoided(page, failed.tokens.start)
            && !page.matches_of(SmsWordClass::Condition).any(|condition| {
                condition.tokens.start < failed.tokens.start
                    && page.sentence(condition.tokens.start) == sentence
            })
    })
}

/// "To avoid bounce charges": it has not bounced.
fn is_avoided(page: &ParsedSms, at: usize) -> bool {
    (1..=3).filter_map(|back| at.checked_sub(back)).any(|before| page.cut.lowercase(before) == "avoid")
}

/// Why nothing is booked, where nothing was done.
pub(crate) fn reason(page: &ParsedSms, events: &[SmsEvent]) -> NonPaymentReason {
    let future = events.iter().any(|event| event.state == SmsEventState::Future);
    let lures =
        page.matches_of(SmsWordClass::Lure).count() + page.matches_of(SmsWordClass::Threshold).count();
    let linked = page.uses.contains(&SmsTokenUse::Link);
    let amounts = !page.amounts.is_empty();
    let only = |role: AmountRole| amounts && page.amounts.iter().all(|amount| amount.role == role);
    let has = |class| page.has(class);
    let failed = page.matches_of(SmsWordClass::Failed).any(|mark| !is_avoided(page, mark.tokens.start));
    if page.is_disguised {
        NonPaymentReason::Promotion
    } else if has(SmsWordClass::Otp)
        && !page
            .matches_of(SmsWordClass::Otp)
            .all(|otp| page.has_in_sentence(otp.tokens.start, SmsWordClass::Share))
    {
        NonPaymentReason::Otp
    } else if has(SmsWordClass::Request) && amounts {
        NonPaymentReason::Request
    } else if failed && amounts && !(has(SmsWordClass::Mandate) && has(SmsWordClass::Arranged)) {
        NonPaymentReason::Declined
    } else if has(SmsWordClass::Mandate)
        && (has(SmsWordClass::Arranged) || has(SmsWordClass::Success))
        && !future
    {
        NonPaymentReason::Mandate
    } else if has(SmsWordClass::Swindle) || has(SmsWordClass::Warning) && (linked || lures > 0 || !amounts) {
        NonPaymentReason::Warning
    } else if lures >= 3 && !has(SmsWordClass::Due) {
        if has(SmsWordClass::Loan) { NonPaymentReason::Loan } else { NonPaymentReason::Promotion }
    } else if future {
        NonPaymentReason::Future
    } else if has(SmsWordClass::Mandate) {
        NonPaymentReason::Mandate
    } else if has(SmsWordClass::Hold) {
        NonPaymentReason::Hold
    } else if has(SmsWordClass::Investment) {
        NonPaymentReason::Investment
    } else if only(AmountRole::Balance) {
        NonPaymentReason::Balance
    } else if has(SmsWordClass::Due) {
        NonPaymentReason::Due
    } else {
        weaker_reason(page, lures)
    }
}

fn weaker_reason(page: &ParsedSms, lures: usize) -> NonPaymentReason {
    let order = [
        (SmsWordClass::Future, NonPaymentReason::Future),
        (SmsWordClass::Pending, NonPaymentReason::Pending),
        (SmsWordClass::Delivery, NonPaymentReason::Delivery),
        (SmsWordClass::Loan, NonPaymentReason::Loan),
        (SmsWordClass::Limit, NonPaymentReason::Limit),
        (SmsWordClass::Balance, NonPaymentReason::Balance),
        (SmsWordClass::Failed, NonPaymentReason::Declined),
        (SmsWordClass::Warning, NonPaymentReason::Warning),
    ];
    let found = order.into_iter().find(|(class, _)| page.has(*class)).map(|(_, nothing)| nothing);
    found.unwrap_or(if lures > 0 { NonPaymentReason::Promotion } else { NonPaymentReason::Other })
}
