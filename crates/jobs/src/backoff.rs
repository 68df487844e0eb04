//! How long to wait before the next try.

use std::time::Duration;

use munshi_types::Random;

/// Doubles from `first` up to `longest`, a fifth more or less by chance, so that what failed together does not come
/// back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    pub first: Duration,
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_secs(5), longest: Duration::from_secs(3600) }
    }
}

impl Backoff {
    /// The pause after the given attempt, counted from 1.
    pub(crate) fn delay_after(&self, attempt: u32, random: &dyn Random) -> Duration {
        let doublings = attempt.saturating_sub(1).min(30);
        let plain = self.first.saturating_mul(1 << doublings).min(self.longest);
        let millis = u64::try_from(plain.as_millis()).unwrap_or(u64::MAX);
        let spread = millis / 5;
        Duration::from_millis(millis - spread + random.next_below(spread * 2 + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::SeededRandom;

    #[test]
    fn pauses_double_up_to_the_longest_and_stay_within_a_fifth() {
        let (backoff, random) = (Backoff::default(), SeededRandom::new(3));
        for (attempt, seconds) in [(1, 5), (2, 10), (3, 20), (8, 640), (20, 3600), (u32::MAX, 3600)] {
            for _ in 0..50 {
                let pause = backoff.delay_after(attempt, &random).as_millis();
                assert!((seconds * 800..=seconds * 1200).contains(&pause), "attempt {attempt}: {pause} ms");
            }
        }
    }

    #[test]
    fn two_that_failed_together_do_not_come_back_together() {
        let random = SeededRandom::new(3);
        let pauses: std::collections::BTreeSet<_> =
            (0..20).map(|_| Backoff::default().delay_after(5, &random)).collect();
        assert!(pauses.len() > 15);
    }
}
