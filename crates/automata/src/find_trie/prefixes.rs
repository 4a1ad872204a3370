//! [`Prefixes`]: at which positions a pattern may begin.
//!
//! If all patterns have four bytes or more, a bitmap has the hashes of their first bytes, up to
//! eight. Otherwise it has the groups of the first three bytes, where a shorter pattern stands for
//! all groups after it.

use crate::classes::ByteClasses;
use crate::find_states::States;
use crate::trie::{CaseFold, ROOT};
use fyke_core::PatternSet;

/// The maximum number of bytes that are looked up.
pub(super) const MOST_LEN: usize = 8;

/// The minimum number of bytes that are hashed.
const LEAST_HASHED: usize = 4;

/// The bitmap of hashes has at least this many bits per pattern, and less than twice as many.
/// [`LEAST_BITS`] and [`MOST_BITS`] are the binary logarithms of its least and its largest size. Not
/// measured: guesses.
const BITS_PER_PATTERN: u64 = 32;
const LEAST_BITS: u32 = 12;
const MOST_BITS: u32 = 22;

/// The multiplier of the hash: 2^64 divided by the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Finds the positions at which a pattern may begin.
#[derive(Debug)]
pub(super) enum Prefixes {
    Groups(Groups),
    Hashes(Hashes),
}

impl Prefixes {
    /// The bytes of memory for a set.
    pub(super) fn memory_for(set: &PatternSet) -> u64 {
        match set.min_len() {
            ..LEAST_HASHED => (8 * GROUPS * GROUPS) as u64,
            _ => 1 << (Hashes::bits(set) - 3),
        }
    }

    pub(super) fn new(set: &PatternSet, states: &States<'_>, classes: &ByteClasses) -> Prefixes {
        match set.min_len() {
            ..LEAST_HASHED => Prefixes::Groups(Groups::new(states, classes)),
            _ => Prefixes::Hashes(Hashes::new(set, states.trie.fold())),
        }
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> u64 {
        let (Prefixes::Groups(Groups { third: bits, .. }) | Prefixes::Hashes(Hashes { bits, .. })) =
            self;
        size_of_val(&**bits) as u64
    }

    /// The first position from `at` on at which a pattern may begin, or the length.
    #[inline(always)]
    pub(super) fn next(&self, haystack: &[u8], at: usize) -> usize {
        let rest = haystack.get(at..).unwrap_or_default();
        at + match self {
            Prefixes::Groups(groups) => groups.next(rest),
            Prefixes::Hashes(hashes) => hashes.next(rest),
        }
    }
}

/// The number of groups that bytes are in.
const GROUPS: usize = 64;

/// The groups of the first three bytes of all patterns.
#[derive(Debug)]
pub(super) struct Groups {
    /// By the groups of the first two bytes, a bit for each group of the third.
    third: Vec<u64>,
    /// The group of each byte: its class, if there are at most [`GROUPS`].
    group: Box<[u8; 256]>,
}

impl Groups {
    fn new(states: &States<'_>, classes: &ByteClasses) -> Groups {
        let group = Box::new(classes.map().map(|class| class % GROUPS as u8));
        let mut third = vec![0; GROUPS * GROUPS];
        let group_of = |state| usize::from(group[usize::from(states.trie.label(state))]);
        for first in states.children(ROOT) {
            let begin = group_of(first) * GROUPS;
            if states.matched(first).is_some() {
                third[begin..][..GROUPS].fill(!0);
            }
            for second in states.children(first) {
                let third = &mut third[begin + group_of(second)];
                if states.matched(second).is_some() {
                    *third = !0;
                }
                states.children(second).for_each(|state| *third |= 1 << group_of(state));
            }
        }
        Groups { third, group }
    }

    /// The first position at which a pattern may begin, or the length. The last two positions may.
    #[inline(always)]
    fn next(&self, haystack: &[u8]) -> usize {
        let may_begin = |bytes: &[u8]| {
            let [a, b, c] = [bytes[0], bytes[1], bytes[2]].map(|b| self.group[usize::from(b)]);
            let pair = usize::from(a) * GROUPS + usize::from(b);
            self.third[pair % (GROUPS * GROUPS)] >> (c % GROUPS as u8) & 1 != 0
        };
        let found = haystack.windows(3).position(may_begin);
        found.unwrap_or(haystack.len().saturating_sub(2))
    }
}

/// The hashes of the first bytes of all patterns.
#[derive(Debug)]
pub(super) struct Hashes {
    bits: Vec<u64>,
    /// The number of bytes that are hashed, and a mask of them.
    len: usize,
    mask: u64,
    /// Bits that are set in every byte, so that both cases of a letter have one hash.
    fold: u64,
    /// How far the product is shifted to get a hash.
    shift: u32,
}

impl Hashes {
    /// The binary logarithm of the number of bits.
    fn bits(set: &PatternSet) -> u32 {
        let bits = (set.len() as u64 * BITS_PER_PATTERN).next_power_of_two();
        bits.trailing_zeros().clamp(LEAST_BITS, MOST_BITS)
    }

    fn new(set: &PatternSet, fold: CaseFold) -> Hashes {
        let len = set.min_len().min(MOST_LEN);
        let bits = Self::bits(set);
        let mut hashes = Hashes {
            bits: vec![0; 1 << (bits - 6)],
            len,
            mask: u64::MAX >> (64 - 8 * len),
            fold: if fold == CaseFold::Lower { 0x2020_2020_2020_2020 } else { 0 },
            shift: 64 - bits,
        };
        for pattern in set.iter() {
            let mut bytes = [0; MOST_LEN];
            bytes[..len].copy_from_slice(&pattern.bytes[..len]);
            let hash = hashes.hash(bytes);
            hashes.bits[hash / 64] |= 1 << (hash % 64);
        }
        hashes
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
    fn next(&self, haystack: &[u8]) -> usize {
        match haystack.windows(MOST_LEN).position(|bytes| self.has(bytes)) {
            Some(found) => found,
            None => self.next_in_tail(haystack),
        }
    }

    /// The same among the last positions, which have less than eight bytes.
    #[inline]
    fn next_in_tail(&self, haystack: &[u8]) -> usize {
        let before = haystack.len().saturating_sub(MOST_LEN - 1);
        let tail = &haystack[before..];
        let mut padded = [0; 2 * MOST_LEN];
        padded[..tail.len()].copy_from_slice(tail);
        let positions = 0..(tail.len() + 1).saturating_sub(self.len);
        let found = positions.into_iter().find(|&i| self.has(&padded[i..]));
        found.map_or(haystack.len(), |i| before + i)
    }
}
