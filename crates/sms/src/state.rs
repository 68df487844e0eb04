//! Whether what a message says was done, will be, was not, or only may have been.

use super::attempt::needs_owner_action;
use super::lexicon::{SmsWordClass, SmsWordMatch};
use super::parsed_message::{ParsedSms, SmsTokenUse};
use super::tokens::SmsTokenKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SmsEventState {
    Done,
    Future,
    /// Denied: "not debited".
    Undone,
    /// "If debited".
    Maybe,
}

fn is_filler(page: &ParsedSms, at: usize) -> bool {
    const FILLERS: [&str; 22] = [
        "be",
        "been",
        "being",
        "get",
        "auto",
        "automatically",
        "now",
        "also",
        "soon",
        "shortly",
        "and",
        "is",
        "yet",
        "the",
        "so",
        "already",
        "a",
        "your",
        "has",
        "it",
        "directly",
        "was",
    ];
    FILLERS.contains(&page.cut.lowercase(at))
        || page.is_class(at, SmsWordClass::Success)
        || matches!(page.cut.shape(at), Some(SmsTokenKind::Sign('-' | '/')))
}

/// The words before a verb say whether it is done; in Indian languages those behind it do.
pub(crate) fn state(page: &ParsedSms, mark: &SmsWordMatch) -> SmsEventState {
    let (start, end) = (mark.tokens.start, mark.tokens.end);
    let sentence = page.sentence(start);
    let here = |at: &usize| page.sentence(*at) == sentence && page.token_use(*at) == SmsTokenUse::Free;
    for at in (0..start).rev().take(7).take_while(here) {
        match page.class(at) {
            Some(SmsWordClass::Future) => return SmsEventState::Future,
            Some(SmsWordClass::Negation) => return SmsEventState::Undone,
            _ if is_filler(page, at) || page.class(at).is_some_and(SmsWordClass::is_act) => {}
            _ => break,
        }
    }
    if let Some(state) = find_trailing_state(page, mark) {
        return state;
    }
    let soon = (end..end + 2)
        .any(|at| matches!(page.cut.lowercase(at), "within" | "shortly" | "soon" | "instantly" | "in"))
        && (end..end + 5).any(|at| {
            page.is_class(at, SmsWordClass::Points)
                || matches!(page.cut.lowercase(at), "shortly" | "soon" | "instantly")
        });
    if soon {
        return SmsEventState::Future;
    }
    let supposed = page
        .matches_of(SmsWordClass::Condition)
        .any(|condition| condition.tokens.start < start && page.sentence(condition.tokens.start) == sentence);
    if is_soon(page, mark) || is_promised(page, start) || is_recurring(page, end) || is_rule(page, start) {
        return SmsEventState::Future;
    }
    if supposed || needs_owner_action(page, start) || is_question(page, start) || is_recalled(page, mark) {
        SmsEventState::Maybe
    } else {
        SmsEventState::Done
    }
}

/// What the words behind a verb, or its ending, say of it. English says it before.
fn find_trailing_state(page: &ParsedSms, mark: &SmsWordMatch) -> Option<SmsEventState> {
    let start = mark.tokens.start;
    if page.cut.lowercase(start).is_ascii() {
        return None;
    }
    let here =
        |at: &usize| page.sentence(*at) == page.sentence(start) && page.token_use(*at) == SmsTokenUse::Free;
    for at in (mark.tokens.end..page.len()).take(4).take_while(here) {
        match page.class(at) {
            Some(SmsWordClass::Future) => return Some(SmsEventState::Future),
            Some(SmsWordClass::Negation) => return Some(SmsEventState::Undone),
            Some(class) if class.is_act() => break,
            _ => {}
        }
    }
    is_future_ending(page.cut.lowercase(start)).then_some(SmsEventState::Future)
}

/// "Get Rs 500 credited to your card": nothing between an offer's word and the verb says that it was done.
fn is_promised(page: &ParsedSms, at: usize) -> bool {
    let sentence = page.sentence(at);
    for before in (0..at).rev().take_while(|before| page.sentence(*before) == sentence) {
        match page.cut.lowercase(before) {
            "has" | "have" | "been" | "is" | "was" | "are" | "successfully" | "got" => return false,
            "get" | "earn" | "win" | "enjoy" | "avail" | "grab" | "claim" => return true,
            _ => {}
        }
    }
    false
}

