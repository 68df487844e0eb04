//! What never stands in an entry, whoever wrote it: secrets and phones. Names come from outside, and so do the names of
//! tools that a model makes up.

use std::ops::Range;

use munshi_privacy::{PiiKind, Scrubber, patterns};
use serde_json::Value;

use super::pseudonym::{PseudonymKey, derive_pseudonym};

/// Fewer digits are no phone.
const FEWEST_DIGITS: usize = 7;

/// Hashes of ours: one in thousands would look like a phone.
const HASHES: [&str; 4] = ["digest", "file", "hash", "link"];

/// A text without secrets and phones.
pub(super) fn redact_text(text: &str) -> String {
    replace_phones(&Scrubber::default().scrub_text(text), |_| PiiKind::Phone.placeholder().to_owned())
}

/// The same for every text of a payload, names of fields too.
pub(super) fn redact_json(value: &Value) -> Value {
    let mut clean = value.clone();
    Scrubber::default().scrub_json(&mut clean);
    redact_phones(&mut clean);
    clean
}

/// A text with pseudonyms in the place of its phones, for whoever is to be recognised again.
pub fn pseudonymise_phones(key: &PseudonymKey, text: &str) -> String {
    replace_phones(text, |phone| derive_pseudonym(key, phone))
}

/// Whether there is a phone in it.
pub fn contains_phone(text: &str) -> bool {
    !find_phones(text).is_empty()
}

fn redact_phones(value: &mut Value) {
    match value {
        Value::String(text) => *text = replace_phones(text, |_| PiiKind::Phone.placeholder().to_owned()),
        Value::Array(items) => items.iter_mut().for_each(redact_phones),
        Value::Object(fields) => {
            for (key, mut item) in std::mem::take(fields) {
                if !HASHES.contains(&key.as_str()) {
                    redact_phones(&mut item);
                }
                fields.insert(replace_phones(&key, |_| PiiKind::Phone.placeholder().to_owned()), item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn replace_phones(text: &str, with: impl Fn(&str) -> String) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for range in find_phones(text) {
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.push_str(&with(text.get(range.clone()).unwrap_or_default()));
        from = range.end;
    }
    out + text.get(from..).unwrap_or_default()
}

/// Where phones stand. Ids and pseudonyms are none, however many digits they have.
fn find_phones(text: &str) -> Vec<Range<usize>> {
    let digits = text.chars().filter(|letter| letter.is_numeric()).take(FEWEST_DIGITS).count();
    if digits < FEWEST_DIGITS || text.parse::<uuid::Uuid>().is_ok() {
        return Vec::new();
    }
    let ours: Vec<Range<usize>> = text.match_indices("phone:").map(|(at, _)| at..at + 38).collect();
    let is_ours = |range: &Range<usize>| {
        ours.iter().any(|one| {
            let hex = text.get(one.start + 6..one.end).unwrap_or_default();
            one.start <= range.start
                && range.end <= one.end
                && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
                && hex.len() == 32
        })
    };
    let found = patterns::find(text).into_iter().filter(|one| one.kind == PiiKind::Phone);
    found.map(|one| one.range).filter(|range| !is_ours(range)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use zeroize::Zeroizing;

    use super::*;

    #[test]
    fn phones_and_secrets_go_and_everything_else_stays() {
        for (text, kept) in [
            ("+919812345678", "[phone hidden]"),
            ("ravi 98123 45678", "ravi [phone hidden]"),
            ("pay_9812345678", "pay_[phone hidden]"),
            ("०९८१२३४५६७८", "[phone hidden]"),
            ("ledger.add", "ledger.add"),
            ("2026-11-15T03:30:00Z", "2026-11-15T03:30:00Z"),
            ("01a1dd41-32c0-7c53-a7d6-919812345678", "01a1dd41-32c0-7c53-a7d6-919812345678"),
            ("phone:12345678901234567890123456789012", "phone:12345678901234567890123456789012"),
        ] {
            assert_eq!(redact_text(text), kept, "{text}");
        }
        assert!(!redact_text("sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA").contains("AAAAAAAA"));
        let payload = json!({ "tool": "call 9812345678", "9812345678": [1], "amount": 9_812_345_678_u64, "hash": "9812345678" });
        let clean = json!({ "tool": "call [phone hidden]", "[phone hidden]": [1], "amount": 9_812_345_678_u64, "hash": "9812345678" });
        assert_eq!(redact_json(&payload), clean);
    }

    #[test]
    fn a_pseudonym_stands_where_the_phone_stood_and_stays() {
        for byte in 0..=255 {
            let key = PseudonymKey::new(Zeroizing::new([byte; 32]));
            let name = pseudonymise_phones(&key, "ravi +91 98123 45678");
            assert_eq!(name, format!("ravi {}", derive_pseudonym(&key, "+919812345678")));
            assert_eq!(redact_text(&name), name);
        }
    }
}
