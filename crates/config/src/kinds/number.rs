//! Whole numbers within bounds, in the unit that the key's name ends with, and true or false.

use std::time::Duration;

use super::{Fault, Home, Kind, Raw};
use crate::show::Shown;

/// A plain number of things.
#[derive(Debug)]
pub enum Count<const MIN: u32, const MAX: u32> {}

/// A number of things, or 0 (an empty variable) to let Munshi choose.
#[derive(Debug)]
pub enum CountOrAuto<const MAX: u32> {}

/// Memory, written in KiB and given in bytes.
#[derive(Debug)]
pub enum Kibibytes<const MIN: u32, const MAX: u32> {}

#[derive(Debug)]
pub enum Milliseconds<const MIN: u32, const MAX: u32> {}

#[derive(Debug)]
pub enum Seconds<const MIN: u32, const MAX: u32> {}

#[derive(Debug)]
pub enum Hours<const MIN: u32, const MAX: u32> {}

#[derive(Debug)]
pub enum Flag {}

/// A kind that is a bounded number underneath: how the number becomes the value, and back.
macro_rules! bounded {
    ($($name:ident $unit:literal => $value:ty, $from:expr, $to:expr;)+) => {$(
        impl<const MIN: u32, const MAX: u32> Kind for $name<MIN, MAX> {
            type Value = $value;

            fn expects() -> String {
                format!(concat!("a whole number", $unit, " from {} to {}"), MIN, MAX)
            }

            fn read(raw: &Raw, _: &Home) -> Result<$value, Fault> {
                whole(raw, MIN, MAX).map($from)
            }

            fn show(value: &$value) -> Shown {
                Shown::Whole($to(value))
            }
        }
    )+};
}

bounded! {
    Count "" => usize, |n| n as usize, |value: &usize| *value as u64;
    Kibibytes " of KiB" => usize, |n| n as usize * 1024, |value: &usize| (*value / 1024) as u64;
    Milliseconds " of milliseconds" => Duration, |n| Duration::from_millis(n.into()), |value: &Duration| value.as_secs() * 1000 + u64::from(value.subsec_millis());
    Seconds " of seconds" => Duration, |n| Duration::from_secs(n.into()), |value: &Duration| value.as_secs();
    Hours " of hours" => Duration, |n| Duration::from_secs(u64::from(n) * 3600), |value: &Duration| value.as_secs() / 3600;
}

impl<const MAX: u32> Kind for CountOrAuto<MAX> {
    type Value = Option<usize>;

    fn expects() -> String {
        format!("a whole number from 1 to {MAX}, or 0 to let Munshi choose")
    }

    fn read(raw: &Raw, _: &Home) -> Result<Option<usize>, Fault> {
        if matches!(raw, Raw::Bare(text) if text.trim().is_empty()) {
            return Ok(None);
        }
        whole(raw, 0, MAX).map(|n| (n > 0).then_some(n as usize))
    }

    fn show(value: &Option<usize>) -> Shown {
        Shown::Whole(value.unwrap_or(0) as u64)
    }
}

impl Kind for Flag {
    type Value = bool;

    fn expects() -> String {
        "true or false".to_owned()
    }

    fn read(raw: &Raw, _: &Home) -> Result<bool, Fault> {
        match raw {
            Raw::Flag(flag) => Ok(*flag),
            Raw::Bare(text) => match text.trim().to_lowercase().as_str() {
                "true" => Ok(true),
                "false" => Ok(false),
                _ => Err(raw.wrong_kind("true or false")),
            },
            Raw::Text(text) if ["true", "false"].contains(&text.as_str()) => {
                Err(raw.wrong_kind("true or false").with_hint("leave the quotes out"))
            }
            _ => Err(raw.wrong_kind("true or false")),
        }
    }

    fn show(value: &bool) -> Shown {
        Shown::Flag(*value)
    }
}

fn whole(raw: &Raw, min: u32, max: u32) -> Result<u32, Fault> {
    let number = match raw {
        Raw::Whole(number) => *number,
        Raw::Bare(text) => text.trim().parse().map_err(|_| raw.wrong_kind("a whole number"))?,
        Raw::Text(text) if text.trim().parse::<i128>().is_ok() => {
            return Err(raw
                .wrong_kind("a number")
                .with_hint(format!("leave the quotes out: {}", text.trim())));
        }
        _ => return Err(raw.wrong_kind("a whole number")),
    };
    match u32::try_from(number) {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => {
            let side = if number < i128::from(min) { "small" } else { "large" };
            Err(Fault::new(format!("the number is too {side}")))
        }
    }
}
