//! Sets of word classes.

/// A set of word classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordClassSet([u64; 4]);

impl WordClassSet {
    pub(crate) const NONE: Self = Self([0; 4]);
    /// How many classes there can be.
    pub(crate) const MOST: usize = 256;

    pub(crate) fn of(class: WordClassId) -> Self {
        let mut one = Self::NONE;
        one.add(class);
        one
    }

    pub(crate) fn add(&mut self, class: WordClassId) {
        if let Some(part) = self.0.get_mut(usize::from(class) / 64) {
            *part |= 1 << (class % 64);
        }
    }

    pub(crate) fn add_all(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    pub(crate) fn remove(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine &= !theirs);
    }

    pub(crate) fn intersects(self, other: Self) -> bool {
        // Without a branch for each part: this is asked more often than anything else.
        self.0.iter().zip(other.0).fold(0, |both, (mine, theirs)| both | (mine & theirs)) != 0
    }

    pub(crate) fn has(self, class: WordClassId) -> bool {
        self.intersects(Self::of(class))
    }

    /// Whether all of its classes are in the other set.
    pub(crate) fn is_subset(self, other: Self) -> bool {
        self.0.iter().zip(other.0).all(|(mine, theirs)| mine & !theirs == 0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::NONE
    }
}

/// The number of a class.
pub(crate) type WordClassId = u8;
