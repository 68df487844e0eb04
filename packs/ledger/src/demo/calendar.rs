//! How busy a day is: the rhythm of the week, and the feasts.

use jiff::civil::{Date, Weekday};

use crate::books::LedgerDay;

/// Feasts that are kept all over the country, each with its day.
const FEASTS: &str = include_str!("../../lexicon/festivals.txt");

/// How many customers come, in percent of an ordinary day.
pub(super) fn traffic_percent(day: LedgerDay) -> u64 {
    let week = match day.to_date().weekday() {
        Weekday::Sunday => 140,
        Weekday::Saturday => 125,
        Weekday::Monday => 85,
        Weekday::Tuesday => 75,
        _ => 100,
    };
    week * festival_percent(day) / 100
}

/// People stock up in the week before a feast, most on its eve; on the day itself the shop closes early.
fn festival_percent(day: LedgerDay) -> u64 {
    let ahead = list_festivals().map(|(feast, name)| (feast.days_since(day), weight(name)));
    let near = ahead.filter(|(days, _)| (0..=7).contains(days));
    near.map(|(days, weight)| match days {
        0 => 60,
        1 | 2 => 100 + weight,
        _ => 100 + weight / 2,
    })
    .max()
    .unwrap_or(100)
}

fn weight(name: &str) -> u64 {
    match name {
        "diwali" | "dhanteras" => 120,
        "holi" | "rakhi" | "dussehra" | "eid" => 60,
        _ => 30,
    }
}

/// The first of the month is when people pay what they owe, and the shop its rent.
pub(super) fn is_payday(day: LedgerDay) -> bool {
    (1..=5).contains(&day.to_date().day())
}

fn list_festivals() -> impl Iterator<Item = (LedgerDay, &'static str)> {
    FEASTS.lines().filter_map(|line| {
        let (day, name) = line.split_once(' ')?;
        Some((LedgerDay::from_date(day.parse::<Date>().ok()?), name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sundays_and_the_eve_of_diwali_are_busy() {
        let bustle = |day: &str| super::traffic_percent(day.parse().unwrap());
        assert_eq!((bustle("2026-09-24"), bustle("2026-09-27")), (100, 140), "a Thursday and a Sunday");
        assert!(bustle("2026-11-06") > 200, "two days before Diwali");
        assert!(bustle("2026-11-08") < bustle("2026-11-07"), "on the day itself it closes early");
        assert_eq!(list_festivals().count(), FEASTS.lines().count(), "every line is read");
    }
}
