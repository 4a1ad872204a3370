//! Patterns of one to three bytes, found by pairs of bytes at every position.
//!
//! A pattern of one or two bytes is in the lists of all pairs that end with it, so a pair decides
//! about it. A pattern of three bytes is in the list of its rarer pair, the first two bytes or the
//! last two, with the bytes that it is compared with. The kernel looks up every pair of the text in
//! a table with a byte for each pair. Only the pairs that are marked there have a list.

use super::anchor::spellings;
use fyke_automata::PairModel;
use fyke_core::PatternSet;

/// Bytes of the table of pairs.
pub(super) const PAIRS: u32 = 1 << 16;

/// The mark of a pair in the table, above the number of its matches; as in the kernel.
pub(super) const MARKED: u8 = 0x80;

/// Flags of an entry, as in the kernel. `BEHIND_PAIR`: the pair is the pattern's first two bytes,
/// and the byte after it is the third. `OF_PAIR`: nothing is compared, because the pair decides.
pub(super) const BEHIND_PAIR: u32 = 1 << 24;
const OF_PAIR: u32 = 1 << 25;

/// No pattern; as in the kernel.
const NONE: u32 = u32::MAX;

/// Words of a list. And the number of lists of single bytes, which follow those of the pairs.
pub(super) const LIST_WORDS: usize = 4;
const BYTES: usize = 256;

/// The place of a pair of bytes in the table, the first byte lowest; as in the kernel. Both bytes
/// choose the bank: by the first alone more of a warp's 32 lookups would conflict.
pub(super) fn place(pair: u32) -> usize {
    (pair ^ pair >> 6 & 0x7c) as usize
}

/// A pattern of three bytes, its rarer pair, and whether that is its first two bytes.
pub(super) struct ThreeBytes {
    pub(super) bytes: u32,
    pub(super) pair: u32,
    pub(super) is_first: bool,
}

impl ThreeBytes {
    pub(super) fn new([a, b, c]: [u8; 3], model: &PairModel) -> ThreeBytes {
        let is_first = model.probability(&[a, b]) < model.probability(&[b, c]);
        let pair = u16::from_le_bytes(if is_first { [a, b] } else { [b, c] });
        ThreeBytes { bytes: u32::from_le_bytes([a, b, c, 0]), pair: pair.into(), is_first }
    }

    /// The bytes, with the flag that says which of them the pair is.
    pub(super) fn key(&self) -> u32 {
        self.bytes | if self.is_first { BEHIND_PAIR } else { 0 }
    }
}

/// The lists of pairs, for writing records.
pub(super) struct PairLists {
    /// [`MARKED`] at the [`place`] of each pair that has a list.
    pub(super) marks: Vec<u8>,
    /// For each pair, and after them for each byte as the first of a text: two patterns, or
    /// [`NONE`]; the first further entry, and their number.
    pub(super) lists: Vec<u32>,
    /// Pattern and what it is compared with.
    pub(super) entries: Vec<u32>,
}

impl PairLists {
    /// Builds the lists. `None` if no pattern is that short. The model decides which pair of a
    /// pattern of three bytes is the rarer one.
    pub(super) fn build(set: &PatternSet, model: &PairModel) -> Option<PairLists> {
        let mut of_byte = vec![Vec::new(); BYTES];
        let mut of_pair = vec![Vec::new(); PAIRS as usize];
        for p in set.iter().filter(|p| p.bytes.len() < 4) {
            for spelled in spellings(p.bytes, p.nocase) {
                let [a, b, c, ..] = spelled.to_le_bytes();
                match p.bytes.len() {
                    1 => of_byte[usize::from(a)].push((p.index, OF_PAIR)),
                    2 => of_pair[usize::from(u16::from_le_bytes([a, b]))].push((p.index, OF_PAIR)),
                    _ => {
                        let three = ThreeBytes::new([a, b, c], model);
                        of_pair[three.pair as usize].push((p.index, three.key()));
                    }
                }
            }
        }
        if of_byte.iter().chain(&of_pair).all(Vec::is_empty) {
            return None;
        }
        let mut made = PairLists {
            marks: vec![0; PAIRS as usize],
            lists: Vec::with_capacity(LIST_WORDS * (PAIRS as usize + BYTES)),
            entries: vec![0; 2],
        };
        for pair in 0..PAIRS {
            let all = [&of_byte[pair as usize >> 8][..], &of_pair[pair as usize]].concat();
            made.marks[place(pair)] = if all.is_empty() { 0 } else { MARKED };
            made.add(&all);
        }
        of_byte.iter().for_each(|all| made.add(all));
        Some(made)
    }

    /// Appends the list of a pair or of a byte.
    fn add(&mut self, all: &[(u32, u32)]) {
        let (certain, compared): (Vec<(u32, u32)>, Vec<_>) =
            all.iter().partition(|e| e.1 == OF_PAIR);
        let first = |n: usize| certain.get(n).map_or(NONE, |e| e.0);
        let further: Vec<_> = certain.iter().skip(2).chain(&compared).collect();
        let at = self.entries.len() as u32 / 2;
        self.lists.extend([first(0), first(1), at, further.len() as u32]);
        self.entries.extend(further.iter().flat_map(|e| [e.0, e.1]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_of_three_is_known_by_its_rarer_pair() {
        let model = PairModel::sampled(&b"abab".repeat(1 << 12));
        let first = ThreeBytes::new(*b"xab", &model);
        assert!(first.is_first && first.pair == u32::from(u16::from_le_bytes(*b"xa")));
        let last = ThreeBytes::new(*b"abx", &model);
        assert!(!last.is_first && last.pair == u32::from(u16::from_le_bytes(*b"bx")));
    }

    #[test]
    fn every_pair_of_bytes_has_a_place_of_its_own() {
        let mut is_taken = vec![false; PAIRS as usize];
        for pair in 0..PAIRS {
            assert!(!std::mem::replace(&mut is_taken[place(pair)], true), "{pair:04x}");
        }
        let banks = |first: u32| -> std::collections::BTreeSet<_> {
            (0..32).map(|second| place(first | second << 8) / 4 % 32).collect()
        };
        assert_eq!(banks(u32::from(b'e')).len(), 32, "pairs of one first byte are in all banks");
    }

    #[test]
    fn a_list_has_what_ends_with_its_pair() {
        let set = PatternSet::new(["b", "ab", "abc", "xab"]).unwrap();
        let made = PairLists::build(&set, &PairModel::sampled(b"abababab")).unwrap();
        let list = |n: usize| &made.lists[LIST_WORDS * n..][..LIST_WORDS];
        let id = |bytes: &[u8]| set.iter().find(|p| p.bytes == bytes).unwrap().index;
        let ab = usize::from(u16::from_le_bytes(*b"ab"));
        assert_eq!((list(ab)[..2].to_vec(), list(ab)[3]), (vec![id(b"b"), id(b"ab")], 0));
        let bc = list(usize::from(u16::from_le_bytes(*b"bc")));
        assert_eq!((bc[0], bc[3]), (NONE, 1));
        let entry = &made.entries[2 * bc[2] as usize..][..2];
        assert_eq!(entry, [id(b"abc"), u32::from_le_bytes(*b"abc\0")]);
        assert_eq!(list(PAIRS as usize + usize::from(b'b'))[..2], [id(b"b"), NONE]);
        assert!(made.marks[place(ab as u32)] == MARKED && made.marks[place(0)] == 0);
        assert!(
            PairLists::build(&PatternSet::new(["abcd"]).unwrap(), &PairModel::built_in()).is_none()
        );
    }
}
