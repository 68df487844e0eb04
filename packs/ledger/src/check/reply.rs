//! The checklist before a reply: an amount that is told comes from the books or from the person.

use munshi_lang::{Context, Kind, format, understand};
use munshi_pack::Objection;
use munshi_types::Money;
use serde_json::Value;

/// Amounts of a draft that nobody has said. Where no tool was called the figures are those of the prompt, which are from
/// the books too.
pub(super) fn unfounded(message: &str, draft: &str, results: &[Value]) -> Option<Objection> {
    if results.is_empty() {
        return None;
    }
    let mut known = amounts(message);
    results.iter().for_each(|result| told(result, &mut known));
    let strange = amounts(draft).into_iter().find(|amount| !known.contains(amount))?;
    let amount = format::rupees(strange);
    Some(Objection {
        what: format!("{amount} is told, and no tool has said it"),
        phrase: "ledger-unfounded".to_owned(),
        slots: vec![("amount".to_owned(), amount)],
        replaces: false,
    })
}

/// Sums of money in a text, whatever their sign.
fn amounts(text: &str) -> Vec<Money> {
    let found = understand(text, &Context::default()).numbers;
    let money = found.into_iter().filter(|number| number.kind == Kind::Money);
    money.flat_map(|number| number.readings).filter_map(|value| value.as_money()).map(plain).collect()
}

/// Every number of a result, as paise and as rupees, and the amounts in its words.
fn told(value: &Value, known: &mut Vec<Money>) {
    match value {
        Value::Number(number) => {
            let whole = number.as_i64().unwrap_or_default();
            known.push(plain(Money::from_paise(whole)));
            known.extend(Money::from_rupees(whole).ok().map(plain));
        }
        Value::String(text) => known.extend(amounts(text)),
        Value::Array(items) => items.iter().for_each(|item| told(item, known)),
        Value::Object(fields) => fields.values().for_each(|field| told(field, known)),
        Value::Bool(_) | Value::Null => {}
    }
}

fn plain(amount: Money) -> Money {
    if amount.is_negative() { amount.negated().unwrap_or(amount) } else { amount }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_was_said_or_told_is_told_on() {
        let results = [json!({ "amount": 50_000, "balance": 120_000, "list": ["Sita ₹3,400"], "entry": { "number": 7 } })];
        let said = |draft: &str| unfounded("Ramesh ne ₹500 diye", draft, &results);
        for draft in [
            "₹500 from Ramesh is written. Ramesh owes you ₹1,200.",
            "Sita: ₹3,400",
            "Entry 7 is written.",
            "रमेश से ₹500 मिले, लिख दिया है।",
        ] {
            assert_eq!(said(draft), None, "{draft}");
        }
        let found = said("Ramesh now owes you ₹1,700.").unwrap();
        assert_eq!(found.slots, [("amount".to_owned(), "₹1,700".to_owned())]);
        assert_eq!(unfounded("hello", "Sales today are ₹90.", &[]), None);
    }
}
