//! Words before digits that say what they name, and words after that say they are a price.

use super::IdentifierKind;
use crate::lexicon::{Languages, Meaning};
use crate::token::MessageToken;
use crate::tokenized_message::TokenizedMessage;

/// Fewer digits than this may be a price.
const LONG: usize = 8;

/// Fewer digits than this are no telephone number.
const DIALLED: usize = 6;

/// Things that have numbers: flat no 302, bill no 45. As the fold leaves them.
const NUMBERED: &[&str] = &[
    "flat", "rum", "room", "bil", "invoice", "invois", "cheque", "chek", "check", "house", "haus", "makan",
    "ghar", "shop", "dukan", "plot", "order", "ordar", "ticket", "tiket", "train", "bus", "gari", "gadi",
    "rol", "roll", "token", "seat", "sit", "page", "slip", "chalan", "receipt", "ward", "gate", "serial",
    "sr", "sl", "voucher", "table", "tebal", "item", "challan", "bill", "account", "ac", "card", "kard",
];

/// Things one has, and also buys: a phone, an AC, a card.
const GOODS: &[&str] =
    &["phone", "fon", "mobile", "mobail", "mob", "ac", "card", "kard", "फोन", "मोबाइल", "फ़ोन"];

/// What money is put into.
const FILLED: &[&str] =
    &["account", "acc", "acct", "ac", "card", "kard", "khata", "khate", "खाते", "खाता", "कार्ड"];

/// Words after a price: 15000 *ka liya*, 12000 *mein becha*.
const PRICED: &[&str] = &[
    "ka",
    "ki",
    "ke",
    "mein",
    "me",
    "main",
    "liya",
    "lia",
    "liye",
    "kharida",
    "becha",
    "bechi",
    "bika",
    "का",
    "की",
    "के",
    "में",
    "लिया",
    "खरीदा",
    "बेचा",
    "for",
    "only",
];

/// A word just before the digits that says what they name.
pub(super) fn find_label(reader: &TokenizedMessage<'_>, from: usize, digits: &str) -> Option<IdentifierKind> {
    if is_numbered(reader, from) || is_place(reader, from, digits) || is_cheque(reader, from, digits) {
        return Some(IdentifierKind::Account);
    }
    let short = digits.len() < LONG;
    let mut loose = false;
    for back in 1..=3 {
        let at = from.checked_sub(back)?;
        let token = reader.token(at)?;
        // `a/c` comes apart at its slash.
        if is_any_of(token, &["a"]) && reader.token(at + 1).is_some_and(|next| next.text == "/") {
            return (digits.len() > 2).then_some(IdentifierKind::Account);
        }
        if let Some(naming) = label_kind(token) {
            // A round figure right after them is what went into them: account 50000 bheja.
            let paid = back == 1 && digits.ends_with("00") && is_any_of(token, FILLED);
            let goods = paid || (is_any_of(token, GOODS) && back == 1 && is_priced(reader, from + 1, digits));
            // A few digits are dialled by nobody: number 500 diya.
            let code = is_any_of(token, &["otp", "pin", "pincode"]);
            let least = if naming == IdentifierKind::Phone && !code { DIALLED } else { 3 };
            return (digits.len() >= least && !(short && (goods || loose))).then_some(naming);
        }
        // `phone ka 500` is a price; `phone ka 9876…` is none.
        loose |= is_any_of(token, &["ka", "ki", "ke", "pe", "par", "का", "की", "के", "पर"]);
        let filler = matches!(token.text, "." | ":" | "#" | "-" | "/")
            || is_any_of(token, &["c", "no", "number", "code", "ending", "with", "is", "hai"]);
        if !filler && !loose {
            return None;
        }
    }
    None
}

fn label_kind(token: &MessageToken<'_>) -> Option<IdentifierKind> {
    token.find(Languages::EVERY, |meaning| match meaning {
        Meaning::Phone => Some(IdentifierKind::Phone),
        Meaning::Account => Some(IdentifierKind::Account),
        _ => None,
    })
}

fn is_any_of(token: &MessageToken<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| token.text.eq_ignore_ascii_case(word))
}

/// Whether what follows the digits makes a price of them. Round ones with nothing after them are one, and money is
/// sent into an account: ac 123456 *me bhejo*.
fn is_priced(reader: &TokenizedMessage<'_>, at: usize, digits: &str) -> bool {
    const SENT: &[&str] =
        &["bhejo", "bhej", "bheje", "bheja", "bhejna", "transfer", "send", "jama", "dalo", "daalo"];
    let Some(token) = reader.token(at) else { return digits.ends_with("00") };
    let into = is_any_of(token, &["mein", "me", "main", "में"]);
    is_any_of(token, PRICED) && !(into && reader.tokens.iter().any(|token| is_any_of(token, SENT)))
}

/// `flat no 302`, `bill no. 45`, `room number 7`. A bare `no` also belongs to a person in Gujarati.
fn is_numbered(reader: &TokenizedMessage<'_>, from: usize) -> bool {
    let before = |back: usize| from.checked_sub(back).and_then(|at| reader.token(at));
    let sign = before(1).is_some_and(|token| matches!(token.text, "." | ":" | "#" | "-"));
    let word = 1 + usize::from(sign);
    let number =
        before(word).is_some_and(|token| is_any_of(token, &["no", "nos", "num", "number", "नंबर", "नं"]));
    let thing = before(word + 1).is_some_and(|token| {
        NUMBERED.contains(&token.key.as_str()) || is_any_of(token, NUMBERED) || label_kind(token).is_some()
    });
    let dotted = before(1).is_some_and(|token| token.text == "." && token.glued);
    number && (thing || dotted)
}

/// `flat 302`, `room 7`: places have small numbers, and no round ones.
fn is_place(reader: &TokenizedMessage<'_>, from: usize, digits: &str) -> bool {
    const PLACES: &[&str] =
        &["flat", "room", "plot", "seat", "token", "table", "gate", "ward", "kamra", "फ्लैट", "कमरा"];
    let place = reader.token_before(from).is_some_and(|token| is_any_of(token, PLACES));
    place && digits.len() < 4 && !digits.ends_with("00")
}

/// A cheque has six digits; round ones are its amount.
fn is_cheque(reader: &TokenizedMessage<'_>, from: usize, digits: &str) -> bool {
    let cheque = reader
        .token_before(from)
        .is_some_and(|token| is_any_of(token, &["cheque", "check", "chq", "chek", "चेक"]));
    cheque && digits.len() == 6 && !digits.ends_with("00")
}
