//! [`Bitmap`]: at which positions a pattern may begin, by a hash of the next bytes.

use super::prefixes::{MOST_LEN, StartPositions};
use crate::trie::CaseFold;
use fyke_core::PatternSet;

/// The bitmap of hashes has at least this many bits per pattern, and less than twice as many.
/// [`LEAST_BITS`] and [`MOST_BITS`] are the binary logarithms of its least and its largest size.
/// Not measured: guesses.
const BITS_PER_PATTERN: u64 = 32;
const LEAST_BITS: u32 = 12;
const MOST_BITS: u32 = 22;

/// The multiplier of the hash: 2^64 divided by the golden ratio.
pub(super) const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hashes of the first bytes of all patterns.
#[derive(Debug)]
pub(super) struct Bitmap {
    bits: Vec<u64>,
    /// The number of bytes that are hashed, and a mask of them.
    len: usize,
    mask: u64,
    /// Bits that are set in every byte, so that both cases of a letter have one hash.
    fold: u64,
    /// How far the product is shifted to get a hash.
    shift: u32,
}

impl StartPositions for &Bitmap {
    #[inline(always)]
    fn next(&mut self, haystack: &[u8], at: usize) -> usize {
        at + self.first(haystack.get(at..).unwrap_or_default())
    }
}

impl Bitmap {
    /// The binary logarithm of the number of bits.
    fn log_bits(set: &PatternSet) -> u32 {
        let bits = (set.len() as u64 * BITS_PER_PATTERN).next_power_of_two();
        bits.trailing_zeros().clamp(LEAST_BITS, MOST_BITS)
    }

    /// The bytes of memory for a set.
    pub(super) fn memory_for(set: &PatternSet) -> u64 {
        1 << (Self::log_bits(set) - 3)
    }

    pub(super) fn new(set: &PatternSet, fold: CaseFold) -> Bitmap {
        let len = set.min_len().min(MOST_LEN);
        let bits = Self::log_bits(set);
        let mut bitmap = Bitmap {
            bits: vec![0; 1 << (bits - 6)],
            len,
            mask: u64::MAX >> (64 - 8 * len),
            fold: if fold == CaseFold::Lower { 0x2020_2020_2020_2020 } else { 0 },
            shift: 64 - bits,
        };
        for pattern in set.iter() {
            let mut bytes = [0; MOST_LEN];
            bytes[..len].copy_from_slice(&pattern.bytes[..len]);
            let hash = bitmap.hash(bytes);
            bitmap.bits[hash / 64] |= 1 << (hash % 64);
        }
        bitmap
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> u64 {
        size_of_val(&*self.bits) as u64
    }

    #[inline(always)]
    fn hash(&self, bytes: [u8; MOST_LEN]) -> usize {
        let bytes = (u64::from_le_bytes(bytes) | self.fold) & self.mask;
        (bytes.wrapping_mul(MIX) >> self.shift) as usize
    }

    /// Whether a pattern may begin with these bytes.
    #[inline(always)]
    fn has(&self, bytes: &[u8]) -> bool {
        let Some(&bytes) = bytes.first_chunk() else { return false };
        let hash = self.hash(bytes);
        self.bits.get(hash / 64).is_some_and(|word| word >> (hash % 64) & 1 != 0)
    }

    /// The first position at which a pattern may begin, or the length.
    #[inline(always)]
    fn first(&self, haystack: &[u8]) -> usize {
        match haystack.windows(MOST_LEN).position(|bytes| self.has(bytes)) {
            Some(found) => found,
            None => self.first_in_tail(haystack),
        }
    }

    /// The same among the last positions, which have less than eight bytes.
    #[inline]
    fn first_in_tail(&self, haystack: &[u8]) -> usize {
        let before = haystack.len().saturating_sub(MOST_LEN - 1);
        let tail = &haystack[before..];
        let mut padded = [0; 2 * MOST_LEN];
        padded[..tail.len()].copy_from_slice(tail);
        let positions = 0..(tail.len() + 1).saturating_sub(self.len);
        let found = positions.into_iter().find(|&i| self.has(&padded[i..]));
        found.map_or(haystack.len(), |i| before + i)
    }
}
