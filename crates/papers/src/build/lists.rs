//! Rule lists: the patterns to report in a state, as a few words that a node can point to.
//!
//! A list holds the patterns that end in one state, and a pointer to the list of the nearest
//! suffix state that has one. So all lists together are as long as the set, however patterns nest.
//! The lists are plain bytes and can stand in the same arena as the nodes.

use fyke_automata::Trie;
use fyke_core::Refusal;
use std::hint::select_unpredictable;

/// Marks the last pattern of a list. The word after it points to the list that follows, or is
/// [`NO_LIST`].
const LAST: u32 = 1 << 31;

/// The null pointer of lists.
pub const NO_LIST: u32 = 0;

/// The lists of a trie, and where the list of each state begins.
#[derive(Debug)]
pub struct RuleLists {
    /// Little-endian words. No list begins at word 0, which is [`NO_LIST`].
    pub bytes: Vec<u8>,
    /// The first word of the list of each state, or [`NO_LIST`].
    pub heads: Vec<u32>,
}

impl RuleLists {
    /// The lists of the states of a trie. A list continues with that of the nearest reporting
    /// suffix.
    ///
    /// # Errors
    /// There are more patterns than a list can name: 2^31.
    pub fn new(trie: &Trie) -> Result<RuleLists, Refusal> {
        Self::linked(trie, |state| trie.output_link(state))
    }

    /// The lists of the states of a trie. The list of a state continues with that of the state
    /// that `link` gives, which must have a smaller number.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn linked(trie: &Trie, link: impl Fn(u32) -> u32) -> Result<RuleLists, Refusal> {
        let (need, have) = (2 * trie.pattern_count() as u64, u64::from(LAST));
        if need >= have {
            return Err(Refusal::TooBig { what: "words of rule lists", need, have });
        }
        let mut lists = RuleLists { bytes: vec![0; 4], heads: vec![NO_LIST; trie.len()] };
        for state in 0..trie.len() as u32 {
            let follows = lists.heads[link(state) as usize];
            lists.heads[state as usize] = lists.add(trie.own(state), follows);
        }
        Ok(lists)
    }

    /// Upper bound of the bytes that the lists of a set take.
    pub fn memory_for(patterns: usize) -> u64 {
        4 + 8 * patterns as u64
    }

    fn add(&mut self, own: &[u32], follows: u32) -> u32 {
        let Some((last, others)) = own.split_last() else { return follows };
        let head = (self.bytes.len() / 4) as u32;
        let words = others.iter().copied().chain([last | LAST, follows]);
        self.bytes.extend(words.flat_map(u32::to_le_bytes));
        head
    }
}

/// Calls `each` with the patterns of the list that begins at word `head` of `lists`, and of the
/// lists that follow.
#[inline]
pub fn each_of(lists: &[u8], head: u32, mut each: impl FnMut(u32)) {
    let mut at = head;
    while at != NO_LIST {
        let pattern = word(lists, at);
        each(pattern & !LAST);
        at = if pattern & LAST == 0 { at + 1 } else { word(lists, at + 1) };
    }
}

/// The first patterns of the list that begins at word `head`, at most N; how many they are; and
/// where the rest begins.
///
/// The CPU cannot predict the lengths of lists, so the loop always takes N steps and discards
/// those after the end. `lists` must have one more word after its last.
#[inline(always)]
pub fn first_of<const N: usize>(lists: &[u8], head: u32) -> ([u32; N], usize, u32) {
    let (mut at, mut count) = (head, 0);
    let patterns = std::array::from_fn(|_| {
        let (here, next) = (word(lists, at), word(lists, at + 1));
        let goes_on = select_unpredictable(here & LAST == 0, at + 1, next);
        count += usize::from(at != NO_LIST);
        at = select_unpredictable(at == NO_LIST, NO_LIST, goes_on);
        here & !LAST
    });
    (patterns, count, at)
}

#[inline(always)]
fn word(lists: &[u8], at: u32) -> u32 {
    let at = 4 * at as usize;
    u32::from_le_bytes(lists[at..at + 4].try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::{PatternId, PatternSet};

    #[test]
    fn a_list_continues_with_that_of_the_suffix() {
        let mut b = PatternSet::builder();
        for (bytes, nocase) in [("she", false), ("he", false), ("HE", true), ("his", true)] {
            b.push_with(PatternId(0), bytes, nocase).unwrap();
        }
        let set = b.build();
        let trie = Trie::new(&set).unwrap();
        let lists = RuleLists::new(&trie).unwrap();
        let reports = |word: &str| {
            let state = word.bytes().fold(0, |s, b| trie.child(s, b).unwrap());
            let mut all = Vec::new();
            each_of(&lists.bytes, lists.heads[state as usize], |p| all.push(set.bytes(p)));
            all
        };
        assert_eq!(reports("she"), [b"she".as_slice(), b"he", b"he"]);
        assert_eq!(reports("his"), [b"his"]);
        assert_eq!(reports("hi"), [b""; 0]);
        assert!(lists.bytes.len() as u64 <= RuleLists::memory_for(set.len()));
        let mut padded = lists.bytes.clone();
        padded.extend([0; 4]);
        for &head in &lists.heads {
            let mut all = Vec::new();
            each_of(&padded, head, |p| all.push(p));
            let (some, count, rest) = first_of::<2>(&padded, head);
            let mut same = some[..count].to_vec();
            each_of(&padded, rest, |p| same.push(p));
            assert_eq!(all, same);
        }
    }
}
