//! The hashes of stage 1 and of the buckets, in the plain form that all others have to equal.

/// Factors of the two halves of the first four bytes of a window. Any odd numbers that mix will do.
pub(super) const FACTORS_LOW: u32 = 0x37b1_5a2d;
/// Factors of the two halves of the bytes after them.
pub(super) const FACTORS_HIGH: u32 = 0x7d2b_4e67;
/// The index of a word of the filter is taken from this bit of a hash on.
pub(super) const INDEX_SHIFT: u32 = 7;
/// The bytes of a hash that choose bits for a short window, when there are long ones as well.
pub(super) const SHORT_BYTES: u32 = 0xff00_00ff;
/// The bytes of a hash that choose bits for a long window, when there are short ones as well.
pub(super) const LONG_BYTES: u32 = 0x00ff_ff00;

/// The products of both halves, added: what `pmaddwd` does to each 32 bits.
#[inline(always)]
fn multiply_add(word: u32, factors: u32) -> u32 {
    let product = |a: u32, b: u32| i32::from(a as i16).wrapping_mul(i32::from(b as i16));
    product(word, factors).wrapping_add(product(word >> 16, factors >> 16)) as u32
}

/// The hash of the first four bytes.
#[inline(always)]
pub(super) fn low(window: u64) -> u32 {
    multiply_add(window as u32, FACTORS_LOW)
}

/// The hash of what follows them.
#[inline(always)]
pub(super) fn high(window: u64) -> u32 {
    multiply_add((window >> 32) as u32, FACTORS_HIGH)
}

/// One bit in each of the `bytes` of a word: byte b of the hash chooses bit (b ^ b >> 3) % 8.
#[inline(always)]
pub(super) fn bits(hash: u32, bytes: u32) -> u32 {
    let chosen = (hash ^ hash >> 3).to_le_bytes().map(|b| 1_u8 << (b & 7));
    u32::from_le_bytes(chosen) & bytes
}

/// A place among 2^`bits` buckets for a window.
#[inline(always)]
pub(super) fn bucket(window: u64, bits: u32) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = window.wrapping_mul(GOLDEN);
    ((mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> (64 - bits)) as usize
}

/// Eight bytes from a position on; zeros stand for what lies outside.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(word) => u64::from_le_bytes(*word),
        None => edge(bytes, at),
    }
}

#[cold]
fn edge(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(8).rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
