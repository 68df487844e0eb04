//! Everyday sentences in all the languages, and what each of them says.
//!
//! A line of `sentences.txt` is `language | message | what it says`, read on 15 November 2026 with no language told.
//! What it says is each number with its kind (`money 500`, `money? 100 150` when unsure, `money 100..150` for a
//! range), then its days (`on 2026-11-16`) and hours (`at 19:30`). To add a sentence, write down what it means, and only
//! then run the test.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use munshi_lang::{Certainty, MessageUnderstanding, NumberMention, UnderstandingContext, understand};

const SENTENCES: &str = include_str!("sentences.txt");

fn join<T: ToString>(all: impl IntoIterator<Item = T>, between: &str) -> String {
    all.into_iter().map(|one| one.to_string()).collect::<Vec<_>>().join(between)
}

fn doubt(certainty: Certainty) -> &'static str {
    if certainty == Certainty::Exact { "" } else { "?" }
}

fn number(found: &NumberMention) -> String {
    let kind = serde_json::to_value(found.kind).unwrap();
    let kind = kind.as_str().unwrap();
    let unit = found.unit.map(|unit| serde_json::to_value(unit).unwrap());
    let unit = unit.map(|unit| format!(" {}", unit.as_str().unwrap())).unwrap_or_default();
    match (&found.digits, found.range) {
        (Some(digits), _) => format!("{kind} {digits}"),
        (None, true) => format!("{kind} {}{unit}", join(&found.readings, "..")),
        (None, false) => format!("{kind}{} {}{unit}", doubt(found.certainty), join(&found.readings, " ")),
    }
}

fn said(found: &MessageUnderstanding) -> String {
    let numbers = found.numbers.iter().map(number);
    let days = found.dates.iter().map(|date| {
        let days = date.readings.iter().filter_map(|reading| reading.from);
        format!("on{} {}", doubt(date.certainty), join(days, " "))
    });
    let hours = found.times.iter().map(|time| {
        let hours = time.readings.iter().map(|hour| hour.strftime("%H:%M").to_string());
        format!("at{} {}", doubt(time.certainty), join(hours, " "))
    });
    join(numbers.chain(days).chain(hours), "; ")
}

#[test]
fn what_is_said_is_understood() {
    let today = Some(jiff::civil::date(2026, 11, 15));
    let context = UnderstandingContext { today, ..UnderstandingContext::default() };
    let mut wrong = Vec::new();
    for line in SENTENCES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let [language, message, expected] = *line.split(" | ").collect::<Vec<_>>() else {
            panic!("three parts: {line}")
        };
        let found = understand(message, &context);
        let got = (found.language.to_string(), said(&found));
        if got != (language.to_owned(), expected.trim().to_owned()) {
            wrong.push(format!("{line}\n    got {} | {}", got.0, got.1));
        }
    }
    assert!(wrong.is_empty(), "{} sentences:\n{}", wrong.len(), wrong.join("\n"));
}
