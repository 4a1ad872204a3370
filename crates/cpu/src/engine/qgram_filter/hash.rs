//! The hashes of both stages. The vector forms must compute the same values.

/// Each has two 16-bit factors, one for each half of four bytes: for the first and the last four
/// bytes of a window, which choose the filter word, and for the four bytes that choose its bits.
/// Any odd numbers that mix well would do.
pub(super) const FACTORS_FIRST: u32 = 0x37b1_5a2d;
pub(super) const FACTORS_LAST: u32 = 0x7d2b_4e67;
pub(super) const FACTORS_BITS: u32 = 0x5ac5_6e3b;
/// The word index begins at this bit of a hash, so that the masked hash is the word's byte offset.
pub(super) const INDEX_SHIFT: u32 = 2;
/// Factors of a fingerprint, for the first four bytes of a text and the next four.
pub(super) const FINGERPRINT_LOW: u32 = 0x9e37_79b1;
pub(super) const FINGERPRINT_HIGH: u32 = 0x85eb_ca77;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The sum of the products of both halves: `pmaddwd` on 32 bits.
#[inline(always)]
fn multiply_add(word: u32, factors: u32) -> u32 {
    let product = |a: u32, b: u32| i32::from(a as i16).wrapping_mul(i32::from(b as i16));
    product(word, factors).wrapping_add(product(word >> 16, factors >> 16)) as u32
}

/// What a window's first four bytes add to the hash that chooses the filter word.
#[inline(always)]
pub(super) fn first(bytes: u64) -> u32 {
    multiply_add(bytes as u32, FACTORS_FIRST)
}

/// What a window's last four bytes add to it.
#[inline(always)]
pub(super) fn last(bytes: u64) -> u32 {
    multiply_add(bytes as u32, FACTORS_LAST)
}

/// The hash of four bytes that chooses the bits.
#[inline(always)]
pub(super) fn choice(bytes: u64) -> u32 {
    multiply_add(bytes as u32, FACTORS_BITS)
}

/// The number of the bit, 0 to 7, that the low four bits of a hash byte choose.
#[inline(always)]
pub(super) const fn which(byte: u32) -> u32 {
    (byte ^ byte >> 3 & 1) & 7
}

/// The bits of a filter word that a hash chooses: one in each byte.
#[inline(always)]
pub(super) fn bits(hash: u32) -> u32 {
    // Not `map` over the array: the compiler may leave a call per byte in the hot loop.
    let bit = |byte: u8| 1_u8 << which(u32::from(byte));
    let [a, b, c, d] = hash.to_le_bytes();
    u32::from_le_bytes([bit(a), bit(b), bit(c), bit(d)])
}

/// Whether a filter word is 0 at all [`bits`] of a hash.
#[inline(always)]
pub(super) fn are_clear(word: u32, hash: u32) -> bool {
    let at = |byte: u32| 8 * byte + which(hash >> (8 * byte));
    (0..4).fold(0, |set, byte| set | word >> at(byte)) & 1 == 0
}

/// The hash of a short window: its top bits choose the bucket.
#[inline(always)]
pub(super) fn short(window: u64) -> u64 {
    window.wrapping_mul(GOLDEN)
}

/// The hash of a long window: its top bits choose the bucket, its low half is the fingerprint.
#[inline(always)]
pub(super) fn long(window: u64) -> u64 {
    let mixed = window.wrapping_mul(GOLDEN);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// The fingerprint of a short pattern, or of the text that may be one. Texts that differ in one
/// byte have different fingerprints.
#[inline(always)]
pub(super) fn fingerprint(text: u64) -> u32 {
    let low = (text as u32).wrapping_mul(FINGERPRINT_LOW);
    low.wrapping_add(((text >> 32) as u32).wrapping_mul(FINGERPRINT_HIGH))
}

/// Eight bytes from `back` bytes before a position on, with zeros outside of `bytes`.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize, back: usize) -> u64 {
    let inside = bytes.get(at.wrapping_sub(back)..).and_then(|rest| rest.first_chunk::<8>());
    match inside {
        Some(word) => u64::from_le_bytes(*word),
        None => edge(bytes, at, back),
    }
}

/// The same where the eight bytes are not all inside.
fn edge(bytes: &[u8], at: usize, back: usize) -> u64 {
    let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) else {
        return edge_of_few(bytes, at, back);
    };
    if at < back {
        return u64::from_le_bytes(*first) << (8 * (back - at));
    }
    let missing = at - back + 8 - bytes.len();
    u64::from_le_bytes(*last).checked_shr(8 * missing as u32).unwrap_or_default()
}

/// The same for fewer than eight bytes.
#[cold]
fn edge_of_few(bytes: &[u8], at: usize, back: usize) -> u64 {
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
        for (len, at, back) in (0..20)
            .flat_map(|len| (0..len + 9).flat_map(move |at| [0, 1].map(|back| (len, at, back))))
        {
            let bytes: Vec<u8> = (1..=len as u8).collect();
            let byte = |i: usize| (at + i).checked_sub(back).and_then(|at| bytes.get(at));
            let expected = std::array::from_fn(|i| byte(i).copied().unwrap_or_default());
            assert_eq!(word(&bytes, at, back), u64::from_le_bytes(expected), "{len} {at} {back}");
        }
    }

    #[test]
    fn bits_are_clear_where_they_are_not_set() {
        for i in 0..10_000_u32 {
            let (hash, word) = (i.wrapping_mul(FINGERPRINT_LOW), !i.wrapping_mul(FINGERPRINT_HIGH));
            let word = word & word << 1 & word >> 3;
            assert_eq!(are_clear(word, hash), word & bits(hash) == 0);
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
