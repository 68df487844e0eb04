//! The checklist before a reply: an amount that is told comes from the books or from what was said, and what is said to
//! be written was written.

use munshi_lang::{Context, answers, format, understand};
use munshi_pack::{Objection, Scene};
use munshi_types::Money;
use serde_json::Value;

use super::claim::{Claim, claim};

/// What stands before an amount of rupees, in small letters.
const SIGNS: [&str; 4] = ["₹", "rs.", "rs", "inr"];

/// Amounts of a draft that nobody has said. Where no tool was called the figures are those of the prompt, which are from
/// the books too.
pub(super) fn unfounded(scene: &Scene, draft: &str, results: &[Value]) -> Option<Objection> {
    if results.is_empty() {
        return None;
    }
    let told = amounts(draft);
    if told.is_empty() {
        return None;
    }
    let mut known = numbers(&scene.message);
    scene.before.iter().for_each(|said| known.extend(numbers(said)));
    results.iter().for_each(|result| add(result, &mut known));
    let strange = told.into_iter().find(|amount| !known.contains(amount))?;
    let amount = format::rupees(strange);
    Some(Objection {
        what: format!("{amount} is told, and no tool has said it"),
        phrase: "ledger-unfounded".to_owned(),
        slots: vec![("amount".to_owned(), amount)],
        replaces: false,
    })
}

/// What the tools say that only look. A result with other phrases is of one that writes; one without any is not ours.
const LOOKS: [&str; 15] = [
    "ledger-owes",
    "ledger-owed",
    "ledger-even",
    "ledger-debtors",
    "ledger-no-debtors",
    "ledger-summary-day",
    "ledger-summary-days",
    "ledger-summary-money",
    "ledger-stock",
    "ledger-low",
    "ledger-no-low",
    "ledger-day-book",
    "ledger-day-empty",
    "ledger-pay",
    "ledger-pay-any",
];

/// That a draft says something was written, where no tool of the turn has written anything. It takes the draft's place
/// where that is plain and the person has told of an amount; else it is said after it.
pub(super) fn unwritten(scene: &Scene, draft: &str, results: &[Value]) -> Option<Objection> {
    // Whoever says no is told that it is cancelled.
    if !results.iter().all(only_looks) || answers::reply(&scene.message) == answers::Reply::No {
        return None;
    }
    let claim = claim(draft)?;
    let said = said(&scene.message);
    let is_told = || numbers(draft).iter().any(|amount| said.contains(amount));
    if claim == Claim::Done && !is_told() {
        return None;
    }
    Some(Objection {
        what: "it says that something was written, and nothing was".to_owned(),
        phrase: "ledger-unwritten".to_owned(),
        slots: Vec::new(),
        replaces: claim == Claim::Written && !said.is_empty() && !scene.message.contains('?'),
    })
}

/// The amounts of a message, in digits and in words.
fn said(message: &str) -> Vec<Money> {
    let read = understand(message, &Context::default()).numbers;
    let readings = read.iter().flat_map(|number| &number.readings).filter_map(|reading| reading.as_money());
    numbers(message).into_iter().chain(readings).collect()
}

fn only_looks(result: &Value) -> bool {
    let phrases = result.get("reply").and_then(Value::as_array);
    phrases.is_some_and(|phrases| {
        phrases.iter().all(|phrase| phrase.as_str().is_some_and(|name| LOOKS.contains(&name)))
    })
}

/// Amounts with a sign of rupees before them. Words are left alone: in eleven languages some read as a number that was
/// not meant.
fn amounts(text: &str) -> Vec<Money> {
    let low = text.to_lowercase();
    // Hours end like rupees.
    let stands_alone =
        |at: &usize| !low.get(..*at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
    let places = SIGNS.into_iter().flat_map(|sign| {
        let places = low.match_indices(sign).map(|(at, _)| at);
        places.filter(move |at| sign == "₹" || stands_alone(at)).map(move |at| at + sign.len())
    });
    places.filter_map(|at| number(low.get(at..)?.trim_start()).map(|(amount, _)| amount)).collect()
}

/// Every number in digits.
fn numbers(text: &str) -> Vec<Money> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(|letter: char| digit(letter).is_some()) {
        rest = rest.get(at..).unwrap_or_default();
        let Some((amount, length)) = number(rest) else { break };
        found.push(amount);
        rest = rest.get(length..).unwrap_or_default();
    }
    found
}

/// The number that a text begins with, as rupees, and how many bytes it takes.
fn number(text: &str) -> Option<(Money, usize)> {
    let mut plain = String::new();
    let mut length = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let goes_on = letters.peek().is_some_and(|(_, next)| digit(*next).is_some());
        match (digit(letter), letter) {
            (Some(digit), _) => plain.push(digit),
            (None, ',') if goes_on && !plain.is_empty() => {}
            (None, '.') if goes_on && !plain.is_empty() && !plain.contains('.') => plain.push('.'),
            _ => break,
        }
        length = at + letter.len_utf8();
    }
    plain.parse().ok().map(|amount| (amount, length))
}

/// A digit of any of our scripts as an ASCII one.
fn digit(letter: char) -> Option<char> {
    const ZEROS: [char; 10] = ['0', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦'];
    ZEROS.into_iter().find_map(|zero| {
        let value = u32::from(letter).checked_sub(u32::from(zero)).filter(|value| *value < 10)?;
        char::from_digit(value, 10)
    })
}

/// Every number of a result, as paise and as rupees, and those in its words.
fn add(value: &Value, known: &mut Vec<Money>) {
    match value {
        Value::Number(number) => {
            let whole = number.as_i64().unwrap_or_default();
            let plain = i64::try_from(whole.unsigned_abs()).unwrap_or(i64::MAX);
            known.push(Money::from_paise(plain));
            known.extend(Money::from_rupees(plain).ok());
        }
        Value::String(text) => known.extend(numbers(text)),
        Value::Array(items) => items.iter().for_each(|item| add(item, known)),
        Value::Object(fields) => fields.values().for_each(|field| add(field, known)),
        Value::Bool(_) | Value::Null => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn amounts_are_read_in_every_script() {
        let paise = |amount: i64| Money::from_paise(amount);
        assert_eq!(amounts("₹1,250.50 and Rs. 300, rs5"), [paise(125_050), paise(30_000), paise(500)]);
        assert_eq!(amounts("₹५०० और ₹ ௧௨"), [paise(50_000), paise(1_200)]);
        assert_eq!(amounts("hours 5, 300 of it"), []);
        assert_eq!(
            numbers("a/c **4471, 15-11-26"),
            [paise(447_100), paise(1_500), paise(1_100), paise(2_600)]
        );
    }

    #[test]
    fn what_a_result_says_is_known() {
        let mut known = Vec::new();
        add(&json!({ "amount": 50_000, "balance": -120_000, "list": ["Sita ₹3,400"] }), &mut known);
        for amount in [50_000, 120_000, 340_000] {
            assert!(known.contains(&Money::from_paise(amount)), "{amount}");
        }
    }
}
