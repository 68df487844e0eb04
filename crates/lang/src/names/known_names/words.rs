//! The words of known names by their places, in lists that others go on from.

use std::collections::{HashMap, HashSet};
use std::hash::Hasher;
use std::sync::Arc;

use super::{Known, hash_bytes};

/// Words of known names. A list may go on from another that stays as it is: both are one then, in which the words of the first stand
/// before the others.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownWords {
    /// Shared by all that go on from it.
    base: Arc<WordIndex>,
    added: WordIndex,
    /// Words of the base that later names have too, as they are known by now.
    changed: HashMap<usize, Known>,
}

#[derive(Clone, Debug, Default)]
struct WordIndex {
    names: Vec<String>,
    known: Vec<Known>,
    /// For every word the first that is the same name in another script, or itself.
    roots: Vec<usize>,
    spelled: HashMap<String, usize>,
    bones: HashMap<String, Vec<usize>>,
    /// The sums of those bones, so that most words are let go at once.
    sums: HashSet<u64>,
}

impl KnownWords {
    /// Makes what others go on from of a list that goes on from none.
    pub(super) fn share(self) -> Self {
        Self { base: Arc::new(self.added), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn len(&self) -> usize {
        self.base.names.len() + self.added.names.len()
    }

    /// The list that a place lies in, and where in it.
    fn locate(&self, at: usize) -> (&WordIndex, usize) {
        match at.checked_sub(self.base.names.len()) {
            Some(behind) => (&self.added, behind),
            None => (&self.base, at),
        }
    }

    /// A word as its owner spells it.
    pub(super) fn name(&self, at: usize) -> Option<&str> {
        let (words, at) = self.locate(at);
        words.names.get(at).map(String::as_str)
    }

    pub(super) fn known(&self, at: usize) -> Option<&Known> {
        self.changed.get(&at).or_else(|| {
            let (words, at) = self.locate(at);
            words.known.get(at)
        })
    }

    pub(super) fn known_mut(&mut self, at: usize) -> Option<&mut Known> {
        match at.checked_sub(self.base.names.len()) {
            Some(behind) => self.added.known.get_mut(behind),
            None => {
                let before = self.base.known.get(at)?;
                Some(self.changed.entry(at).or_insert_with(|| before.clone()))
            }
        }
    }

    pub(super) fn root(&self, at: usize) -> Option<usize> {
        let (words, at) = self.locate(at);
        words.roots.get(at).copied()
    }

    /// The roots of all words, in their order.
    pub(super) fn roots(&self) -> impl Iterator<Item = usize> {
        self.base.roots.iter().chain(&self.added.roots).copied()
    }

    /// The word that is spelled so.
    pub(super) fn find_spelled(&self, plain: &str) -> Option<usize> {
        self.base.spelled.get(plain).or_else(|| self.added.spelled.get(plain)).copied()
    }

    /// The words of these consonants, in their order.
    pub(super) fn list_alike(&self, bones: &str) -> impl Iterator<Item = usize> {
        let before = self.base.bones.get(bones).into_iter().flatten();
        before.chain(self.added.bones.get(bones).into_iter().flatten()).copied()
    }

    /// Whether some word has consonants of this sum.
    pub(super) fn has_sum(&self, sum: u64) -> bool {
        self.base.sums.contains(&sum) || self.added.sums.contains(&sum)
    }

    /// Adds a word behind all others; its root is its own until [`set_last_root`](Self::set_last_root) says another.
    pub(super) fn push(&mut self, plain: String, name: String, known: Known) -> usize {
        let at = self.len();
        if let Some(word) = &known.word {
            self.added.sums.insert(hash_bytes(word.bones.as_bytes()).finish());
            self.added.bones.entry(word.bones.clone()).or_default().push(at);
        }
        self.added.names.push(name);
        self.added.known.push(known);
        self.added.roots.push(at);
        self.added.spelled.insert(plain, at);
        at
    }

    pub(super) fn set_last_root(&mut self, root: usize) {
        if let Some(last) = self.added.roots.last_mut() {
            *last = root;
        }
    }
}
