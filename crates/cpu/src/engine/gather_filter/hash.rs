//! The hashes of both stages, in the plain form that all others have to equal.

/// Factors of the two halves of the first four bytes of a window. Any odd numbers that mix will do.
pub(super) const FACTORS_LOW: u32 = 0x37b1_5a2d;
/// Factors of the two halves of the bytes after them.
pub(super) const FACTORS_HIGH: u32 = 0x7d2b_4e67;
/// Factors of the two halves of what a short window has of these.
pub(super) const FACTORS_SHORT: u32 = 0x2f15_6c8f;
/// Factors of a byte after a short window, and of one before it; they act on the top byte of 32 bits.
pub(super) const FACTORS_NEXT: u32 = 0x7159 << 16;
pub(super) const FACTORS_BEFORE: u32 = 0x3a6d << 16;
/// The index of a word of the filter is taken from this bit of a hash on.
pub(super) const INDEX_SHIFT: u32 = 7;
/// The bytes of a hash that choose bits for a short window, when there are long ones as well.
pub(super) const SHORT_BYTES: u32 = 0xff00_00ff;
/// The same where the hash takes in a neighbour, which acts on the upper half of it.
pub(super) const NEIGHBOUR_BYTES: u32 = 0xffff_0000;
/// Factors of a fingerprint: of the first four bytes of a text, and of the four after them.
pub(super) const FINGERPRINT_LOW: u32 = 0x9e37_79b1;
pub(super) const FINGERPRINT_HIGH: u32 = 0x85eb_ca77;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

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

/// The hash of what a short window has beyond four bytes.
#[inline(always)]
pub(super) fn rest(window: u64) -> u32 {
    multiply_add((window >> 32) as u32, FACTORS_SHORT)
}

/// What the byte after a short window, or the one before it, adds to its hash.
#[inline(always)]
pub(super) fn next(byte: u8) -> u32 {
    multiply_add(u32::from(byte) << 24, FACTORS_NEXT)
}

/// See [`next`].
#[inline(always)]
pub(super) fn before(byte: u8) -> u32 {
    multiply_add(u32::from(byte) << 24, FACTORS_BEFORE)
}

/// One bit in each of the `bytes` of a word: byte b of the hash chooses bit (b ^ b >> 3) % 8.
#[inline(always)]
pub(super) fn bits(hash: u32, bytes: u32) -> u32 {
    let chosen = (hash ^ hash >> 3).to_le_bytes().map(|b| 1_u8 << (b & 7));
    u32::from_le_bytes(chosen) & bytes
}

/// Whether a word has a 0 at each of [`bits`].
#[inline(always)]
pub(super) fn are_clear<const BYTES: u32>(word: u32, hash: u32) -> bool {
    let mixed = hash ^ hash >> 3;
    let wanted = (0..4).filter(|byte| BYTES >> (8 * byte) & 1 == 1);
    wanted.fold(0, |set, byte| set | word >> (8 * byte + (mixed >> (8 * byte) & 7))) & 1 == 0
}

/// The hash of a short window: the line is its top bits.
#[inline(always)]
pub(super) fn short(window: u64) -> u64 {
    window.wrapping_mul(GOLDEN)
}

/// The hash of a long window: the line is its top bits, its low half the fingerprint.
#[inline(always)]
pub(super) fn long(window: u64) -> u64 {
    let mixed = window.wrapping_mul(GOLDEN);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// The fingerprint of a short pattern, or of the bytes it may be. Texts that differ in one byte have others.
#[inline(always)]
pub(super) fn fingerprint(text: u64) -> u32 {
    let low = (text as u32).wrapping_mul(FINGERPRINT_LOW);
    low.wrapping_add(((text >> 32) as u32).wrapping_mul(FINGERPRINT_HIGH))
}

/// Eight bytes from `back` bytes before a position on; zeros stand for what lies outside.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize, back: usize) -> u64 {
    let inside = bytes.get(at.wrapping_sub(back)..).and_then(|rest| rest.first_chunk::<8>());
    match inside {
        Some(word) => u64::from_le_bytes(*word),
        None => edge(bytes, at, back),
    }
}

#[cold]
fn edge(bytes: &[u8], at: usize, back: usize) -> u64 {
    let missing = back.saturating_sub(at);
    let rest = bytes.get(at + missing - back..).unwrap_or_default();
    let word = rest.iter().take(8).rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    word << (8 * missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_at_the_edges_are_filled_with_zeros() {
        let bytes = *b"abcdefghij";
        assert_eq!(word(&bytes, 1, 0), u64::from_le_bytes(*b"bcdefghi"));
        assert_eq!(word(&bytes, 1, 1), u64::from_le_bytes(*b"abcdefgh"));
        assert_eq!(word(&bytes, 0, 1), u64::from_le_bytes(*b"\0abcdefg"));
        assert_eq!(word(&bytes, 8, 0), u64::from_le_bytes(*b"ij\0\0\0\0\0\0"));
        assert_eq!(word(b"", 0, 1), 0);
    }

    #[test]
    fn bits_are_clear_where_they_are_not_set() {
        for i in 0..10_000_u32 {
            let (hash, word) = (i.wrapping_mul(FINGERPRINT_LOW), !i.wrapping_mul(FINGERPRINT_HIGH));
            let word = word & word << 1 & word >> 3;
            let wanted = |bytes: u32| word & bits(hash, bytes) == 0;
            assert_eq!(are_clear::<SHORT_BYTES>(word, hash), wanted(SHORT_BYTES));
            assert_eq!(are_clear::<{ u32::MAX }>(word, hash), wanted(u32::MAX));
        }
    }

    #[test]
    fn a_fingerprint_tells_texts_apart_that_differ_in_one_byte() {
        let text = 0x0123_4567_89ab_cdef_u64;
        for byte in 0..8 {
            for change in 1..=255_u64 {
                assert_ne!(fingerprint(text), fingerprint(text ^ change << (8 * byte)));
            }
        }
    }
}
