//! Where a token stands in the hash table. The build script fills the table and the crate reads it, both by this.

/// Well over twice as many as tokens, so that a search ends after a step or two.
pub(crate) const SLOTS: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 19;

/// A slot holds a rank, counted from one, and above it a part of the hash that spares most comparisons.
const RANK_BITS: u32 = 18;
pub(crate) const MOST_RANKS: u32 = (1 << RANK_BITS) - 1;

pub(crate) struct HashTableSlot {
    pub(crate) slot: usize,
    pub(crate) tag: u32,
}

pub(crate) fn compute_slot(token: &[u8]) -> HashTableSlot {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = token.len() as u64;
    for chunk in token.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR).rotate_left(29);
    }
    hash = hash.wrapping_mul(FACTOR);
    HashTableSlot {
        slot: (hash >> (64 - SLOT_BITS)) as usize,
        tag: (hash & ((1 << (32 - RANK_BITS)) - 1)) as u32,
    }
}

pub(crate) const fn pack_entry(tag: u32, rank: u32) -> u32 {
    tag << RANK_BITS | (rank + 1)
}
