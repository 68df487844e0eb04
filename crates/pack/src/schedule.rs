//! When a pack's jobs are made by the clock.

use std::time::Duration;

use munshi_jobs::schedule::ScheduleRule;

/// When something is due. Times of day are local ones in the tenant's zone: an hour that is skipped when clocks go forward
/// is made up for right after, and one that is there twice counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackScheduleTime {
    Every(Duration),
    Daily {
        hour: u8,
        minute: u8,
    },
    Weekly {
        day: ScheduleWeekday,
        hour: u8,
        minute: u8,
    },
    /// On a day that every month has: 1 to 28.
    Monthly {
        day: u8,
        hour: u8,
        minute: u8,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleWeekday {
    Sunday = 0,
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
}

impl PackScheduleTime {
    pub const fn every_minutes(minutes: u32) -> Self {
        Self::Every(Duration::from_secs(minutes as u64 * 60))
    }

    pub const fn every_hours(hours: u32) -> Self {
        Self::Every(Duration::from_secs(hours as u64 * 3600))
    }

    /// The rule that the queue keeps, or why there is none.
    pub(crate) fn to_rule(self) -> Result<ScheduleRule, String> {
        let rule = match self {
            Self::Every(pause) if pause < Duration::from_secs(60) => {
                return Err("it can't be due more than once a minute".to_owned());
            }
            Self::Every(pause) => ScheduleRule::every(pause),
            Self::Daily { hour, minute } => ScheduleRule::daily(hour, minute),
            Self::Weekly { day, hour, minute } => ScheduleRule::weekly(day as u8, hour, minute),
            Self::Monthly { day, hour, minute } => ScheduleRule::monthly(day, hour, minute),
        };
        rule.map_err(|error| error.to_string())
    }
}
