//! Dates laid on a calendar.

use jiff::Span;
use jiff::civil::{Date, Weekday};

use super::{DateExpression, DateSide};
use crate::numbers::digits::to_ascii;

/// The first and the last day; none when there is no such day.
pub(super) fn resolve_range(when: DateExpression, today: Date) -> Option<(Date, Date)> {
    match when {
        DateExpression::Day { offset } => single_day(today.checked_add(days(offset)?).ok()),
        DateExpression::Week { offset } => {
            let day = today.checked_add(days(offset.checked_mul(7)?)?).ok()?;
            let back = day.weekday().to_monday_zero_offset();
            let monday = day.checked_sub(days(i32::from(back))?).ok()?;
            Some((monday, monday.checked_add(days(6)?).ok()?))
        }
        DateExpression::Month { offset } => {
            let day = today.checked_add(months(offset)?).ok()?;
            Some((day.first_of_month(), day.last_of_month()))
        }
        DateExpression::Year { offset } => {
            let day = today.checked_add(Span::new().try_years(offset).ok()?).ok()?;
            Some((day.first_of_year(), day.last_of_year()))
        }
        DateExpression::Weekday { weekday, side } => single_day(weekday_near(weekday, side, today)),
        DateExpression::ComingWeekday { weekday } => single_day(
            Weekday::from_monday_one_offset(weekday).ok().and_then(|day| today.nth_weekday(1, day).ok()),
        ),
        DateExpression::DayOfMonth { day, side } => single_day(day_near(day, side, today)),
        DateExpression::DayInMonth { day, offset } => {
            let month = today.first_of_month().checked_add(months(offset)?).ok()?;
            single_day(Date::new(month.year(), month.month(), day).ok())
        }
        DateExpression::Dated { day, month, year: Some(year), .. } => {
            single_day(Date::new(year, month, day).ok())
        }
        DateExpression::Dated { day, month, year: None, side } => {
            single_day(yearly_near(day, month, side, today))
        }
    }
}

// The plain constructors of spans panic past the calendar's end.
fn days(count: i32) -> Option<Span> {
    Span::new().try_days(count).ok()
}

fn months(count: i32) -> Option<Span> {
    Span::new().try_months(count).ok()
}

fn single_day(day: Option<Date>) -> Option<(Date, Date)> {
    day.map(|day| (day, day))
}

fn weekday_near(weekday: i8, side: DateSide, today: Date) -> Option<Date> {
    let weekday = Weekday::from_monday_one_offset(weekday).ok()?;
    match side {
        DateSide::After if today.weekday() == weekday => Some(today),
        DateSide::After => today.nth_weekday(1, weekday).ok(),
        DateSide::Before => today.nth_weekday(-1, weekday).ok(),
    }
}

/// The nearest month that has the day.
fn day_near(day: i8, side: DateSide, today: Date) -> Option<Date> {
    let step = if side == DateSide::After { 1 } else { -1 };
    (0..4).find_map(|count: i32| {
        let month = today.first_of_month().checked_add(months(count * step)?).ok()?;
        let found = Date::new(month.year(), month.month(), day).ok()?;
        (if side == DateSide::After { found >= today } else { found <= today }).then_some(found)
    })
}

fn yearly_near(day: i8, month: i8, side: DateSide, today: Date) -> Option<Date> {
    let step: i16 = if side == DateSide::After { 1 } else { -1 };
    (0..5).find_map(|years: i16| {
        let found = Date::new(today.year() + years * step, month, day).ok()?;
        (if side == DateSide::After { found >= today } else { found <= today }).then_some(found)
    })
}

/// A date in three numbers: day first, as India writes it, or year first, as machines do.
pub(super) fn parse_date(first: &str, second: &str, third: &str) -> Option<Vec<DateExpression>> {
    let plain: Vec<String> = [first, second, third].iter().map(|part| to_ascii(part)).collect();
    let [first, second, third] = plain.as_slice() else { return None };
    if first.len() == 4 {
        return parse_full_date(third, second, first).map(|when| vec![when]);
    }
    let year = if third.len() == 2 { format!("20{third}") } else { third.clone() };
    if let Some(when) = parse_full_date(first, second, &year) {
        return Some(vec![when]);
    }
    // Month first, where the other order gives no day.
    parse_full_date(second, first, &year).map(|when| vec![when])
}

fn parse_full_date(day: &str, month: &str, year: &str) -> Option<DateExpression> {
    let (day, month, year) = (day.parse().ok()?, month.parse().ok()?, year.parse().ok()?);
    Date::new(year, month, day).ok().filter(|_| year > 1900)?;
    Some(DateExpression::Dated { day, month, year: Some(year), side: DateSide::After })
}

/// Whether three numbers are written as a date is, be there such a day or not: 31/02/2026.
pub(super) fn looks_like_date(first: &str, second: &str, third: &str) -> bool {
    let part = |text: &str| to_ascii(text).parse::<u16>().ok();
    let (Some(first), Some(second), Some(third)) = (part(first), part(second), part(third)) else {
        return false;
    };
    let year = |value: u16| (1900..2200).contains(&value);
    let small = |value: u16| value < 100;
    small(second) && ((small(first) && year(third)) || (year(first) && small(third)))
}

/// A day and a month without a year.
pub(super) fn parse_day_and_month(day: &str, month: &str, sides: &[DateSide]) -> Option<Vec<DateExpression>> {
    let (day, month): (i8, i8) = (to_ascii(day).parse().ok()?, to_ascii(month).parse().ok()?);
    // A leap year, so that 29/2 is a day.
    Date::new(2024, month, day).ok()?;
    Some(sides.iter().map(|side| DateExpression::Dated { day, month, year: None, side: *side }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn the_nearest_day_on_each_side() {
        let today = date(2026, 11, 15);
        let near = |when| resolve_range(when, today).map(|span| span.0);
        assert_eq!(
            near(DateExpression::DayOfMonth { day: 31, side: DateSide::After }),
            Some(date(2026, 12, 31))
        );
        assert_eq!(
            near(DateExpression::DayOfMonth { day: 31, side: DateSide::Before }),
            Some(date(2026, 10, 31))
        );
        assert_eq!(near(DateExpression::DayOfMonth { day: 15, side: DateSide::Before }), Some(today));
        assert_eq!(near(DateExpression::Weekday { weekday: 7, side: DateSide::After }), Some(today));
        assert_eq!(
            near(DateExpression::Weekday { weekday: 7, side: DateSide::Before }),
            Some(date(2026, 11, 8))
        );
        assert_eq!(
            near(DateExpression::Dated { day: 29, month: 2, year: None, side: DateSide::After }),
            Some(date(2028, 2, 29))
        );
        assert_eq!(
            resolve_range(DateExpression::Week { offset: 1 }, today),
            Some((date(2026, 11, 16), date(2026, 11, 22)))
        );
        assert_eq!(resolve_range(DateExpression::Day { offset: i32::MAX }, today), None);
    }

    #[test]
    fn dates_are_read_day_first() {
        let when = |day, month, year| {
            Some(vec![DateExpression::Dated { day, month, year: Some(year), side: DateSide::After }])
        };
        assert_eq!(parse_date("05", "08", "2026"), when(5, 8, 2026));
        assert_eq!(parse_date("2026", "08", "05"), when(5, 8, 2026));
        assert_eq!(parse_date("12", "31", "26"), when(31, 12, 2026));
        assert_eq!(parse_date("३१", "१२", "२०२६"), when(31, 12, 2026));
        assert_eq!(parse_date("32", "13", "2026"), None);
    }
}
