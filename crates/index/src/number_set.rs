//! Which numbers of a block have something: in memory a bitmap, stored as a list where that is shorter.

use crate::BLOCK;

const WORDS: usize = BLOCK as usize / 64;
/// Of the stored bitmap. A list has two bytes a number, and fewer bytes than that.
const BITMAP: usize = BLOCK as usize / 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberSet([u64; WORDS]);

impl NumberSet {
    pub(crate) const EMPTY: Self = Self([0; WORDS]);

    /// Of places in the block; what lies beyond it is not taken.
    pub(crate) fn insert(&mut self, place: u16) {
        if let Some(word) = self.0.get_mut(usize::from(place) / 64) {
            *word |= 1 << (place % 64);
        }
    }

    pub(crate) fn remove(&mut self, place: u16) {
        if let Some(word) = self.0.get_mut(usize::from(place) / 64) {
            *word &= !(1 << (place % 64));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn contains(&self, place: u16) -> bool {
        self.0.get(usize::from(place) / 64).is_some_and(|word| word & (1 << (place % 64)) != 0)
    }

    pub(crate) fn unite(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    pub(crate) fn intersect(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u16> {
        (0..BLOCK as u16).filter(|place| self.contains(*place))
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        if self.len() * 2 < BITMAP {
            return self.iter().flat_map(u16::to_be_bytes).collect();
        }
        self.0.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// None for what [`encode`](Self::encode) never makes.
    pub(crate) fn decode(stored: &[u8]) -> Option<Self> {
        let mut set = Self::EMPTY;
        if stored.len() == BITMAP {
            let (words, _) = stored.as_chunks::<8>();
            set.0.iter_mut().zip(words).for_each(|(word, bytes)| *word = u64::from_be_bytes(*bytes));
        } else {
            let (places, rest) = stored.as_chunks::<2>();
            let places = places.iter().map(|bytes| u16::from_be_bytes(*bytes));
            if !rest.is_empty() || stored.len() > BITMAP || !places.clone().is_sorted() {
                return None;
            }
            places.clone().for_each(|place| set.insert(place));
            if places.len() != set.len() {
                return None;
            }
        }
        (set.encode() == stored).then_some(set)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn of(places: &BTreeSet<u16>) -> NumberSet {
        let mut set = NumberSet::EMPTY;
        places.iter().for_each(|place| set.insert(*place));
        set
    }

    proptest! {
        #[test]
        fn a_set_reads_back(places in proptest::collection::btree_set(0..4096_u16, 0..600)) {
            let set = of(&places);
            prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), places.clone());
            prop_assert_eq!(NumberSet::decode(&set.encode()), Some(set.clone()));
            prop_assert!(set.encode().len() <= BITMAP);
            let mut rest = set;
            places.iter().for_each(|place| rest.remove(*place));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn sets_are_joined_and_cut(one in proptest::collection::btree_set(0..4096_u16, 0..300), other in proptest::collection::btree_set(0..4096_u16, 0..300)) {
            let (mut both, mut any) = (of(&one), of(&one));
            both.intersect(&of(&other));
            any.unite(&of(&other));
            prop_assert_eq!(both, of(&one.intersection(&other).copied().collect()));
            prop_assert_eq!(any, of(&one.union(&other).copied().collect()));
        }

        #[test]
        fn whatever_is_stored_is_read_or_refused(stored in proptest::collection::vec(any::<u8>(), 0..600)) {
            if let Some(set) = NumberSet::decode(&stored) {
                prop_assert_eq!(set.encode(), stored);
            }
        }
    }

    #[test]
    fn what_no_set_is_stored_as_is_refused() {
        for bad in [&[1][..], &[0, 2, 0, 1], &[0, 1, 0, 1], &[0x10, 0], &[0; BITMAP], &[0; BITMAP + 2]] {
            assert_eq!(NumberSet::decode(bad), None, "{bad:?}");
        }
    }
}
