//! Boyer-Moore for many patterns with good-suffix shifts, which is Commentz-Walter's algorithm.
//!
//! A window as long as the shortest pattern skips bytes as in [`bm_set`](super::bm_set). Where it
//! stops, the engine reads the haystack to the left through the trie of the reversed patterns. The
//! walk ends in a state of some depth, and three numbers bound how near the next match can end:
//!
//! * shift1 of the state: the nearest place where another pattern contains everything that was
//!   read;
//! * B(c) - depth - 1: the nearest place where the byte c that stopped the walk fits as well;
//! * shift2 of the state: the nearest place where a pattern begins within or after what was read.
//!
//! A later match either covers what was read and the byte before it, which the larger of the first
//! two bounds, or begins within it, which shift2 bounds. So the window moves by
//!
//! > min(max(shift1, B(c) - depth - 1), shift2)
//!
//! as in Commentz-Walter. Zha prints the largest of all three, which skips matches: the patterns
//! cab and bxx in cabxx have shift1 = 3 and shift2 = 2 where cab was read, and bxx ends 2 bytes
//! later.
//!
//! Both shifts come from the failure links of the reversed trie. The states that end with what a
//! state reads are those below it in the tree of failure links. One pass over the states, deepest
//! first, finds the nearest of them and the nearest of them with a pattern.
//!
//! Wins and loses where `bm-set` does. It reads fewer bytes than `bm-set` with a small alphabet or
//! many patterns, where the bad character alone gives short shifts. In the worst case every place
//! is walked back from for as long as the longest pattern is.
//!
//! Source: B. Commentz-Walter, *A string matching algorithm fast on the average*, ICALP 1979; Zha
//! (2010), sections 5.2 (SBM-C, table 5-5) and 6.2 (mBM, figure 6-2).

use crate::cost::{Downcast, downcast};
use crate::shift::Shifter;
use crate::shift::reverse::{ReverseWindow, ShiftRule};
use fyke_automata::Trie;
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: BmMulti = BmMulti;

static INFO: Info = Info {
    name: "bm-multi",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "Commentz-Walter: skips bytes by bad characters and good suffixes, for a few long patterns",
    source: "Commentz-Walter 1979; Zha 2010, 5.2 and 6.2",
    variants: &[""],
};

type Multi = ReverseWindow<GoodSuffixes>;

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = downcast::<Shifter<Multi>>;

/// The engine.
#[derive(Debug)]
pub struct BmMulti;

impl Engine for BmMulti {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        Multi::compile(&INFO, set, opt)
    }
}

/// The two shifts of every state.
struct GoodSuffixes(Vec<Shifts>);

impl ShiftRule for GoodSuffixes {
    const ABOUT: &'static str = " with two shifts each";

    fn new(set: &PatternSet, trie: &Trie) -> Self {
        GoodSuffixes(shifts(trie, set.min_len() as u16))
    }

    fn memory_for(states: u64) -> u64 {
        shifts_memory_for(states)
    }

    fn memory(&self) -> u64 {
        size_of_val(&*self.0) as u64
    }

    fn node_bytes(&self) -> u64 {
        self.memory()
    }

    /// At the root shift1 is 1 and shift2 is the whole window.
    #[inline(always)]
    fn bounds(&self, state: u32, _last: u8) -> RangeInclusive<usize> {
        let Shifts { shift1, shift2 } = self.0[state as usize];
        usize::from(shift1)..=usize::from(shift2)
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let largest = self.0.iter().map(|s| s.shift1).max().unwrap_or(0);
        vec![("largest shift1".to_owned(), u64::from(largest))]
    }
}

/// How far a state lets the window move. No shift is longer than a pattern, so 16 bits hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shifts {
    /// To the nearest place where another pattern contains everything that was read.
    pub shift1: u16,
    /// To the nearest place where a pattern begins within or after what was read.
    pub shift2: u16,
}

