//! Counts kept by the text they belong to.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

/// Two generations of this many, so that what is used stays and memory is bounded.
const GENERATION: usize = 4_096;

/// Texts are known by a hash of 64 bits under a key of this process: two that meet by chance would share an estimate.
#[derive(Default)]
pub(super) struct TokenCountCache {
    hasher: RandomState,
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    new: HashMap<u64, u64>,
    old: HashMap<u64, u64>,
}

impl TokenCountCache {
    pub(super) fn get_or_count(&self, text: &str, count: impl FnOnce() -> u64) -> u64 {
        let hash = self.hasher.hash_one(text);
        if let Some(known) = self.lock().find(hash) {
            return known;
        }
        let tokens = count();
        self.lock().add(hash, tokens);
        tokens
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generations {
    fn find(&mut self, hash: u64) -> Option<u64> {
        if let Some(known) = self.new.get(&hash) {
            return Some(*known);
        }
        let known = self.old.remove(&hash)?;
        self.add(hash, known);
        Some(known)
    }

    fn add(&mut self, hash: u64, tokens: u64) {
        if self.new.len() >= GENERATION {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.insert(hash, tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_counted_once_and_memory_is_bounded() {
        let kept = TokenCountCache::default();
        assert_eq!(kept.get_or_count("a", || 1), 1);
        assert_eq!(kept.get_or_count("a", || panic!("counted already")), 1);
        for number in 0..3 * GENERATION {
            kept.get_or_count(&number.to_string(), || 2);
            kept.get_or_count("a", || panic!("what is used stays"));
        }
        let generations = kept.lock();
        assert!(generations.new.len() + generations.old.len() <= 2 * GENERATION);
    }
}
