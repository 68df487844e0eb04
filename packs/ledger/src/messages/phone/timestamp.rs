//! The ways a message's time is written.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use munshi_types::Timestamp;

/// Seconds have ten digits until the year 2286, milliseconds thirteen, microseconds sixteen.
const SECONDS: usize = 10;
const MILLIS: usize = 13;
const MICROS: usize = 16;

/// Without a zone, by this one's clocks.
const CIVIL: [&str; 10] = [
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%d-%m-%Y %H:%M:%S",
    "%d-%m-%Y %H:%M",
    "%b %d, %Y %I:%M:%S %p",
    "%d %b %Y %I:%M:%S %p",
    "%d %b %Y %H:%M:%S",
];

pub(super) fn parse(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: i64 = text.parse().ok()?;
        let micros = match text.len() {
            SECONDS => number.checked_mul(1_000_000)?,
            MILLIS => number.checked_mul(1_000)?,
            MICROS => number,
            _ => return None,
        };
        return Some(Timestamp::from_micros(micros));
    }
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp::from_micros(moment.as_microsecond()));
    }
    // Some phones part the hour from its half of the day by a narrow space.
    let plain = text.replace(['\u{202F}', '\u{A0}'], " ");
    let civil = CIVIL.iter().find_map(|form| DateTime::strptime(form, &plain).ok())?;
    let moment = zone.to_ambiguous_zoned(civil).compatible().ok()?;
    Some(Timestamp::from_micros(moment.timestamp().as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_moment_in_many_ways() {
        let zone = TimeZone::get("Asia/Kolkata").unwrap();
        for text in [
            "1718337030",
            "1718337030000",
            "1718337030000000",
            "2024-06-14T03:50:30Z",
            "2024-06-14T09:20:30+05:30",
            "2024-06-14 09:20:30",
            "14/06/2024 09:20:30",
            "14-06-2024 09:20:30",
            "Jun 14, 2024 9:20:30\u{202F}AM",
        ] {
            assert_eq!(parse(text, &zone), Some(Timestamp::from_micros(1_718_337_030_000_000)), "{text}");
        }
        for text in ["", "yesterday", "17", "32/06/2024 09:20"] {
            assert_eq!(parse(text, &zone), None, "{text}");
        }
    }
}
