//! [`GramPairs`]: at which positions a pattern of at least six bytes may begin.
//!
//! Only every second position is looked up. The bytes there may be the first ones of a pattern, or
//! those after its first byte. Two grams of four bytes are hashed. A table for each hash has the
//! buckets of the patterns with such a gram, and four of the eight buckets are for each of the two
//! cases. Sixteen bytes are tested together, without a branch for each position.

use super::Node;
use super::prefixes::{MOST_LEN, StartPositions};
use super::starts::Starts;
use crate::trie::CaseFold;
use fyke_core::PatternSet;

/// The minimum length of a pattern: that of a gram, one byte for the second gram, and one because
/// only every second position is looked up.
pub(super) const LEAST: usize = GRAM + 2;

/// Bytes that are hashed together.
const GRAM: usize = 4;

/// Positions that are looked up together, and the bytes of their first grams.
const TESTS: usize = 8;
const BYTES: usize = 2 * (TESTS - 1) + GRAM;

/// The buckets of patterns that begin at a position, or one byte before it.
const BUCKETS: usize = 4;

/// The multiplier of the hash: 2^32 divided by the golden ratio.
const MIX: u32 = 0x9e37_79b9;

/// The tables have at least this many entries per pattern, up to the largest size. The binary
/// logarithms of the sizes are 12, 14, 16 and 19. Not measured: guesses.
const ENTRIES_PER_PATTERN: usize = 4;

/// Bits that are set in every byte of a folded gram, so that both cases of a letter have one hash.
const LOWER: u32 = 0x2020_2020;

/// The tables, and how to hash.
#[derive(Debug)]
pub(super) struct GramPairs {
    /// The tables of the first and of the second gram, one after the other.
    tables: Vec<u8>,
    /// The binary logarithm of the number of entries of a table.
    bits: u32,
    /// The number of first bytes of a pattern that matter.
    len: usize,
    /// The distance of the second gram from the first.
    apart: usize,
    /// [`LOWER`] or 0.
    fold: u32,
}

impl GramPairs {
    /// The binary logarithm of the number of entries of a table: one of those of
    /// [`find_block`](Self::find_block).
    fn log_entries(set: &PatternSet) -> u32 {
        match set.len().saturating_mul(ENTRIES_PER_PATTERN) {
            ..=0x1000 => 12,
            0x1001..=0x4000 => 14,
            0x4001..=0x1_0000 => 16,
            _ => 19,
        }
    }

    /// The bytes of memory for a set.
    pub(super) fn memory_for(set: &PatternSet) -> u64 {
        2 << Self::log_entries(set)
    }

