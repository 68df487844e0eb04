//! Whole numbers within bounds, in the unit that the key's name ends with, and true or false.

use std::time::Duration;

use super::{HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::redacted::RedactedSetting;

/// A plain number of things.
#[derive(Debug)]
pub enum CountKind<const MIN: u32, const MAX: u32> {}

/// A number of things, or 0 (an empty variable) to let Munshi choose.
#[derive(Debug)]
pub enum CountOrAutoKind<const MAX: u32> {}

/// Memory, written in KiB and given in bytes.
#[derive(Debug)]
pub enum KibibytesKind<const MIN: u32, const MAX: u32> {}

#[derive(Debug)]
pub enum MillisecondsKind<const MIN: u32, const MAX: u32> {}

#[derive(Debug)]
pub enum SecondsKind<const MIN: u32, const MAX: u32> {}

#[derive(Debug)]
pub enum HoursKind<const MIN: u32, const MAX: u32> {}

#[derive(Debug)]
pub enum FlagKind {}

/// A kind that is a bounded number underneath: how the number becomes the value, and back.
macro_rules! bounded {
    ($($name:ident $unit:literal => $value:ty, $from:expr, $to:expr;)+) => {$(
        impl<const MIN: u32, const MAX: u32> SettingKind for $name<MIN, MAX> {
            type Value = $value;

            fn expects() -> String {
                format!(concat!("a whole number", $unit, " from {} to {}"), MIN, MAX)
            }

            fn read(raw: &RawSetting, _: &HomeFolders) -> Result<$value, SettingFault> {
                parse_whole(raw, MIN, MAX).map($from)
            }

            fn show(value: &$value) -> RedactedSetting {
                RedactedSetting::Whole($to(value))
            }
        }
    )+};
}

bounded! {
    CountKind "" => usize, |n| n as usize, |value: &usize| *value as u64;
    KibibytesKind " of KiB" => usize, |n| n as usize * 1024, |value: &usize| (*value / 1024) as u64;
    MillisecondsKind " of milliseconds" => Duration, |n| Duration::from_millis(n.into()), |value: &Duration| value.as_secs() * 1000 + u64::from(value.subsec_millis());
    SecondsKind " of seconds" => Duration, |n| Duration::from_secs(n.into()), |value: &Duration| value.as_secs();
    HoursKind " of hours" => Duration, |n| Duration::from_secs(u64::from(n) * 3600), |value: &Duration| value.as_secs() / 3600;
}

impl<const MAX: u32> SettingKind for CountOrAutoKind<MAX> {
    type Value = Option<usize>;

    fn expects() -> String {
        format!("a whole number from 1 to {MAX}, or 0 to let Munshi choose")
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<Option<usize>, SettingFault> {
        if matches!(raw, RawSetting::Bare(text) if text.trim().is_empty()) {
            return Ok(None);
        }
        parse_whole(raw, 0, MAX).map(|n| (n > 0).then_some(n as usize))
    }

    fn show(value: &Option<usize>) -> RedactedSetting {
        RedactedSetting::Whole(value.unwrap_or(0) as u64)
    }
}

impl SettingKind for FlagKind {
    type Value = bool;

    fn expects() -> String {
        "true or false".to_owned()
    }

    fn read(raw: &RawSetting, _: &HomeFolders) -> Result<bool, SettingFault> {
        match raw {
            RawSetting::Flag(flag) => Ok(*flag),
            RawSetting::Bare(text) => match text.trim().to_lowercase().as_str() {
                "true" => Ok(true),
                "false" => Ok(false),
                _ => Err(raw.wrong_kind("true or false")),
            },
            RawSetting::Text(text) if ["true", "false"].contains(&text.as_str()) => {
                Err(raw.wrong_kind("true or false").with_hint("remove the quotes"))
            }
            _ => Err(raw.wrong_kind("true or false")),
        }
    }

    fn show(value: &bool) -> RedactedSetting {
        RedactedSetting::Flag(*value)
    }
}

fn parse_whole(raw: &RawSetting, min: u32, max: u32) -> Result<u32, SettingFault> {
    let number = match raw {
        RawSetting::Whole(number) => *number,
        RawSetting::Bare(text) => text.trim().parse().map_err(|_| raw.wrong_kind("a whole number"))?,
        RawSetting::Text(text) if text.trim().parse::<i128>().is_ok() => {
            return Err(raw.wrong_kind("a number").with_hint(format!("remove the quotes: {}", text.trim())));
        }
        _ => return Err(raw.wrong_kind("a whole number")),
    };
    match u32::try_from(number) {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => {
            let side = if number < i128::from(min) { "small" } else { "large" };
            Err(SettingFault::new(format!("the number is too {side}")))
        }
    }
}
