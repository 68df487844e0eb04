//! What was found in texts that come again and again: a prompt goes out with every call, a message with ten turns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// So many texts are remembered, and as many that were asked for before them.
const MOST: usize = 256;
/// A shorter text is read faster than looked up.
const SHORT: usize = 48;

/// Holds hashes of texts, never a text.
pub(super) struct PiiScanCache<T> {
    kept: Mutex<Kept<T>>,
}

struct Kept<T> {
    new: HashMap<[u8; 32], Arc<[T]>>,
    old: HashMap<[u8; 32], Arc<[T]>>,
}

impl<T> Default for PiiScanCache<T> {
    fn default() -> Self {
        Self { kept: Mutex::new(Kept { new: HashMap::new(), old: HashMap::new() }) }
    }
}

impl<T> PiiScanCache<T> {
    /// What `find` finds in a text, found once.
    pub(super) fn get_or_scan(&self, text: &str, find: impl FnOnce() -> Vec<T>) -> Arc<[T]> {
        if text.len() < SHORT {
            return find().into();
        }
        let key: [u8; 32] = Sha256::digest(text).into();
        let before = self.with_lock(|kept| kept.get(key));
        before.unwrap_or_else(|| {
            let found: Arc<[T]> = find().into();
            self.with_lock(|kept| kept.insert(key, found.clone()));
            found
        })
    }

    fn with_lock<R>(&self, act: impl FnOnce(&mut Kept<T>) -> R) -> R {
        act(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Kept<T> {
    fn get(&mut self, key: [u8; 32]) -> Option<Arc<[T]>> {
        if let Some(found) = self.new.get(&key) {
            return Some(found.clone());
        }
        let found = self.old.remove(&key)?;
        self.insert(key, found.clone());
        Some(found)
    }

    fn insert(&mut self, key: [u8; 32], found: Arc<[T]>) {
        if self.new.len() >= MOST {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.insert(key, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_once_as_long_as_it_comes_again() {
        let memo: PiiScanCache<usize> = PiiScanCache::default();
        let (mut read, often) = (0, "x".repeat(SHORT));
        for turn in 0..4 * MOST {
            let found = memo.get_or_scan(&often, || {
                read += 1;
                vec![7]
            });
            assert_eq!(*found, [7]);
            let other = memo.get_or_scan(&format!("{turn:SHORT$}"), || vec![turn]);
            assert_eq!(*other, [turn], "each has its own");
        }
        assert_eq!(read, 1);
        memo.with_lock(|kept| assert!(kept.new.len() <= MOST && kept.old.len() <= MOST));
    }

    #[test]
    fn a_short_text_is_not_remembered() {
        let memo: PiiScanCache<usize> = PiiScanCache::default();
        memo.get_or_scan("Raju", || vec![1]);
        assert_eq!(*memo.get_or_scan("Raju", || vec![2]), [2]);
    }
}