/// "Credited to your a/c in 5 minutes": how quick it would be.
fn is_soon(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    let comes = matches!(
        mark.class,
        SmsWordClass::Credited | SmsWordClass::Received | SmsWordClass::Refunded | SmsWordClass::Added
    );
    let sentence = page.sentence(mark.tokens.start);
    let here = |at: &usize| page.sentence(*at) == sentence && !page.is_class(*at, SmsWordClass::Condition);
    comes
        && (mark.tokens.end..page.len()).take(10).take_while(here).any(|at| {
            let led = matches!(page.cut.lowercase(at), "in" | "within");
            let number = page.cut.is_digits(at + 1) || page.cut.lowercase(at + 1) == "just";
            led && number && (at + 2..at + 6).any(|at| page.is_class(at, SmsWordClass::Points))
        })
}

/// "Is debited every month": no payment, but how it goes.
fn is_recurring(page: &ParsedSms, end: usize) -> bool {
    (end..end + 3).any(|at| {
        matches!(
            page.cut.lowercase(at),
            "every" | "each" | "annually" | "monthly" | "yearly" | "daily" | "weekly"
        )
    })
}

/// "Charges are recovered if balance is available": how it is done, not that it was.
fn is_rule(page: &ParsedSms, start: usize) -> bool {
    let sentence = page.sentence(start);
    let now =
        start.checked_sub(1).is_some_and(|at| matches!(page.cut.lowercase(at), "are" | "is" | "be" | "gets"));
    let supposed = page.matches_of(SmsWordClass::Condition).any(|condition| {
        let at = condition.tokens.end;
        let others = (at..at + 5).any(|at| {
            page.is_class(at, SmsWordClass::Negation)
                || page.is_class(at, SmsWordClass::Own)
                || matches!(page.cut.lowercase(at), "any" | "this")
        });
        condition.tokens.start > start
            && page.sentence(condition.tokens.start) == sentence
            && matches!(page.cut.lowercase(condition.tokens.start), "if" | "unless" | "whenever")
            && !others
    });
    now && supposed
}

/// "Your complaint regarding Rs 500 debited on …": an old payment is spoken of again.
fn is_recalled(page: &ParsedSms, mark: &SmsWordMatch) -> bool {
    const ABOUT: [&str; 8] =
        ["complaint", "query", "dispute", "grievance", "regarding", "ticket", "enquiry", "concern"];
    let at = mark.tokens.start;
    let sentence = page.sentence(at);
    // "The credit for dispute 77 stands reversed": what comes of it is new.
    let ended = (1..=2)
        .filter_map(|back| at.checked_sub(back))
        .any(|at| matches!(page.cut.lowercase(at), "been" | "stands" | "now"));
    if mark.class == SmsWordClass::Refunded && ended {
        return false;
    }
    let titled = |before: usize| (before..at).any(|at| page.cut.is_sign(at, ':'));
    (0..at).any(|before| {
        page.sentence(before) == sentence && ABOUT.contains(&page.cut.lowercase(before)) && !titled(before)
    })
}

/// "Did you attempt a transaction of Rs 500 at X?"
fn is_question(page: &ParsedSms, at: usize) -> bool {
    let sentence = page.sentence(at);
    let opened = (0..at).filter(|at| page.sentence(*at) == sentence).any(|at| {
        matches!(page.cut.lowercase(at), "did" | "do" | "have" | "are" | "was")
            && matches!(page.cut.lowercase(at + 1), "you" | "u" | "this" | "it")
    });
    let closed =
        (at..page.len()).take_while(|at| page.sentence(*at) == sentence).any(|at| page.cut.is_sign(at, '?'));
    opened && closed
}

/// Tamil, Malayalam and Kannada say it in the verb itself.
fn is_future_ending(word: &str) -> bool {
    ["படும்", "வார்கள்", "പ്പെടും", "ിക്കും", "ಲಾಗುವುದು", "ಲಾಗುತ್ತದೆ", "బడుతుంది", "బడతాయి"]
        .iter()
        .any(|end| word.ends_with(end))
}
