//! Multipattern Boyer-Moore, which is Commentz-Walter's: a bad character, and two shifts for each state.
//!
//! A window as long as the shortest pattern moves as in [`bm_set`](super::bm_set), and the haystack is read
//! from its end to the left through the trie of the reversed patterns. Where that walk stops, it knows as
//! many bytes as it is deep, and three numbers say how near the next match can end:
//!
//! * shift1 of the state: the nearest place where all of what was read lies inside another pattern;
//! * B(c) less the depth and one: the nearest place where the byte that stopped the walk fits too;
//! * shift2 of the state: the nearest place where a pattern begins inside of what was read, or after it.
//!
//! A pattern further on either covers what was read and the byte before it, and then the larger of the
//! first two holds, or it begins within, and then shift2 does. So the window moves by
//!
//! > min(max(shift1, B(c) - depth - 1), shift2)
//!
//! as Commentz-Walter has it. Zha prints the largest of all three, which leaps over matches: the patterns cab
//! and bxx in cabxx have shift1 = 3 and shift2 = 2 where cab was read, and bxx ends 2 further on.
//!
//! Both shifts come from the failure links of the reversed trie. The states that end with what a state reads
//! are those below it in the tree of failure links, so one pass over the states, deepest first, finds the
//! nearest of them and the nearest of them with a pattern.
//!
//! Wins and loses where `bm-set` does, and wins over it where a bad character says little: with a small
//! alphabet, and with many patterns. For 1,000 patterns of 16 letters of DNA it looks at two fifths of the
//! bytes that `bm-set` looks at; for 73 file headers, the shortest of two bytes, at as many. At worst each
//! place is walked back from for as long as the longest pattern is.
//!
//! B. Commentz-Walter, *A string matching algorithm fast on the average*, ICALP 1979; Zha (2010), sections
//! 5.2 (SBM-C, table 5-5) and 6.2 (mBM, figure 6-2).

use crate::build::ReverseTrie;
use crate::cost::{Downcast, downcast};
use crate::shift::{Shifter, Window};
use fyke_automata::count::Counter;
use fyke_automata::{Direction, Trie};
use fyke_core::{
    Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet, Refusal,
};
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: BmMulti = BmMulti;

static INFO: Info = Info {
    name: "bm-multi",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "multipattern Boyer-Moore: leaps by bad characters and good suffixes, for a few long patterns",
    source: "Commentz-Walter 1979; Zha 2010, 5.2 and 6.2",
    variants: &[""],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = downcast::<Shifter<Multi>>;

/// The engine.
#[derive(Debug)]
pub struct BmMulti;

impl BmMulti {
    /// Bytes of memory it takes to compile a set, without doing it.
    pub fn memory_for(set: &PatternSet) -> u64 {
        let states = Trie::count_states_of(set, Direction::Backward);
        ReverseTrie::memory_for(states, set)
            + shifts_memory_for(states)
            + Shifter::<Multi>::memory_for(set)
    }
}

/// Bytes of memory it takes to find the shifts of so many states.
pub fn shifts_memory_for(states: u64) -> u64 {
    states * (size_of::<Shifts>() as u64 + BUILD_BYTES)
}

/// Bytes for each state while its shifts are found: its parent, its depth, and the depths of two others.
const BUILD_BYTES: u64 = 4 * 4;

impl Engine for BmMulti {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        opt.check_memory(Self::memory_for(set))?;
        let trie = Trie::read(set, Direction::Backward)?;
        let shifts = shifts(&trie, set.min_len() as u16);
        Ok(Shifter::matcher(set, Multi { trie: ReverseTrie::new(set, &trie)?, shifts }))
    }
}

/// What a state allows the window to move by. No shift is longer than a pattern, so 16 bits hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shifts {
    /// To the nearest place where all that was read lies inside another pattern.
    pub shift1: u16,
    /// To the nearest place where a pattern begins inside of what was read, or after it.
    pub shift2: u16,
}

/// Zha 2010, pages 93 and 94, for every state of a reversed trie in order. `window` is the length of the shortest
/// pattern.
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

/// Stands for the depth of a state that there is not: further than any shift.
const NOWHERE: u32 = u32::MAX;

/// For each state, the least depth of those that have it as a proper suffix, and of those among them that
/// end a pattern.
fn nearest(trie: &Trie, depths: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut set1 = vec![NOWHERE; trie.len()];
    let mut set2 = vec![NOWHERE; trie.len()];
    for s in (1..trie.len()).rev() {
        let fail = trie.fail(s as u32) as usize;
        let ends = if trie.own(s as u32).is_empty() { set2[s] } else { depths[s] };
        set1[fail] = set1[fail].min(depths[s]);
        set2[fail] = set2[fail].min(ends);
    }
    (set1, set2)
}

/// The reversed trie and its shifts.
struct Multi {
    trie: ReverseTrie,
    shifts: Vec<Shifts>,
}

impl Multi {
    fn node_bytes(&self) -> u64 {
        self.trie.node_bytes() + size_of_val(&*self.shifts) as u64
    }
}

impl Window for Multi {
    fn info(&self) -> &'static Info {
        &INFO
    }

    /// At the root, shift1 is 1 and shift2 the whole window, and what is left is B(c) - 1.
    #[inline(always)]
    fn skip<C: Counter>(&self, bytes: &[u8], end: usize, counter: &mut C) -> usize {
        self.trie.skip(bytes, end, counter)
    }

    #[inline(always)]
    fn verify<C: Counter>(&self, text: &[u8], counter: &mut C, report: impl FnMut(u32)) -> usize {
        let walk = self.trie.descend(text, counter);
        self.trie.outputs(walk.state, report);
        let bad = walk.mismatch.map_or(0, |byte| self.trie.bad_character(byte));
        let Shifts { shift1, shift2 } = self.shifts[walk.state as usize];
        usize::from(shift1).max(bad.saturating_sub(walk.depth + 1)).min(usize::from(shift2))
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.trie.memory() + size_of_val(&*self.shifts) as u64, device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let largest = self.shifts.iter().map(|s| s.shift1).max().unwrap_or(0);
        let numbers = [
            ("states", self.trie.len() as u64),
            ("node bytes", self.node_bytes()),
            ("largest shift1", u64::from(largest)),
        ];
        numbers.map(|(name, number)| (name.to_owned(), number)).into()
    }

    fn describe(&self) -> String {
        let bytes = self.footprint().host;
        format!("reversed trie of {} states with two shifts each, {bytes} bytes", self.trie.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shift::tests as shared;
    use fyke_core::{Block, Collect, Scratch, oracle};

    /// Every state by the bytes that lead to it, last byte of the patterns first, and its two shifts.
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

    /// As printed, the formula takes the largest of all: it would leap over the second match.
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

    /// States as deep as a pattern can be long, and a window that is as long.
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
    fn the_census_has_the_largest_shift() {
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
    fn most_bytes_are_never_looked_at() {
        shared::most_bytes_are_never_looked_at(&ENGINE);
    }

    #[test]
    fn the_memory_limit_is_checked_before_building() {
        shared::the_memory_limit_is_checked_before_building(&ENGINE, BmMulti::memory_for);
    }
}
