//! How values are spread, in buckets that are the same everywhere and always.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Each doubling has so many buckets, so a bucket is at most a sixteenth as wide as what it holds.
const PARTS: u64 = 16;
const BITS: u32 = PARTS.trailing_zeros();

/// How many values fell into which bucket, and their sum. Two of them add up to what one would be of all their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    buckets: BTreeMap<u16, u64>,
    sum: i64,
}

impl Histogram {
    /// Nothing took less than no time.
    pub fn add(&mut self, value: i64) {
        let value = value.max(0);
        *self.buckets.entry(bucket(value)).or_default() += 1;
        self.sum = self.sum.saturating_add(value);
    }

    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
        self.sum = self.sum.saturating_add(other.sum);
    }

    pub fn count(&self) -> u64 {
        self.buckets.values().sum()
    }

    pub fn sum(&self) -> i64 {
        self.sum
    }

    /// The value below which so many of a hundred are, and never less than it: the end of its bucket.
    pub fn percentile(&self, percent: u8) -> Option<i64> {
        self.percentile_bucket(percent).map(|(_, last)| last)
    }

    /// The bucket that holds the percentile, by its first and last value.
    pub fn percentile_bucket(&self, percent: u8) -> Option<(i64, i64)> {
        let rank = (u128::from(self.count()) * u128::from(percent.min(100))).div_ceil(100).max(1);
        let mut seen: u128 = 0;
        let found = self.buckets.iter().find(|(_, count)| {
            seen += u128::from(**count);
            seen >= rank
        });
        found.map(|(bucket, _)| bounds(*bucket))
    }
}

/// Up to sixteen each value has its own; from there each doubling has sixteen.
fn bucket(value: i64) -> u16 {
    let value = value.unsigned_abs();
    if value < PARTS {
        return u16::try_from(value).unwrap_or(u16::MAX);
    }
    let doublings = value.ilog2() - BITS;
    let part = (value >> doublings) - PARTS;
    u16::try_from(u64::from(doublings + 1) * PARTS + part).unwrap_or(u16::MAX)
}

fn bounds(bucket: u16) -> (i64, i64) {
    let bucket = u64::from(bucket);
    let (doublings, part) = match (bucket / PARTS).checked_sub(1) {
        None => (0, bucket),
        Some(doublings) => (doublings, PARTS + bucket % PARTS),
    };
    let first = u128::from(part) << doublings.min(64);
    let last = (u128::from(part + 1) << doublings.min(64)) - 1;
    let fits = |value: u128| i64::try_from(value).unwrap_or(i64::MAX);
    (fits(first), fits(last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[i64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.add(*value));
        histogram
    }

    /// As spread as times are: from microseconds to hours.
    fn value() -> impl Strategy<Value = i64> {
        (0_u32..40).prop_flat_map(|bits| 0..=(1_i64 << bits))
    }

    #[test]
    fn the_ends_are_held_too() {
        for value in [0, 1, 15, 16, 17, 31, 32, 1 << 40, i64::MAX - 1, i64::MAX] {
            let (first, last) = bounds(bucket(value));
            assert!(first <= value && value <= last, "{value}: {first} to {last}");
        }
        assert_eq!(of(&[-5]).percentile(50), Some(0));
        assert_eq!((of(&[]).percentile(50), of(&[7]).percentile(0)), (None, Some(7)));
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_value_and_is_narrow(value in value()) {
            let (first, last) = bounds(bucket(value));
            prop_assert!(first <= value && value <= last);
            prop_assert!(last - first <= value / 16);
            prop_assert!(last == i64::MAX || bucket(last + 1) == bucket(value) + 1, "no value is left out");
        }

        #[test]
        fn a_percentile_is_in_its_bucket(mut values in prop::collection::vec(value(), 1..200), percent in 1_u8..=100) {
            let histogram = of(&values);
            values.sort_unstable();
            let rank = (values.len() * usize::from(percent)).div_ceil(100);
            let exact = values[rank - 1];
            let (first, last) = histogram.percentile_bucket(percent).unwrap();
            prop_assert!(first <= exact && exact <= last, "{exact} is not in {first}..={last}");
            let told = histogram.percentile(percent).unwrap();
            prop_assert!(told >= exact && told - exact <= exact / 16);
        }

        #[test]
        fn parts_add_up_to_the_whole(values in prop::collection::vec(value(), 0..200), cut in 0_usize..200) {
            let (one, other) = values.split_at(cut.min(values.len()));
            let mut sum = of(other);
            sum.merge(&of(one));
            prop_assert_eq!(&sum, &of(&values));
            let text = serde_json::to_string(&sum).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), sum);
        }
    }
}
