//! Dates that were read twice, in parts, or not at all.

use jiff::civil::date;

use super::DateExpression;
use crate::amounts::NumberKind;
use crate::numbers::Certainty;
use crate::understand::{MessageUnderstanding, UnderstandingContext, understand};

fn read(message: &str) -> MessageUnderstanding {
    understand(
        message,
        &UnderstandingContext { today: Some(date(2026, 11, 15)), ..UnderstandingContext::default() },
    )
}

fn days(message: &str) -> Vec<Vec<String>> {
    let days = |found: &super::DateMention| {
        found.readings.iter().filter_map(|day| Some(day.from?.to_string())).collect::<Vec<_>>()
    };
    read(message).dates.iter().map(days).collect()
}

#[test]
fn one_day_is_one_reading() {
    assert_eq!(days("pay on the 15th"), [["2026-11-15"]]);
    assert_eq!(read("pay on the 15th").dates[0].certainty, Certainty::Exact);
}

#[test]
fn a_day_of_another_month_is_one_date() {
    for message in
        ["agle mahine 5 tareekh ko 500 dena", "5 tareekh agle mahine 500 dena", "agle mahine ki 5 tareekh"]
    {
        assert_eq!(days(message), [["2026-12-05"]], "{message}");
    }
    let found = read("agle mahine 5 tareekh").dates;
    assert_eq!(found[0].readings[0].when, DateExpression::DayInMonth { day: 5, offset: 1 });
}

#[test]
fn a_limit_is_a_day_and_no_range() {
    let found = read("15 tak 1500 dena");
    let kinds: Vec<_> =
        found.numbers.iter().map(|one| (one.kind, one.value.to_string(), one.range)).collect();
    assert_eq!(
        kinds,
        [(NumberKind::Date, "15".to_owned(), false), (NumberKind::Money, "1500".to_owned(), false)]
    );
    assert_eq!(found.dates.len(), 1);
}

#[test]
fn the_verb_of_the_clause_decides() {
    for (message, expected) in [
        ("Ramesh ne 500 diye kal 600 dega", &[&["2026-11-16"][..]][..]),
        ("Ramesh ne 500 diye kal aur kal 600 dega", &[&["2026-11-14"], &["2026-11-16"]]),
        ("kal Ramesh ne 500 diye, 600 dega", &[&["2026-11-14"]]),
        ("kal aaunga", &[&["2026-11-16"]]),
        ("রমেশ কাল 500 টাকা দিয়েছিল", &[&["2026-11-14"]]),
    ] {
        assert_eq!(days(message), expected, "{message}");
    }
}

#[test]
fn a_day_no_calendar_has_is_refused() {
    for message in ["31/02/2026", "32/13/2026", "2026-02-31"] {
        let found = read(message);
        assert_eq!(found.dates.len(), 1, "{message}");
        assert_eq!((found.dates[0].certainty, found.dates[0].readings.len()), (Certainty::Ambiguous, 0));
        assert!(found.dates[0].no_such_day, "{message}");
        assert!(found.numbers.iter().all(|one| one.kind == NumberKind::Date), "{message}");
    }
}
