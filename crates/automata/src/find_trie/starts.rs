//! [`Starts`]: a hash table from the first bytes of patterns to the states of the trie that they
//! lead to. One lookup replaces a walk of up to eight steps, each of which waits for the last.

use super::Node;
use super::bitmap::MIX;
use super::prefixes::MOST_LEN;
use crate::trie::CaseFold;
use fyke_core::PatternId;

/// The state of a free entry. A state in the table has children or a match, so it is not this one.
const NONE: Node = Node { packed: 0, id: PatternId(0) };

/// The maximum number of entries in a row that are not free: a lookup reads no more. There are more
/// only if the words were made for it. Not measured: a guess.
const MOST_IN_ROW: usize = 128;

/// The hash table, with open addressing. At least half of its entries are free.
#[derive(Debug)]
pub(super) struct Starts {
    entries: Vec<Start>,
    /// How far a product is shifted to get a place.
    shift: u32,
    /// A mask of the bytes of a word that are looked up, and their number.
    mask: u64,
    len: usize,
    /// Whether words are in lower case.
    lower: bool,
}

#[derive(Clone, Copy, Debug)]
struct Start {
    word: u64,
    node: Node,
}

impl Starts {
    /// The number of entries for some number of words: a power of two.
    fn entries(words: usize) -> usize {
        (2 * words).next_power_of_two().max(2)
    }

    /// The bytes of memory for at most this many words.
    pub(super) fn memory_for(words: usize) -> u64 {
        (size_of::<Start>() * Self::entries(words)) as u64
    }

    /// Takes the first `len` bytes of patterns with the states that they lead to. `None` if a
    /// lookup might read too many entries.
    pub(super) fn new<'a>(
        heads: impl Iterator<Item = (&'a [u8], Node)>,
        len: usize,
        fold: CaseFold,
    ) -> Option<Starts> {
        let heads: Vec<_> = heads.collect();
        let size = Self::entries(heads.len());
        let mut starts = Starts {
            entries: vec![Start { word: 0, node: NONE }; size],
            shift: u64::BITS - size.trailing_zeros(),
            mask: u64::MAX >> (8 * (MOST_LEN - len)),
            len,
            lower: fold == CaseFold::Lower,
        };
        for (head, node) in heads {
            let word = starts.key(word_at(head, 0));
            let place = starts.place(word);
            if place.wrapping_sub(starts.home(word)) % size > MOST_IN_ROW {
                return None;
            }
            starts.entries[place] = Start { word, node };
        }
        (starts.most_in_row() <= MOST_IN_ROW).then_some(starts)
    }

    /// The maximum number of entries in a row that are not free.
    fn most_in_row(&self) -> usize {
        // Twice, because the first entry follows the last one.
        let twice = self.entries.iter().chain(&self.entries);
        let rows = twice.scan(0, |row, start| {
            *row = if start.node.packed == NONE.packed { 0 } else { *row + 1 };
            Some(*row)
        });
        rows.max().unwrap_or(0)
    }

    /// The place of a word's hash.
    #[inline(always)]
    fn home(&self, word: u64) -> usize {
        (word.wrapping_mul(MIX) >> self.shift) as usize
    }

    /// The bytes of a word that are looked up.
    #[inline(always)]
    fn key(&self, word: u64) -> u64 {
        (if self.lower { lower_case(word) } else { word }) & self.mask
    }

    /// The entry of a word, or the free one after the entries with its hash.
    #[inline(always)]
    fn place(&self, word: u64) -> usize {
        let mut place = self.home(word);
        loop {
            match self.entries.get(place) {
                Some(start) if start.word == word || start.node.packed == NONE.packed => {
                    return place;
                }
                Some(_) => place += 1,
                None => place = 0,
            }
        }
    }

    /// The state that the bytes from a position on lead to, and the number of these bytes. A state
    /// without children and match if no pattern begins so.
    #[inline(always)]
    pub(super) fn get(&self, haystack: &[u8], at: usize) -> (Node, usize) {
        (self.entries[self.place(self.key(word_at(haystack, at)))].node, self.len)
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> u64 {
        size_of_val(&*self.entries) as u64
    }
}

/// Eight bytes at `at`, with zeros beyond the end.
#[inline(always)]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    match bytes[at..].first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => bytes[at..].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// Eight bytes in ASCII lower case.
#[inline(always)]
fn lower_case(word: u64) -> u64 {
    let mut bytes = word.to_le_bytes();
    bytes.make_ascii_lowercase();
    u64::from_le_bytes(bytes)
}
