//! Figures in what was said and in what tools answered.

use munshi_lang::{NumberKind, NumberMention, UnderstandingContext, understand};
use munshi_types::Money;
use serde_json::Value;

/// What stands before an amount of rupees, in small letters.
const SIGNS: [&str; 4] = ["₹", "rs.", "rs", "inr"];
/// A bare number from here on is hardly ever a count of anything but money or stock.
const MANY: i64 = 100;
/// Bare numbers that are years.
const YEARS: std::ops::RangeInclusive<i64> = 1900..=2100;
/// Words by which the fields of our results count paise.
const PAISE: [&str; 3] = ["amount", "total", "balance"];

/// Amounts with a sign of rupees before them, or the word for rupees beside them. Bare words are left alone: in eleven
/// languages some read as a number that was not meant.
pub(super) fn amounts(text: &str) -> Vec<Money> {
    marked_amounts(text, &understand(text, &UnderstandingContext::default()).numbers)
}

/// Those, and bare numbers that look like an amount: no time, no telephone number, nothing of so much in a hundred.
pub(super) fn likely_amounts(text: &str) -> Vec<Money> {
    let read = understand(text, &UnderstandingContext::default()).numbers;
    let mut all = marked_amounts(text, &read);
    for amount in bare_amounts(&read) {
        if !all.contains(&amount) {
            all.push(amount);
        }
    }
    all
}

fn marked_amounts(text: &str, read: &[NumberMention]) -> Vec<Money> {
    let low = text.to_lowercase();
    // Hours end like rupees.
    let stands_alone =
        |at: &usize| !low.get(..*at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
    let places = SIGNS.into_iter().flat_map(|sign| {
        let places = low.match_indices(sign).map(|(at, _)| at);
        places.filter(move |at| sign == "₹" || stands_alone(at)).map(move |at| at + sign.len())
    });
    let signed: Vec<Money> =
        places.filter_map(|at| number(low.get(at..)?.trim_start()).map(|(amount, _)| amount)).collect();
    let named = read.iter().filter(|amount| amount.kind == NumberKind::Money && !amount.readings.is_empty());
    // Where a sign stands before a number, it was read above.
    let unsigned = named.filter(|amount| !amount.readings.iter().any(|one| holds(&signed, one.as_money())));
    let unsigned: Vec<Money> = unsigned.filter_map(|amount| amount.readings.first()?.as_money()).collect();
    signed.into_iter().chain(unsigned).collect()
}

fn holds(known: &[Money], amount: Option<Money>) -> bool {
    amount.is_some_and(|amount| known.contains(&amount))
}

fn bare_amounts(read: &[NumberMention]) -> impl Iterator<Item = Money> + '_ {
    let plain = read.iter().filter(|number| number.unit.is_none());
    let plain = plain.filter(|number| matches!(number.kind, NumberKind::Plain | NumberKind::Money));
    let likely = plain.filter_map(|number| number.readings.first()?.as_money());
    likely.filter(|amount| looks_like_money(*amount))
}

fn looks_like_money(amount: Money) -> bool {
    let rupees = amount.as_paise() / 100;
    rupees >= MANY && !YEARS.contains(&rupees)
}

/// Every number in digits.
pub(super) fn numbers(text: &str) -> Vec<Money> {
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

/// The numbers of a result that are money. Our own fields count paise, and only those named so are money; what other tools
/// count is not known, so it may be either.
pub(super) fn field_amounts(result: &Value) -> Vec<Money> {
    let mut known = Vec::new();
    add_numbers(result, "", is_ours(result), &mut known);
    known
}

/// The amounts in a result's texts.
pub(super) fn text_amounts(result: &Value) -> Vec<Money> {
    let mut known = Vec::new();
    add_texts(result, is_ours(result), &mut known);
    known
}

fn is_ours(result: &Value) -> bool {
    let phrases = result.get("reply").and_then(Value::as_array);
    phrases.is_some_and(|phrases| {
        phrases.iter().all(|phrase| phrase.as_str().is_some_and(|name| name.starts_with("ledger-")))
    })
}

fn add_numbers(value: &Value, name: &str, is_ours: bool, known: &mut Vec<Money>) {
    match value {
        Value::Number(number) => {
            let whole = number.as_i64().unwrap_or_default();
            let plain = i64::try_from(whole.unsigned_abs()).unwrap_or(i64::MAX);
            if !is_ours || PAISE.iter().any(|word| name.split('_').any(|part| part == *word)) {
                known.push(Money::from_paise(plain));
            }
            if !is_ours {
                known.extend(Money::from_rupees(plain).ok());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_numbers(item, name, is_ours, known)),
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| add_numbers(field, name, is_ours, known));
        }
        Value::String(_) | Value::Bool(_) | Value::Null => {}
    }
}

fn add_texts(value: &Value, is_ours: bool, known: &mut Vec<Money>) {
    match value {
        Value::String(text) if is_ours => known.extend(amounts(text)),
        Value::String(text) => known.extend(numbers(text)),
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, is_ours, known)),
        Value::Object(fields) => fields.values().for_each(|field| add_texts(field, is_ours, known)),
        Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paise(amount: i64) -> Money {
        Money::from_paise(amount)
    }

    #[test]
    fn amounts_are_read_in_every_script() {
        assert_eq!(amounts("₹1,250.50 and Rs. 300, rs5"), [paise(125_050), paise(30_000), paise(500)]);
        assert_eq!(amounts("₹५०० और ₹ ௧௨"), [paise(50_000), paise(1_200)]);
        assert_eq!(amounts("hours 5, 300 of it"), []);
        for text in ["500 rupees", "500 rupaye", "500 रुपये", "৫০০ টাকা", "500 rs"] {
            assert_eq!(amounts(text), [paise(50_000)], "{text}");
        }
        assert_eq!(
            numbers("a/c **4471, 15-11-26"),
            [paise(447_100), paise(1_500), paise(1_100), paise(2_600)]
        );
    }

    #[test]
    fn a_bare_number_may_be_an_amount() {
        assert_eq!(likely_amounts("Ramesh owes 500"), [paise(50_000)]);
        for text in
            ["3 things, 24 of them", "since 2026", "at 10:30", "on 15 November 2026", "call 9812345678"]
        {
            assert_eq!(likely_amounts(text), [], "{text}");
        }
    }

    #[test]
    fn our_results_count_paise_and_nothing_else_is_money() {
        let result = json!({
            "amount": 12_345, "balance": -120_000, "list": ["Sita ₹3,400"], "number": 77, "date": "2026-11-15",
            "people": [{ "name": "Sita", "balance": 340_000 }], "reply": ["ledger-owes"],
        });
        let known = [field_amounts(&result), text_amounts(&result)].concat();
        for amount in [12_345, 120_000, 340_000] {
            assert!(known.contains(&paise(amount)), "{amount}");
        }
        for amount in [1_234_500, 7_700, 202_600, 1_500] {
            assert!(!known.contains(&paise(amount)), "{amount}");
        }
        assert!(text_amounts(&json!({ "value": "250" })).contains(&paise(25_000)));
    }
}
