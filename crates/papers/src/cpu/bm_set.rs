//! Boyer-Moore-Horspool for many patterns: one bad-character function for the whole set.
//!
//! A window as long as the shortest pattern moves by its last byte until some pattern ends with
//! that byte. From there the engine reads the haystack to the left through the trie of the
//! reversed patterns, which compares all patterns at once. Then the window moves by the larger of
//! two distances that no match can end within: Horspool's, to the nearest earlier place of the
//! window's last byte in any pattern; and B(c) - depth - 1 for the byte c that stopped the walk.
//!
//! Wins with few patterns that are all long, over a large alphabet: it never reads most bytes.
//! Loses with one short pattern, because no window is longer than that; with many patterns,
//! because then every byte is the last byte of one; and on periodic haystacks, where every place
//! may be walked back from for as long as the longest pattern is.
//!
//! Source: M. Fisk and G. Varghese, *Applying fast string matching to intrusion detection*, 2002;
//! Zha (2010), section 5.2 (SBM-S, table 5-5).

use crate::cost::{Downcast, downcast};
use crate::shift::Shifter;
use crate::shift::reverse::{ReverseWindow, ShiftRule};
use fyke_automata::{CaseFold, Trie};
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: BmSet = BmSet;

static INFO: Info = Info {
    name: "bm-set",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "set-wise Boyer-Moore-Horspool: skips bytes by bad characters, for a few long patterns",
    source: "Fisk and Varghese 2002; Zha 2010, 5.2",
    variants: &[""],
};

type Setwise = ReverseWindow<Horspool>;

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = downcast::<Shifter<Setwise>>;

/// The engine.
#[derive(Debug)]
pub struct BmSet;

impl Engine for BmSet {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        Setwise::compile(&INFO, set, opt)
    }
}

/// The window of a set, for tests of what all windows share.
#[cfg(test)]
pub(crate) fn window(set: &PatternSet) -> Result<Setwise, Refusal> {
    Setwise::new(&INFO, set)
}

/// Horspool's shift of each byte that a window may end with.
pub(crate) struct Horspool([u32; 256]);

impl ShiftRule for Horspool {
    const ABOUT: &'static str = "";

    fn new(set: &PatternSet, _trie: &Trie) -> Self {
        Horspool(horspool(set))
    }

    fn memory_for(_states: u64) -> u64 {
        size_of::<Self>() as u64
    }

    fn memory(&self) -> u64 {
        size_of::<Self>() as u64
    }

    fn node_bytes(&self) -> u64 {
        0
    }

    #[inline(always)]
    fn bounds(&self, _state: u32, last: u8) -> RangeInclusive<usize> {
        self.0[usize::from(last)] as usize..=usize::MAX
    }

    fn stats(&self) -> Vec<(String, u64)> {
        Vec::new()
    }
}

/// For each byte of a haystack, the distance from the end of a pattern to the nearest equal byte
/// before its last one; the length of the window if no pattern has one within it.
fn horspool(set: &PatternSet) -> [u32; 256] {
    let fold = CaseFold::of(set);
    let window = set.min_len() as u32;
    let mut folded = [window; 256];
    for pattern in set.iter() {
        for (distance, &byte) in (1..window).zip(pattern.bytes.iter().rev().skip(1)) {
            let nearest = &mut folded[usize::from(fold.byte(byte))];
            *nearest = distance.min(*nearest);
        }
    }
    std::array::from_fn(|byte| folded[usize::from(fold.byte(byte as u8))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shift::Window;
    use crate::shift::tests as shared;
    use fyke_automata::count::Uncounted;

    #[test]
    fn horspool_leaves_out_last_bytes() {
        let set = PatternSet::new(["abcabcd", "xdxa"]).unwrap();
        let shifts = horspool(&set);
        assert_eq!(b"abcdxy".map(|c| shifts[usize::from(c)]), [3, 2, 1, 2, 1, 4]);
    }

    /// The walk stops at the x, which is in no pattern: a longer shift than that of the last byte.
    #[test]
    fn the_larger_shift_counts() {
        let set = PatternSet::new(["aaaaab"]).unwrap();
        let window = super::window(&set).unwrap();
        let mut found = Vec::new();
        assert_eq!(window.verify(b"aaaaxb", &mut Uncounted, |p| found.push(p)), 6);
        assert_eq!(window.verify(b"aaaaab", &mut Uncounted, |p| found.push(p)), 6);
        assert_eq!(found, [0]);
        let set = PatternSet::new(["abaaaa"]).unwrap();
        let window = super::window(&set).unwrap();
        let ignore = |text: &[u8]| window.verify(text, &mut Uncounted, |_| ());
        assert_eq!((ignore(b"xxxxxa"), ignore(b"xxaaaa")), (5, 2));
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
        shared::the_memory_limit_is_checked_before_building(&ENGINE, Setwise::memory_for);
    }
}
