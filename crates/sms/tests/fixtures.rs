//! The messages in `tests/messages`, each with what must be read in it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use munshi_sms::{Payment, PaymentDirection, Sms, SmsReading, read};

struct Case {
    place: String,
    sender: Option<String>,
    text: String,
    expected: Vec<String>,
}

fn cases() -> Vec<Case> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/messages");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            in_file(&file.file_name().unwrap().to_string_lossy(), &std::fs::read_to_string(file).unwrap())
        })
        .collect()
}

fn in_file(name: &str, text: &str) -> Vec<Case> {
    let (mut cases, mut sender, mut lines) = (Vec::new(), None, Vec::new());
    for (number, line) in text.lines().enumerate() {
        if let Some(expected) = line.strip_prefix("= ") {
            let expected = expected.split('|').map(|part| part.trim().to_owned()).collect();
            let place = format!("{name}:{}", number + 1);
            cases.push(Case { place, sender: sender.take(), text: lines.join("\n"), expected });
            lines.clear();
        } else if let Some(id) = line.strip_prefix("> ") {
            sender = Some(id.to_owned());
        } else if !line.is_empty() && !line.starts_with("# ") {
            lines.push(line);
        }
    }
    assert!(lines.is_empty(), "{name} ends without what is expected");
    cases
}

/// What differs from what is expected, in words.
fn differences(case: &Case, reading: &SmsReading) -> Vec<String> {
    let kind = case.expected[0].as_str();
    match (kind, reading) {
        ("none", SmsReading::Nothing(nothing)) => {
            let why = format!("{nothing:?}").to_lowercase();
            let expected = case.expected.get(1);
            expected
                .filter(|expected| **expected != why)
                .map(|_| format!("none, but for {why}"))
                .into_iter()
                .collect()
        }
        ("none", SmsReading::Payment(payment)) => vec![format!("booked: {payment:?}")],
        (_, SmsReading::Nothing(nothing)) => vec![format!("not booked: {nothing:?}")],
        (_, SmsReading::Payment(payment)) => of_payment(case, payment),
    }
}

fn of_payment(case: &Case, payment: &Payment) -> Vec<String> {
    let direction = if payment.direction == PaymentDirection::Credit { "credit" } else { "debit" };
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    let money = |text: &str| text.parse::<munshi_types::Money>().unwrap().to_string();
    let mut found = Vec::new();
    let mut same = |what: &str, is: String, expected: String| {
        if is != expected {
            found.push(format!("{what} is {is}, not {expected}"));
        }
    };
    same("direction", direction.to_owned(), case.expected[0].clone());
    same("amount", payment.amount.to_string(), money(&case.expected[1]));
    for part in &case.expected[2..] {
        match part.split_once(' ') {
            Some(("a", tail)) => same("account", shown(&payment.account), tail.to_owned()),
            Some(("who", name)) => same("counterparty", shown(&payment.counterparty), name.to_owned()),
            Some(("purse", purse)) => {
                let found = payment.purse.map_or("-".to_owned(), |purse| format!("{purse:?}").to_lowercase());
                same("purse", found, purse.to_owned());
            }
            Some(("ref", reference)) => same("reference", shown(&payment.reference), reference.to_owned()),
            Some(("bal", balance)) => {
                let expected = if balance == "-" { balance.to_owned() } else { money(balance) };
                same("balance", shown(&payment.balance.map(|balance| balance.to_string())), expected);
            }
            _ => same("certainty", payment.certainty.as_str().to_owned(), part.clone()),
        }
    }
    found
}

#[test]
fn every_message_is_read_as_it_is_written_down() {
    let cases = cases();
    let nothings = cases.iter().filter(|case| case.expected[0] == "none").count();
    assert!(
        cases.len() >= 300 && nothings >= 120,
        "{} messages, {nothings} of them no payments",
        cases.len()
    );
    let mut wrong = Vec::new();
    for case in &cases {
        let reading = read(&Sms { text: &case.text, sender: case.sender.as_deref(), day: None });
        for difference in differences(case, &reading) {
            wrong.push(format!("{}: {difference}\n    {}", case.place, case.text.replace('\n', " ⏎ ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {} messages:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
