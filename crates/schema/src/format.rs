//! The formats that are checked.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A form of text that the specification names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaFormat {
    Date,
    Time,
    DateTime,
    Duration,
    Email,
    Hostname,
    Ipv4,
    Ipv6,
    Uri,
    Uuid,
}

impl SchemaFormat {
    /// None for a name that only describes, such as `int64` or one of our own.
    pub(crate) fn find(name: &str) -> Option<Self> {
        Some(match name {
            "date" => Self::Date,
            "time" => Self::Time,
            "date-time" => Self::DateTime,
            "duration" => Self::Duration,
            "email" => Self::Email,
            "hostname" => Self::Hostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "uri" => Self::Uri,
            "uuid" => Self::Uuid,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Time => "time",
            Self::DateTime => "date-time",
            Self::Duration => "duration",
            Self::Email => "email",
            Self::Hostname => "hostname",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Uri => "uri",
            Self::Uuid => "uuid",
        }
    }

    pub(crate) fn fits(self, text: &str) -> bool {
        match self {
            Self::Date => is_date(text),
            Self::Time => is_time(text),
            Self::DateTime => {
                text.is_ascii()
                    && text.len() > 11
                    && is_date(&text[..10])
                    && matches!(text.as_bytes()[10], b'T' | b't' | b' ')
                    && is_time(&text[11..])
            }
            Self::Duration => is_duration(text),
            Self::Email => is_email(text),
            Self::Hostname => is_hostname(text),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Uri => is_uri(text),
            Self::Uuid => text.len() == 36 && uuid::Uuid::try_parse(text).is_ok(),
        }
    }
}

fn number(text: &str) -> Option<u32> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.is_ascii() && bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-' && {
        let part =
            |range: std::ops::Range<usize>| number(&text[range]).and_then(|part| i16::try_from(part).ok());
        match (part(0..4), part(5..7), part(8..10)) {
            (Some(year), Some(month), Some(day)) => {
                let small = |part: i16| i8::try_from(part).unwrap_or(0);
                jiff::civil::Date::new(year, small(month), small(day)).is_ok()
            }
            _ => false,
        }
    }
}

/// `12:30:05.25Z` or with an offset. A leap second ends a day in UTC.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() < 9 || bytes[2] != b':' || bytes[5] != b':' {
        return false;
    }
    let (Some(hour), Some(minute), Some(second)) =
        (number(&text[..2]), number(&text[3..5]), number(&text[6..8]))
    else {
        return false;
    };
    let mut rest = &text[8..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return false;
        }
        rest = &fraction[digits..];
    }
    let Some(offset) = offset_minutes(rest) else { return false };
    if hour > 23 || minute > 59 || second > 60 {
        return false;
    }
    let at = i64::from(hour * 60 + minute) - offset;
    second < 60 || at.rem_euclid(24 * 60) == 23 * 60 + 59
}

fn offset_minutes(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    if text.len() != 6 || text.as_bytes()[3] != b':' {
        return None;
    }
    let (hours, minutes) = (number(&text[1..3])?, number(&text[4..6])?);
    (hours <= 23 && minutes <= 59).then_some(sign * i64::from(hours * 60 + minutes))
}

/// `P1Y2M3DT4H5M6S` or `P2W`: units in their order, at least one.
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    if let Some(weeks) = rest.strip_suffix('W') {
        return number(weeks).is_some();
    }
    let (days, time) = match rest.split_once('T') {
        Some((days, time)) => (days, Some(time)),
        None => (rest, None),
    };
    let fits = |text: &str, units: &str| {
        let mut units = units.chars();
        let mut digits = 0;
        text.chars().all(|letter| {
            if letter.is_ascii_digit() {
                digits += 1;
                return true;
            }
            let known = digits > 0 && units.any(|unit| unit == letter);
            digits = 0;
            known
        }) && digits == 0
    };
    fits(days, "YMD")
        && time.is_none_or(|time| !time.is_empty() && fits(time, "HMS"))
        && !(days.is_empty() && time.is_none())
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_local = !local.is_empty()
        && local.len() <= 64
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
        && local.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte));
    is_local && is_hostname(domain)
}

fn is_hostname(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 253
        && text.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
}

/// With a scheme, and with nothing that an address may not hold unescaped.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let mut bytes = rest.bytes();
    let mut is_clean = true;
    while let Some(byte) = bytes.next() {
        is_clean &= match byte {
            b'%' => {
                let mut hex = || bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit());
                hex() && hex()
            }
            byte => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte),
        };
    }
    is_scheme && is_clean
}
