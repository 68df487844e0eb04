//! Numbers written in digits of any script, with Indian or western commas.

use super::{Certainty, NumberReadings};
use crate::number::Number;
use crate::token::{digit_value, is_gap, is_unseen, normalize_separator};

/// What a run of digits, commas and points may be.
pub(crate) fn read(text: &str) -> Option<NumberReadings> {
    let plain = to_ascii(text);
    if plain.contains(' ') {
        return read_spaced_groups(&plain);
    }
    let (whole, decimals) = match plain.rsplit_once('.') {
        Some((whole, decimals)) if !whole.contains('.') => (whole, Some(decimals)),
        Some(_) => return None,
        None => (plain.as_str(), None),
    };
    if decimals.is_some_and(|decimals| decimals.contains(',')) {
        return None;
    }
    let whole = if whole.is_empty() && decimals.is_some() { "0" } else { whole };
    let joined: String = whole.chars().filter(|letter| *letter != ',').collect();
    let (value, cut) = match decimals {
        Some(decimals) => with_decimals(&joined, decimals)?,
        None => (Number::from_decimal(&joined)?, false),
    };
    let mut readings = vec![value];
    if cut {
        return Some(NumberReadings { certainty: Certainty::Ambiguous, readings });
    }
    if !has_valid_grouping(whole) {
        // A comma where no one groups may be a decimal comma.
        if let Some((before, after)) = whole.rsplit_once(',')
            && !before.contains(',')
            && let Some(other) = Number::from_decimal(&format!("{before}.{after}"))
        {
            readings.push(other);
        }
        return Some(NumberReadings { certainty: Certainty::Ambiguous, readings });
    }
    // 1.500 is one and a half here, fifteen hundred elsewhere.
    if decimals.is_some_and(|decimals| decimals.len() == 3) && whole.len() < 4 && !whole.starts_with('0') {
        readings.extend(Number::from_decimal(&plain.replace(['.', ','], "")));
        return Some(NumberReadings { certainty: Certainty::Ambiguous, readings });
    }
    // 500,700 may be two amounts; 1,500 and 500,000 are each one.
    let parts: Vec<&str> = whole.split(',').collect();
    if decimals.is_none() && !has_indian_grouping(whole) && parts.last().is_some_and(|last| *last != "000") {
        readings.extend(parts.iter().filter_map(|part| Number::from_decimal(part)));
        return Some(NumberReadings { certainty: Certainty::Ambiguous, readings });
    }
    Some(NumberReadings { certainty: Certainty::Exact, readings })
}

/// A number with its decimals, and whether there were more of them than are kept.
fn with_decimals(whole: &str, decimals: &str) -> Option<(Number, bool)> {
    let said = decimals.trim_end_matches('0');
    let kept = said.get(..Number::DECIMALS).unwrap_or(said);
    Some((Number::from_decimal(&format!("{whole}.{kept}"))?, kept != said))
}

/// Groups parted by spaces: one number, or several.
fn read_spaced_groups(plain: &str) -> Option<NumberReadings> {
    let mut readings = vec![Number::from_decimal(&plain.replace([' ', ','], ""))?];
    for part in plain.split([' ', ',']).filter_map(Number::from_decimal) {
        if part != Number::ZERO && !readings.contains(&part) {
            readings.push(part);
        }
    }
    // 500 700 is likelier two amounts than half a million.
    let groups: Vec<&str> = plain.split(' ').collect();
    if groups.first().is_some_and(|first| first.len() == 3) && groups.last() != Some(&"000") {
        readings.rotate_left(1);
    }
    Some(NumberReadings { certainty: Certainty::Ambiguous, readings })
}

/// One number that is grouped as the west does it, unless its groups are as likely two round amounts: 500,700.
pub(crate) fn parse_western(text: &str) -> Option<Number> {
    let plain = to_ascii(text);
    let whole = plain.contains(',') && plain.bytes().all(|b| b.is_ascii_digit() || b == b',');
    let round = |part: &str| part.parse::<u64>().is_ok_and(|part| part % 50 == 0);
    if !whole || !has_valid_grouping(&plain) || plain.split(',').all(round) {
        return None;
    }
    Number::from_decimal(&plain.replace(',', ""))
}

/// The digits in ASCII, with their commas and points, and a space for every gap.
pub(crate) fn to_ascii(text: &str) -> String {
    let seen = text.chars().filter(|letter| !is_unseen(*letter));
    seen.map(|letter| match digit_value(letter) {
        Some(value) => char::from(b'0' + value),
        None if is_gap(letter) => ' ',
        None => normalize_separator(letter).unwrap_or(letter),
    })
    .collect()
}

/// Whether the commas stand where India (1,50,000) or the west (150,000) puts them.
fn has_valid_grouping(whole: &str) -> bool {
    let groups: Vec<usize> = whole.split(',').map(str::len).collect();
    let [first, middle @ .., last] = groups.as_slice() else { return true };
    let western = (1..=3).contains(first) && middle.iter().all(|size| *size == 3) && *last == 3;
    western || has_indian_grouping(whole)
}

fn has_indian_grouping(whole: &str) -> bool {
    let groups: Vec<usize> = whole.split(',').map(str::len).collect();
    let [first, middle @ .., last] = groups.as_slice() else { return true };
    (1..=2).contains(first) && middle.iter().all(|size| *size == 2) && *last == 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_both_kinds_are_exact() {
        for (text, expected) in [
            ("1,50,000", "150000"),
            ("125,000", "125000"),
            ("1,00,00,000", "10000000"),
            ("१,५०,०००", "150000"),
            ("2,500.00", "2500"),
            ("12.5", "12.5"),
            ("൧൨,൫൦,൦൦൦", "1250000"),
            ("0.250", "0.25"),
            ("1，500", "1500"),
            ("５００", "500"),
            ("۵۰۰", "500"),
            ("5\u{200D}00", "500"),
            ("5\u{AD}00", "500"),
            ("1\u{200B}500", "1500"),
            ("125,450.00", "125450"),
            ("1.2345678", "1.2345678"),
            ("1.50000000000", "1.5"),
        ] {
            let found = read(text).unwrap();
            assert_eq!(
                (found.readings[0].to_string().as_str(), found.certainty),
                (expected, Certainty::Exact)
            );
        }
    }

    #[test]
    fn odd_groups_are_doubted() {
        for (text, readings) in [
            ("1,50", &["150", "1.5"][..]),
            ("1.2345678912", &["1.23456789"]),
            ("1.500", &["1.5", "1500"]),
            ("1,0000", &["10000", "1"]),
            ("500,700", &["500700", "500", "700"]),
            ("500,200,300", &["500200300", "500", "200", "300"]),
            ("1 50 000", &["150000", "1", "50"]),
            ("1, 50, 000", &["150000", "1", "50"]),
            ("50 00", &["5000", "50"]),
            ("1\u{A0}500", &["1500", "1", "500"]),
            ("500 700", &["500", "700", "500700"]),
        ] {
            let found = read(text).unwrap();
            assert_eq!(found.certainty, Certainty::Ambiguous, "{text}");
            assert_eq!(
                found.readings.iter().map(ToString::to_string).collect::<Vec<_>>(),
                readings,
                "{text}"
            );
        }
        assert_eq!(read("1.2.3"), None);
    }
}
