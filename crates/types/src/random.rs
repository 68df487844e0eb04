//! Chance as a value that is handed in, so that a test can repeat it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of random bytes. [`SystemRandom`] is fit for secrets; [`SeededRandom`] is for tests and jitter only.
pub trait Random: Send + Sync + fmt::Debug {
    fn fill(&self, bytes: &mut [u8]);

    /// A number in `0..bound`, or 0 when `bound` is 0. The bias is below one in 2^32 for every bound used here.
    fn next_below(&self, bound: u64) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        let wide = u128::from(u64::from_le_bytes(bytes)) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(0)
    }
}

/// The operating system's generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    /// # Panics
    /// When the operating system has no randomness to give: every id and secret made after that would be a guess.
    #[allow(clippy::panic, reason = "there is no safe way to go on without randomness")]
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(error) = getrandom::fill(bytes) {
            panic!("the operating system returned no random bytes: {error}");
        }
    }
}

/// The same bytes for the same seed (SplitMix64).
#[derive(Debug)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    fn step(&self) -> u64 {
        const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut z = self.0.fetch_add(GOLDEN, Ordering::SeqCst).wrapping_add(GOLDEN);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.step().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_two_seeds_differ() {
        let draw = |seed| {
            let mut bytes = [0; 20];
            SeededRandom::new(seed).fill(&mut bytes);
            bytes
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn below_stays_below() {
        let random = SeededRandom::new(1);
        assert!((0..1000).all(|_| random.next_below(10) < 10));
        assert_eq!(random.next_below(0), 0);
        let seen: std::collections::BTreeSet<u64> = (0..200).map(|_| random.next_below(10)).collect();
        assert_eq!(seen.len(), 10);
    }

    #[test]
    fn the_system_gives_fresh_bytes() {
        let (mut a, mut b) = ([0; 16], [0; 16]);
        SystemRandom.fill(&mut a);
        SystemRandom.fill(&mut b);
        assert_ne!(a, b);
    }
}
