//! Where a key lies in its table, without a search. The build script fills the slots with this very code.

/// A slot that nothing is in.
pub(crate) const EMPTY: u16 = u16::MAX;

/// So many slots that at most half of them are filled; a power of two.
#[allow(dead_code, reason = "the build script alone makes tables")]
pub(crate) const fn count(entries: usize) -> usize {
    (entries * 2 + 1).next_power_of_two()
}

/// The slot a key is looked for in first, among as many as a power of two; then the ones after it.
pub(crate) fn first(key: &str, slots: usize) -> usize {
    // FNV-1a: keys are short and nobody else chooses them.
    let hash = key.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    let mixed = hash ^ (hash >> 32);
    usize::try_from(mixed & 0xFFFF_FFFF).unwrap_or_default() & slots.wrapping_sub(1)
}
