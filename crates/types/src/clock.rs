//! Time as a value that is handed in, never fetched.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, in whole microseconds since 1970-01-01 UTC: the finest step both engines keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const EPOCH: Self = Self(0);
    /// Stands after every moment a row can hold (the year 9999); the first page of a newest-first list starts here.
    pub const MAX: Self = Self(253_402_207_200_000_000);

    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Milliseconds since the epoch, never negative: the clock part of a UUIDv7.
    pub fn as_millis(self) -> u64 {
        u64::try_from(self.0 / 1000).unwrap_or(0)
    }

    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(micros(span)))
    }

    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(micros(span)))
    }

    /// How long after `earlier` this is; zero when it is not after.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The same moment for calendar work.
    pub fn to_jiff(self) -> jiff::Timestamp {
        let limit = if self.0 < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(limit)
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(moment: jiff::Timestamp) -> Self {
        Self(moment.as_microsecond())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_jiff())
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<jiff::Timestamp>().map(Self::from)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Where "now" comes from. The binary hands everyone a [`SystemClock`]; tests hand a [`FakeClock`].
pub trait Clock: Send + Sync + fmt::Debug {
    fn now(&self) -> Timestamp;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the system's clock")]
    fn now(&self) -> Timestamp {
        jiff::Timestamp::now().into()
    }
}

/// A clock that stands still until it is told to move, so that a month of schedules runs in a second.
#[derive(Debug)]
pub struct FakeClock(AtomicI64);

impl FakeClock {
    pub fn new(moment: Timestamp) -> Self {
        Self(AtomicI64::new(moment.as_micros()))
    }

    pub fn advance(&self, span: Duration) {
        self.0.fetch_add(micros(span), Ordering::SeqCst);
    }

    /// Jumps, backwards too: clocks in the field do.
    pub fn set(&self, moment: Timestamp) {
        self.0.store(moment.as_micros(), Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_reads_back_as_it_was_written() {
        let moment: Timestamp = "2026-11-15T02:17:41.123456Z".parse().unwrap();
        assert_eq!(moment.to_string(), "2026-11-15T02:17:41.123456Z");
        assert_eq!(serde_json::to_string(&moment).unwrap(), "\"2026-11-15T02:17:41.123456Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>("\"2026-11-15T02:17:41.123456Z\"").unwrap(), moment);
    }

    #[test]
    fn spans_saturate_instead_of_wrapping() {
        assert_eq!(Timestamp::from_micros(i64::MAX).plus(Duration::MAX).as_micros(), i64::MAX);
        assert_eq!(Timestamp::EPOCH.since(Timestamp::MAX), Duration::ZERO);
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-30T22:00:00Z");
    }

    #[test]
    fn a_fake_clock_moves_only_when_told() {
        let clock = FakeClock::new(Timestamp::EPOCH);
        clock.advance(Duration::from_secs(3));
        assert_eq!(clock.now(), Timestamp::from_micros(3_000_000));
        clock.set(Timestamp::EPOCH);
        assert_eq!(clock.now(), Timestamp::EPOCH);
    }
}
