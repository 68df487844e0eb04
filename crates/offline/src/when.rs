//! Days and stretches of days as arguments.

use munshi_lang::{DateFound, DateReading, Side, When};
use serde_json::Value;

use crate::fill::Filled;
use crate::palette::Field;
use crate::reading::Reading;

/// A day as `2026-11-15`; one that may be two days, or is any day of several, is a doubt. Needs to know today.
pub(crate) fn day(reading: &Reading<'_>, field: &Field, filled: &mut Filled) -> Option<Value> {
    let date = reading.dates.first()?;
    let fits = |day: &&DateReading| !(field.is_past && is_to_come(day.when));
    // "Last week" names no day.
    if date.readings.iter().filter(fits).any(|day| day.from != day.to) {
        filled.doubts.push((field.name.clone(), Vec::new()));
        return None;
    }
    let days: Vec<Value> = date
        .readings
        .iter()
        .filter(fits)
        .filter_map(|day| day.from)
        .map(|day| Value::from(day.to_string()))
        .collect();
    if days.len() > 1 {
        filled.doubts.push((field.name.clone(), days));
        return None;
    }
    days.into_iter().next()
}

/// Whether a day surely lies after today.
const fn is_to_come(when: When) -> bool {
    match when {
        When::Day { offset } | When::Week { offset } | When::Month { offset } | When::Year { offset } => {
            offset > 0
        }
        When::Weekday { side, .. } | When::DayOfMonth { side, .. } | When::Dated { side, year: None, .. } => {
            matches!(side, Side::After)
        }
        When::ComingWeekday { .. } => true,
        When::DayInMonth { offset, .. } => offset > 0,
        When::Dated { year: Some(_), .. } => false,
    }
}

/// A stretch by its name: today, yesterday, this_week, last_month.
pub(crate) fn period(reading: &Reading<'_>) -> Option<Value> {
    reading.dates.iter().find_map(name).map(Value::from)
}

fn name(date: &DateFound) -> Option<&'static str> {
    date.readings.iter().find_map(|reading| match reading.when {
        When::Day { offset: 0 } => Some("today"),
        When::Day { offset: -1 } => Some("yesterday"),
        When::Week { offset: 0 } => Some("this_week"),
        When::Week { offset: -1 } => Some("last_week"),
        When::Month { offset: 0 } => Some("this_month"),
        When::Month { offset: -1 } => Some("last_month"),
        When::Year { offset: 0 } => Some("this_year"),
        When::Year { offset: -1 } => Some("last_year"),
        _ => None,
    })
}
