//! Lays the vocabulary out so that a token's rank is found without loading anything: where each token begins, their
//! bytes, and a hash table of their ranks.

#![allow(clippy::print_stdout, reason = "cargo reads a build script's standard output")]

use std::error::Error;
use std::fs;
use std::path::Path;

#[path = "src/hash.rs"]
mod hash;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=data");
    println!("cargo::rerun-if-changed=src/hash.rs");
    // Each token as its length in a byte and its bytes, in the order of their ranks.
    let vocabulary = fs::read("data/o200k_base")?;
    let mut rest = vocabulary.as_slice();
    let (mut begins, mut bytes) = (vec![0_u32], Vec::new());
    let mut slots = vec![0_u32; hash::SLOTS];
    let mut rank = 0_u32;
    while let Some((length, after)) = rest.split_first() {
        let (token, after) =
            after.split_at_checked(usize::from(*length)).ok_or("data/o200k_base is truncated")?;
        let place = hash::compute_slot(token);
        let mut slot = place.slot;
        while slots[slot] != 0 {
            slot = (slot + 1) % hash::SLOTS;
        }
        slots[slot] = hash::pack_entry(place.tag, rank);
        bytes.extend_from_slice(token);
        begins.push(u32::try_from(bytes.len())?);
        (rank, rest) = (rank + 1, after);
    }
    if rank >= hash::MOST_RANKS {
        return Err("a rank no longer fits into a slot".into());
    }
    #[allow(clippy::disallowed_methods, reason = "cargo says there where to write")]
    let folder = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    let folder = Path::new(&folder);
    fs::write(folder.join("begins"), little_endian(&begins))?;
    fs::write(folder.join("slots"), little_endian(&slots))?;
    fs::write(folder.join("bytes"), bytes)?;
    Ok(())
}

fn little_endian(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
