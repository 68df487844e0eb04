//! Which bytes are a token, and at which rank. The tables are part of the program and read where they lie.

use crate::hash;

static BEGINS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/begins"));
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bytes"));
static SLOTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/slots"));

/// No token is longer.
const LONGEST: usize = 128;

/// The lower, the sooner two neighbours become this token.
pub(crate) fn find_rank(token: &[u8]) -> Option<u32> {
    if token.len() > LONGEST {
        return None;
    }
    let place = hash::compute_slot(token);
    let mut slot = place.slot;
    loop {
        let held = read_u32(SLOTS, slot);
        if held == 0 {
            return None;
        }
        let rank = (held & hash::MOST_RANKS) - 1;
        if held == hash::pack_entry(place.tag, rank) && token_bytes(rank) == token {
            return Some(rank);
        }
        slot = (slot + 1) % hash::SLOTS;
    }
}

fn token_bytes(rank: u32) -> &'static [u8] {
    let rank = rank as usize;
    &BYTES[read_u32(BEGINS, rank) as usize..read_u32(BEGINS, rank + 1) as usize]
}

fn read_u32(table: &[u8], index: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&table[index * 4..index * 4 + 4]);
    u32::from_le_bytes(bytes)
}