/// Bytes for each state while its shifts are found: its parent, its depth and two other depths.
const BUILD_BYTES: u64 = 4 * 4;

/// Bytes of memory it takes to find the shifts of `states` states.
pub fn shifts_memory_for(states: u64) -> u64 {
    states * (size_of::<Shifts>() as u64 + BUILD_BYTES)
}

/// The shifts of every state of a reversed trie, in order of the states: Zha 2010, pages 93 and
/// 94. `window` is the length of the shortest pattern.
pub fn shifts(trie: &Trie, window: u16) -> Vec<Shifts> {
    let parents = trie.parents();
    let depths: Vec<u32> = trie.depths().collect();
    let (set1, set2) = nearest(trie, &depths);
    let mut shifts = vec![Shifts { shift1: 1, shift2: window }; trie.len()];
    for s in 1..trie.len() {
        let inherited = shifts[parents[s] as usize].shift2;
        let at_most = |most: u16, depth: u32| (depth - depths[s]).min(u32::from(most)) as u16;
        shifts[s] =
            Shifts { shift1: at_most(window, set1[s]), shift2: at_most(inherited, set2[s]) };
    }
    shifts
}

/// The depth of no state: deeper than any shift.
const NO_DEPTH: u32 = u32::MAX;

/// For each state, the smallest depth of the states that have it as a proper suffix, and of those
/// among them that end a pattern.
fn nearest(trie: &Trie, depths: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut set1 = vec![NO_DEPTH; trie.len()];
    let mut set2 = vec![NO_DEPTH; trie.len()];
    for s in (1..trie.len()).rev() {
        let fail = trie.fail(s as u32) as usize;
        let ends = if trie.own(s as u32).is_empty() { set2[s] } else { depths[s] };
        set1[fail] = set1[fail].min(depths[s]);
        set2[fail] = set2[fail].min(ends);
    }
    (set1, set2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shift::tests as shared;
    use fyke_automata::Direction;
    use fyke_core::{Block, Collect, Scratch, oracle};

    /// Every state, by the bytes that lead to it from the end of the patterns, and its two shifts.
    fn table(patterns: &[&str]) -> Vec<(String, u16, u16)> {
        let set = PatternSet::new(patterns).unwrap();
        let trie = Trie::read(&set, Direction::Backward).unwrap();
        let (parents, shifts) = (trie.parents(), shifts(&trie, set.min_len() as u16));
        let mut paths = vec![String::new(); trie.len()];
        for s in 1..trie.len() {
            paths[s] =
                format!("{}{}", paths[parents[s] as usize], char::from(trie.label(s as u32)));
        }
        paths.into_iter().zip(shifts).map(|(p, s)| (p, s.shift1, s.shift2)).collect()
    }

    const FIGURE: [&str; 5] = ["cac", "acbacc", "cba", "bbaca", "cbaca"];

    /// Zha 2010, figure 6-2, node by node.
    #[test]
    fn shifts_of_the_figure() {
        let mut states = table(&FIGURE);
        states.sort();
        let states: Vec<_> = states.iter().map(|(path, a, b)| (path.as_str(), *a, *b)).collect();
        let root = [("", 1, 3)];
        let ends_a = [("a", 1, 3), ("ab", 2, 3), ("abc", 2, 2)];
        let ends_ca =
            [("ac", 1, 1), ("aca", 3, 1), ("acab", 3, 1), ("acabb", 3, 1), ("acabc", 3, 1)];
        let ends_c = [("c", 1, 2), ("ca", 1, 2), ("cac", 3, 2)];
        let ends_cc =
            [("cc", 3, 2), ("cca", 3, 2), ("ccab", 3, 2), ("ccabc", 3, 2), ("ccabca", 3, 2)];
        let figure = [&root[..], &ends_a, &ends_ca, &ends_c, &ends_cc].concat();
        assert_eq!(states, figure);
    }

    /// The definitions of pages 93 and 94, state against state.
    fn by_definition(patterns: &[&str]) -> Vec<(String, u16, u16)> {
        let words: Vec<String> = patterns.iter().map(|p| p.chars().rev().collect()).collect();
        let window = patterns.iter().map(|p| p.len()).min().unwrap();
        let mut paths: Vec<&str> =
            words.iter().flat_map(|w| (0..=w.len()).map(|n| &w[..n])).collect();
        paths.sort();
        paths.dedup();
        let nearest = |path: &str, matched: bool| {
            let longer = paths.iter().filter(|p| p.len() > path.len() && p.ends_with(path));
            let counted = longer.filter(|p| !matched || words.iter().any(|w| w == *p));
            counted.map(|p| p.len() - path.len()).min().unwrap_or(usize::MAX)
        };
        let shift1 =
            |path: &str| if path.is_empty() { 1 } else { nearest(path, false).min(window) };
        let shift2 = |path: &str| {
            (1..=path.len()).map(|n| nearest(&path[..n], true)).fold(window, |a, b| a.min(b))
        };
        paths.iter().map(|p| (p.to_string(), shift1(p) as u16, shift2(p) as u16)).collect()
    }

    #[test]
    fn shifts_are_those_of_the_definitions() {
        let sets: [&[&str]; 5] = [
            &FIGURE,
            &["aaaa", "aaaaaaa", "baa"],
            &["abab", "babab", "ababc", "abac", "bcab"],
            &["a", "ba", "cba"],
            &["cab", "bxx"],
        ];
        for set in sets {
            let mut states = table(set);
            states.sort();
            assert_eq!(states, by_definition(set), "{set:?}");
        }
    }

    /// The formula as printed takes the largest of the three and would skip the second match.
    #[test]
    fn the_second_shift_limits_the_first() {
        let patterns = ["cab", "bxx"];
        assert!(table(&patterns).contains(&("bac".to_owned(), 3, 2)));
        let set = PatternSet::new(patterns).unwrap();
        let m = ENGINE.compile(&set, &Options::default()).unwrap();
        let mut got = Collect::default();
        assert!(m.scan(Block::whole(b"cabxx"), &mut Scratch::new(), &mut got).is_continue());
        assert_eq!(got.matches.len(), 2);
        assert_eq!(got.matches, oracle::find_all(&set, b"cabxx"));
    }

    /// The longest possible pattern: the deepest states and the longest window.
    #[test]
    fn the_longest_pattern_has_a_shift_in_every_state() {
        let pattern = [vec![b'b'], vec![b'a'; fyke_core::pattern::MAX_LEN - 1]].concat();
        let set = PatternSet::new([pattern]).unwrap();
        let trie = Trie::read(&set, Direction::Backward).unwrap();
        let shifts = shifts(&trie, set.min_len() as u16);
        assert_eq!(shifts.last(), Some(&Shifts { shift1: 65_535, shift2: 65_535 }));
        assert!(shifts.iter().all(|s| s.shift1 > 0 && s.shift2 > 0));
    }

    #[test]
    fn the_stats_have_the_largest_shift() {
        let m = ENGINE.compile(&PatternSet::new(FIGURE).unwrap(), &Options::default()).unwrap();
        let stats = m.stats();
        let stats: Vec<_> = stats.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(stats, [("states", 17), ("node bytes", 17 * 17), ("largest shift1", 3)]);
    }

    #[test]
    fn equals_the_oracle_on_hostile_input() {
        shared::equals_the_oracle_on_hostile_input(&ENGINE);
    }

    #[test]
    fn takes_patterns_of_one_byte() {
        shared::takes_patterns_of_one_byte(&ENGINE);
    }

    #[test]
    fn most_bytes_are_never_read() {
        shared::most_bytes_are_never_read(&ENGINE);
    }

    #[test]
    fn the_memory_limit_is_checked_before_building() {
        shared::the_memory_limit_is_checked_before_building(&ENGINE, Multi::memory_for);
    }
}
