//! How many tokens a piece of text becomes: from single bytes, the two neighbours of the lowest rank are merged until
//! no two make a token.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::vocabulary::find_rank;

/// Two neighbours that make a token, the lowest rank first and of two such the left one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    rank: u32,
    left: usize,
    middle: usize,
    right: usize,
}

/// Keeps its memory from piece to piece.
#[derive(Default)]
pub(crate) struct Merger {
    /// Where the part that begins here ends; 0 where none begins any longer.
    ends: Vec<usize>,
    /// Where the part before the one that begins here begins.
    befores: Vec<usize>,
    pairs: BinaryHeap<Reverse<Pair>>,
}

impl Merger {
    pub(crate) fn count(&mut self, piece: &[u8]) -> u64 {
        if piece.len() < 2 || find_rank(piece).is_some() {
            return 1;
        }
        let length = piece.len();
        self.ends.clear();
        self.ends.extend(1..=length);
        self.befores.clear();
        self.befores.extend((0..length).map(|begin| begin.saturating_sub(1)));
        self.pairs.clear();
        for left in 0..length - 1 {
            self.add(piece, left, left + 1, left + 2);
        }
        let mut parts = length as u64;
        while let Some(Reverse(Pair { left, middle, right, .. })) = self.pairs.pop() {
            // One of the two may have been merged with its other neighbour since.
            if self.ends[left] != middle || self.ends[middle] != right {
                continue;
            }
            self.ends[left] = right;
            self.ends[middle] = 0;
            parts -= 1;
            if right < length {
                self.befores[right] = left;
                self.add(piece, left, right, self.ends[right]);
            }
            if left > 0 {
                self.add(piece, self.befores[left], left, right);
            }
        }
        parts
    }

    fn add(&mut self, piece: &[u8], left: usize, middle: usize, right: usize) {
        if let Some(rank) = find_rank(&piece[left..right]) {
            self.pairs.push(Reverse(Pair { rank, left, middle, right }));
        }
    }
}
