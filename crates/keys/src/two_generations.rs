//! A bounded map that forgets what was not asked for in a while.

use std::collections::HashMap;
use std::hash::Hash;

/// Keeps what was used since the last time it filled up, and what was used in the round before: at most `most` entries.
#[derive(Debug)]
pub(crate) struct TwoGenerations<K, V> {
    most: usize,
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K: Eq + Hash + Copy, V: Clone> TwoGenerations<K, V> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most: most.max(2), young: HashMap::new(), old: HashMap::new() }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        if let Some(found) = self.young.get(key) {
            return Some(found.clone());
        }
        let found = self.old.remove(key)?;
        self.insert(*key, found.clone());
        Some(found)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= self.most / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.old.remove(&key);
        self.young.insert(key, value);
    }

    /// Without counting as use.
    pub(crate) fn peek(&self, key: &K) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    pub(crate) fn remove(&mut self, key: &K) {
        self.young.remove(key);
        self.old.remove(key);
    }

    /// So many entries stay beside one another whatever else was there, if nobody else puts any in meanwhile.
    pub(crate) fn room(&self) -> usize {
        self.most / 2
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        self.young.retain(|key, value| keep(key, value));
        self.old.retain(|key, value| keep(key, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_it_never_grows_past_its_bound() {
        let mut map = TwoGenerations::new(10);
        map.insert(0, "kept");
        for key in 1..1000 {
            map.insert(key, "passing");
            assert_eq!(map.get(&0), Some("kept"));
            assert!(map.young.len() + map.old.len() <= 10);
        }
        assert_eq!(map.get(&1), None);
        assert_eq!(map.peek(&0), Some(&"kept"));
        map.remove(&0);
        assert_eq!(map.peek(&0), None);
        assert_eq!(map.get(&0), None);
        map.retain(|_, _| false);
        assert!(map.young.is_empty() && map.old.is_empty());
    }

    #[test]
    fn as_many_as_there_is_room_for_stay_beside_one_another() {
        for before in 0..20 {
            let mut map = TwoGenerations::new(10);
            (0..before).for_each(|key| map.insert(1000 + key, ()));
            // Some of them were there before.
            let wanted: Vec<i32> =
                (0..5).map(|key| if key % 2 == 0 { 1000 + before - 1 - key } else { key }).collect();
            let missing: Vec<i32> = wanted.iter().copied().filter(|key| map.get(key).is_none()).collect();
            missing.iter().for_each(|key| map.insert(*key, ()));
            for _ in 0..3 {
                assert!(wanted.iter().all(|key| map.get(key).is_some()), "after {before}");
            }
            assert_eq!(map.room(), 5);
        }
    }
}
