//! Days and stretches of days as arguments.

use munshi_lang::{DateExpression, DateMention, DateReading, DateSide};
use serde_json::Value;

use crate::fill::FilledArguments;
use crate::prepared_tools::ArgumentField;
use crate::reading::OfflineReading;

/// A day as `2026-11-15`; one that may be two days, or is any day of several, is a doubt. Needs to know today.
pub(crate) fn resolve_day(
    reading: &OfflineReading<'_>,
    field: &ArgumentField,
    filled: &mut FilledArguments,
) -> Option<Value> {
    let date = reading.dates.first()?;
    let fits = |day: &&DateReading| !(field.is_past && is_future(day.when));
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
const fn is_future(when: DateExpression) -> bool {
    match when {
        DateExpression::Day { offset }
        | DateExpression::Week { offset }
        | DateExpression::Month { offset }
        | DateExpression::Year { offset } => offset > 0,
        DateExpression::Weekday { side, .. }
        | DateExpression::DayOfMonth { side, .. }
        | DateExpression::Dated { side, year: None, .. } => {
            matches!(side, DateSide::After)
        }
        DateExpression::ComingWeekday { .. } => true,
        DateExpression::DayInMonth { offset, .. } => offset > 0,
        DateExpression::Dated { year: Some(_), .. } => false,
    }
}

/// A stretch by its name: today, yesterday, this_week, last_month.
pub(crate) fn find_period(reading: &OfflineReading<'_>) -> Option<Value> {
    reading.dates.iter().find_map(name).map(Value::from)
}

fn name(date: &DateMention) -> Option<&'static str> {
    date.readings.iter().find_map(|reading| match reading.when {
        DateExpression::Day { offset: 0 } => Some("today"),
        DateExpression::Day { offset: -1 } => Some("yesterday"),
        DateExpression::Week { offset: 0 } => Some("this_week"),
        DateExpression::Week { offset: -1 } => Some("last_week"),
        DateExpression::Month { offset: 0 } => Some("this_month"),
        DateExpression::Month { offset: -1 } => Some("last_month"),
        DateExpression::Year { offset: 0 } => Some("this_year"),
        DateExpression::Year { offset: -1 } => Some("last_year"),
        _ => None,
    })
}
