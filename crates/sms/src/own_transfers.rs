//! Money that stays the owner's: taken out as cash or put into the bank, moved between own accounts, loaded on a wallet.

use super::events::SmsEvent;
use super::lexicon::SmsWordClass;
use super::parsed_message::{ParsedSms, SmsTokenUse};
use super::reading::{OwnTransfer, PaymentDirection};

/// Cash, as banks of each language write it.
const CASH: [&str; 11] = ["cash", "नकद", "नगद", "रोख", "নগদ", "ரொக்க", "నగదు", "રોકડ", "ನಗದು", "ਨਕਦ", "ନଗଦ"];

/// The machine, as banks of each language write it.
const MACHINE: [&str; 13] = [
    "atm",
    "cdm",
    "bna",
    "एटीएम",
    "এটিএম",
    "ஏடிஎம்",
    "ఏటీఎం",
    "એટીએમ",
    "ಎಟಿಎಂ",
    "ಎಟಿಎಮ್",
    "എടിഎം",
    "ਏਟੀਐਮ",
    "ଏଟିଏମ",
];

/// What begins a word for taking money out.
const TAKEN: [&str; 18] = [
    "withdr",
    "wdl",
    "wdrl",
    "nikal",
    "निकाल",
    "आहर",
    "काढ",
    "তোলা",
    "উত্তোলন",
    "তুলে",
    "எடுக்க",
    "ఉపసంహ",
    "విత్",
    "ઉપાડ",
    "ಹಿಂಪಡೆ",
    "പിൻവലി",
    "ਕਢ",
    "ଉଠା",
];

/// Where the money is now, if it is still the owner's.
pub(crate) fn find_own_transfer(
    page: &ParsedSms,
    event: &SmsEvent,
    counterparty: Option<&str>,
) -> Option<OwnTransfer> {
    if page.has_in_sentence(event.at, SmsWordClass::Fee) && !is_cash(page) {
        return None;
    }
    let by_cash = match event.direction {
        PaymentDirection::Debit => is_withdrawal(page, event),
        PaymentDirection::Credit => is_deposit(page, event),
    };
    if by_cash {
        return Some(OwnTransfer::Cash);
    }
    (is_to_self(page, counterparty) || is_wallet_load(page, event)).then_some(OwnTransfer::Account)
}

fn words(page: &ParsedSms) -> impl Iterator<Item = (usize, &str)> {
    (0..page.len()).filter(|at| page.cut.is_word(*at)).map(|at| (at, page.cut.lowercase(at)))
}

fn is_cash(page: &ParsedSms) -> bool {
    words(page).any(|(_, word)| CASH.contains(&word))
}

/// At a machine, or as cash over a counter. A fee for the machine is none, nor is a purchase with its card.
fn is_withdrawal(page: &ParsedSms, event: &SmsEvent) -> bool {
    let sentence = page.sentence(event.at);
    let near = |at: usize| page.sentence(at).abs_diff(sentence) <= 1;
    let taken = words(page).any(|(at, word)| near(at) && TAKEN.iter().any(|root| word.starts_with(root)));
    let at_machine = |at: usize| {
        let is_card =
            page.is_class(at + 1, SmsWordClass::Card) || page.cut.lowercase(at + 1).contains("card");
        let is_fee = (at + 1..at + 4).any(|at| page.is_class(at, SmsWordClass::Fee));
        near(at) && !is_card && !is_fee
    };
    let machines = || words(page).filter(|(at, word)| MACHINE.contains(word) && at_machine(*at));
    let machine = machines().next().is_some();
    let led =
        machines().any(|(at, _)| at.checked_sub(1).is_some_and(|at| page.is_class(at, SmsWordClass::By)));
    let cheque = words(page).any(|(_, word)| matches!(word, "cheque" | "chq"));
    let cash = is_cash(page) && !words(page).any(|(_, word)| word == "advance");
    // Cash that somebody had for a cheque is theirs.
    let own = !cheque || words(page).any(|(_, word)| word == "self");
    let pays = event.class == SmsWordClass::Paid || event.class == SmsWordClass::Sent;
    (machine && (taken || led || cash) || taken && cash && own) && !pays
}

/// "By cash", "cash deposit", at a machine that takes cash.
fn is_deposit(page: &ParsedSms, event: &SmsEvent) -> bool {
    let machine = words(page).any(|(_, word)| matches!(word, "cdm" | "bna"));
    let said = words(page).filter(|(_, word)| CASH.contains(word)).any(|(at, _)| {
        let led = at.checked_sub(1).is_some_and(|at| {
            matches!(page.class(at), Some(SmsWordClass::By | SmsWordClass::Towards))
                || page.cut.lowercase(at) == "in"
        });
        let laid = (at..at + 3).any(|at| {
            page.cut.lowercase(at).starts_with("dep")
                || matches!(page.class(at), Some(SmsWordClass::Credited | SmsWordClass::Credit))
        });
        led || laid
    });
    event.class != SmsWordClass::Refunded && (machine || said)
}

/// "Self transfer", "to own account", from one of the owner's accounts to another.
fn is_to_self(page: &ParsedSms, counterparty: Option<&str>) -> bool {
    let named = counterparty.is_some_and(|name| name.eq_ignore_ascii_case("self"));
    let own = (0..page.len()).any(|at| {
        page.cut.lowercase(at) == "own" && (at + 1..at + 3).any(|at| page.is_class(at, SmsWordClass::Account))
            || page.cut.lowercase(at) == "self" && (at + 1..at + 4).any(|at| is_transfer(page, at))
            || is_transfer(page, at) && (at + 1..at + 4).any(|at| page.cut.lowercase(at) == "self")
    });
    named || own || links_own_accounts(page)
}

fn is_transfer(page: &ParsedSms, at: usize) -> bool {
    page.is_class(at, SmsWordClass::Transferred) || page.cut.lowercase(at).starts_with("transfer")
}

/// "From your a/c XX1 to your a/c XX2".
fn links_own_accounts(page: &ParsedSms) -> bool {
    let owned = |class: SmsWordClass| {
        (0..page.len()).any(|at| {
            page.is_class(at, class)
                && page.is_class(at + 1, SmsWordClass::Own)
                && (at + 2..at + 8).any(|at| page.token_use(at) == SmsTokenUse::Tail)
        })
    };
    owned(SmsWordClass::From) && owned(SmsWordClass::To)
}

/// A wallet was filled, told by the wallet or by the bank. What somebody sent there is a payment.
fn is_wallet_load(page: &ParsedSms, event: &SmsEvent) -> bool {
    let is_load = |word: &str| {
        matches!(word, "load" | "loaded" | "topup" | "added" | "recharged") || word.starts_with("topped")
    };
    let filled = |at: usize, word: &str| {
        is_load(word)
            || (word == "add" && page.cut.lowercase(at + 1) == "money")
            || (word == "top" && matches!(page.cut.lowercase(at + 1), "up" | "-"))
    };
    let wallet = page.matches_of(SmsWordClass::Wallet).any(|mark| {
        let sentence = page.sentence(mark.tokens.start);
        words(page).any(|(at, word)| filled(at, word) && page.sentence(at).abs_diff(sentence) <= 1)
    });
    let sent_by = event.class == SmsWordClass::Received
        || (page.class(event.end) == Some(SmsWordClass::From) && page.class(event.end + 1).is_none());
    wallet
        && !sent_by
        && event.class != SmsWordClass::Refunded
        && !page.has(SmsWordClass::Refund)
        && !page.has(SmsWordClass::Cashback)
}
