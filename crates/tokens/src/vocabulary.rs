//! Which bytes are a token, and at which rank. The tables are part of the program and read where they lie.

use crate::hash;

static BEGINS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/begins"));
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bytes"));
static SLOTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/slots"));

/// No token is longer.
const LONGEST: usize = 128;

/// The lower, the sooner two neighbours become this token.
pub(crate) fn rank(token: &[u8]) -> Option<u32> {
    if token.len() > LONGEST {
        return None;
    }
    let place = hash::place(token);
    let mut slot = place.slot;
    loop {
        let held = number(SLOTS, slot);
        if held == 0 {
            return None;
        }
        let rank = (held & hash::MOST_RANKS) - 1;
        if held == hash::entry(place.tag, rank) && bytes_of(rank) == token {
            return Some(rank);
        }
        slot = (slot + 1) % hash::SLOTS;
    }
}

fn bytes_of(rank: u32) -> &'static [u8] {
    let rank = rank as usize;
    &BYTES[number(BEGINS, rank) as usize..number(BEGINS, rank + 1) as usize]
}

fn number(table: &[u8], index: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&table[index * 4..index * 4 + 4]);
    u32::from_le_bytes(bytes)
}
