//! Lists that are kept in memory: so many, and so many entities in all of them together.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Lists kept ready at most, whoever's they are.
pub(super) const MOST_LISTS: usize = 512;
/// Entities in all of them together: a list of a thousand takes some megabytes.
pub(super) const MOST_ENTITIES: usize = 100_000;

/// The one longest not asked for goes first.
pub(super) struct BoundedLists<K, T> {
    lists: HashMap<K, KeptList<T>>,
    entities: usize,
    /// Counts questions.
    asked: u64,
}

struct KeptList<T> {
    list: Arc<T>,
    entities: usize,
    asked: u64,
}

impl<K: Copy + Eq + Hash, T> BoundedLists<K, T> {
    pub(super) fn find(&mut self, key: K) -> Option<Arc<T>> {
        self.asked += 1;
        let list = self.lists.get_mut(&key)?;
        list.asked = self.asked;
        Some(list.list.clone())
    }

    /// Without counting as a question.
    pub(super) fn peek(&self, key: K) -> Option<&T> {
        self.lists.get(&key).map(|list| &*list.list)
    }

    pub(super) fn insert(&mut self, key: K, list: &Arc<T>, entities: usize) {
        self.remove(key);
        if entities > MOST_ENTITIES {
            return;
        }
        while self.lists.len() >= MOST_LISTS || self.entities + entities > MOST_ENTITIES {
            let oldest = self.lists.iter().min_by_key(|(_, list)| list.asked).map(|(key, _)| *key);
            let Some(oldest) = oldest else { break };
            self.remove(oldest);
        }
        self.entities += entities;
        self.lists.insert(key, KeptList { list: list.clone(), entities, asked: self.asked });
    }

    pub(super) fn retain(&mut self, keep: impl Fn(K, &T) -> bool) {
        self.lists.retain(|key, list| keep(*key, list.list.as_ref()));
        self.entities = self.lists.values().map(|list| list.entities).sum();
    }

    /// How many lists there are, and entities in all of them.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.lists.len(), self.entities)
    }

    fn remove(&mut self, key: K) {
        self.entities -= self.lists.remove(&key).map_or(0, |list| list.entities);
    }
}

impl<K, T> Default for BoundedLists<K, T> {
    fn default() -> Self {
        Self { lists: HashMap::new(), entities: 0, asked: 0 }
    }
}