    pub(super) fn new(set: &PatternSet, fold: CaseFold) -> GramPairs {
        let (bits, len) = (Self::log_entries(set), set.min_len().min(MOST_LEN));
        let fold = if fold == CaseFold::Lower { LOWER } else { 0 };
        let mut grams =
            GramPairs { tables: vec![0; 2 << bits], bits, len, apart: len - 1 - GRAM, fold };
        for (i, pattern) in set.iter().enumerate() {
            for skipped in 0..2 {
                let bucket = 1 << (i % BUCKETS + BUCKETS * (1 - skipped));
                for place in grams.places(&pattern.bytes[skipped..]) {
                    grams.tables[place] |= bucket;
                }
            }
        }
        grams
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> u64 {
        self.tables.len() as u64
    }

    /// The entries of the two grams at the beginning of `bytes`.
    fn places(&self, bytes: &[u8]) -> [usize; 2] {
        let hash = |at: usize| {
            ((gram(bytes, at) | self.fold).wrapping_mul(MIX) >> (32 - self.bits)) as usize
        };
        [hash(0), hash(self.apart) + (1 << self.bits)]
    }

    /// Tests positions from `block.next` on, up to the first ones of which some pass. False if
    /// there are none.
    #[inline(never)]
    fn find_block(&self, haystack: &[u8], block: &mut Block) -> bool {
        match (self.bits, self.fold) {
            (12, 0) => self.find_by::<12, 0>(haystack, block),
            (12, _) => self.find_by::<12, LOWER>(haystack, block),
            (14, 0) => self.find_by::<14, 0>(haystack, block),
            (14, _) => self.find_by::<14, LOWER>(haystack, block),
            (16, 0) => self.find_by::<16, 0>(haystack, block),
            (16, _) => self.find_by::<16, LOWER>(haystack, block),
            (_, 0) => self.find_by::<19, 0>(haystack, block),
            _ => self.find_by::<19, LOWER>(haystack, block),
        }
    }

    /// The same for tables of `1 << BITS` entries.
    #[inline(always)]
    fn find_by<const BITS: u32, const FOLD: u32>(
        &self,
        haystack: &[u8],
        block: &mut Block,
    ) -> bool {
        assert_eq!(self.tables.len(), 2 << BITS);
        let mut at = block.next;
        while let Some(buckets) = self.test::<BITS, FOLD>(haystack, at) {
            if buckets != 0 {
                (block.before, block.buckets, block.next) = (at, buckets, at + 2 * TESTS);
                return true;
            }
            at += 2 * TESTS;
        }
        self.find_in_rest(haystack, at, block)
    }

    /// The buckets of the positions from the one before `at` on, four bits each. `None` near the
    /// end of the haystack.
    #[inline(always)]
    fn test<const BITS: u32, const FOLD: u32>(&self, haystack: &[u8], at: usize) -> Option<u64> {
        debug_assert_eq!(self.tables.len(), 2 << BITS);
        let firsts: &[u8; BYTES] = haystack.get(at..)?.first_chunk()?;
        // One byte more: a pattern that begins at the last position has a byte after its grams.
        let seconds: &[u8; BYTES + 1] = haystack.get(at + self.apart..)?.first_chunk()?;
        let hash = |gram: u32| ((gram | FOLD).wrapping_mul(MIX) >> (32 - BITS)) as usize;
        let mut buckets = 0;
        for i in 0..TESTS {
            let first = hash(gram(firsts, 2 * i));
            let second = hash(gram(seconds, 2 * i)) + (1 << BITS);
            // SAFETY: a hash has `BITS` bits. The caller checked that both tables together have
            // twice as many entries as there are hashes.
            let first = unsafe { *self.tables.get_unchecked(first) };
            // SAFETY: as above. The second table begins after the first one's entries.
            let second = unsafe { *self.tables.get_unchecked(second) };
            buckets |= u64::from(first & second) << (8 * i);
        }
        Some(buckets)
    }

    /// The same position by position, in the last bytes: those from the one before `at` on.
    #[inline(never)]
    fn find_in_rest(&self, haystack: &[u8], at: usize, block: &mut Block) -> bool {
        let mut at = at.saturating_sub(1).max(block.from);
        while at + self.len <= haystack.len() {
            let [first, second] = self.places(&haystack[at..]);
            if (self.tables[first] & self.tables[second]) >> BUCKETS != 0 {
                (block.before, block.buckets, block.next) = (at, 1 << BUCKETS, at + 1);
                return true;
            }
            at += 1;
        }
        block.next = haystack.len();
        false
    }
}

/// Four bytes of `bytes`; 0 if there are fewer.
#[inline(always)]
fn gram(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |gram| u32::from_le_bytes(*gram))
}

/// Positions that were tested together.
struct Block {
    /// The position after that of the lowest four bits.
    before: usize,
    /// Four bits for each position, not all 0 if a pattern may begin there and the position was not
    /// returned.
    buckets: u64,
    /// The next position to look up.
    next: usize,
    /// The first position to return.
    from: usize,
}

/// The positions of a search.
pub(super) struct GramPairPositions<'a> {
    grams: &'a GramPairs,
    starts: &'a Starts,
    /// `None` before the first position.
    block: Option<Block>,
}

impl<'a> GramPairPositions<'a> {
    #[inline(always)]
    pub(super) fn new(grams: &'a GramPairs, starts: &'a Starts) -> Self {
        GramPairPositions { grams, starts, block: None }
    }
}

impl StartPositions for GramPairPositions<'_> {
    #[inline(always)]
    fn next(&mut self, haystack: &[u8], at: usize) -> usize {
        let new = Block { before: at, buckets: 0, next: at, from: at };
        let block = self.block.get_or_insert(new);
        if block.next < at {
            (block.buckets, block.next) = (0, at);
        }
        block.from = at;
        loop {
            if block.buckets == 0 && !self.grams.find_block(haystack, block) {
                return haystack.len();
            }
            let i = block.buckets.trailing_zeros() as usize / BUCKETS;
            block.buckets &= !(0xf << (BUCKETS * i));
            // A position before the haystack is not returned either.
            if block.before + i > block.from {
                return block.before + i - 1;
            }
        }
    }

    #[inline(always)]
    fn start(&self, _root: Node, haystack: &[u8], at: usize) -> (Node, usize) {
        self.starts.get(haystack, at)
    }
}
