//! Set-wise Boyer-Moore-Horspool: one bad character function for all patterns.
//!
//! A window as long as the shortest pattern is moved by its last byte until some pattern ends with that
//! byte. Then the haystack is read from there to the left through the trie of the reversed patterns, which
//! compares all of them at once. It moves on by the larger of two distances that no match can lie within:
//! Horspool's, to the nearest earlier place of the window's last byte in any pattern; and that of the byte
//! on which the walk failed, B(c) less what was walked.
//!
//! Wins: few patterns, all of them long, of a large alphabet; then most bytes are never looked at. Loses:
//! with one short pattern, since no window is longer than that; with many patterns, since then every byte is
//! the last of one; and on periodic haystacks, where each place may be walked back from, for as long as the
//! longest pattern is.
//!
//! M. Fisk and G. Varghese, *Applying fast string matching to intrusion detection*, 2002; Zha (2010),
//! section 5.2, where it is SBM-S, table 5-5.

use crate::build::ReverseTrie;
use crate::cost::{Downcast, downcast};
use crate::shift::{Shifter, Window};
use fyke_automata::count::Counter;
use fyke_automata::{CaseFold, Direction, Trie};
use fyke_core::{
    Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet, Refusal,
};
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: BmSet = BmSet;

static INFO: Info = Info {
    name: "bm-set",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "set-wise Boyer-Moore-Horspool: leaps over bytes, for a few long patterns",
    source: "Fisk and Varghese 2002; Zha 2010, 5.2",
    variants: &[""],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = downcast::<Shifter<Setwise>>;

/// The engine.
#[derive(Debug)]
pub struct BmSet;

impl BmSet {
    /// Bytes of memory it takes to compile a set, without doing it.
    pub fn memory_for(set: &PatternSet) -> u64 {
        let states = Trie::count_states_of(set, Direction::Backward);
        ReverseTrie::memory_for(states, set) + TABLE_BYTES + Shifter::<Setwise>::memory_for(set)
    }
}

const TABLE_BYTES: u64 = 4 * 256;

impl Engine for BmSet {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        opt.check_memory(Self::memory_for(set))?;
        Ok(Shifter::matcher(set, Setwise::new(set)?))
    }
}

/// The reversed trie and Horspool's shifts.
#[derive(Debug)]
pub(crate) struct Setwise {
    trie: ReverseTrie,
    /// How far a window whose last byte is this may move when it was looked at.
    horspool: [u32; 256],
}

impl Setwise {
    pub(crate) fn new(set: &PatternSet) -> Result<Setwise, Refusal> {
        let trie = Trie::read(set, Direction::Backward)?;
        Ok(Setwise { trie: ReverseTrie::new(set, &trie)?, horspool: horspool(set) })
    }
}

/// The distance of each byte, as it stands in the haystack, to the nearest equal one before the last of a
/// pattern; the length of the window if there is none in it.
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

impl Window for Setwise {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline(always)]
    fn skip<C: Counter>(&self, bytes: &[u8], end: usize, counter: &mut C) -> usize {
        self.trie.skip(bytes, end, counter)
    }

    #[inline(always)]
    fn verify<C: Counter>(&self, text: &[u8], counter: &mut C, report: impl FnMut(u32)) -> usize {
        let walk = self.trie.descend(text, counter);
        self.trie.outputs(walk.state, report);
        let bad = walk.mismatch.map_or(0, |byte| self.trie.bad_character(byte));
        let last = text.last().map_or(1, |&byte| self.horspool[usize::from(byte)] as usize);
        last.max(bad.saturating_sub(walk.depth + 1))
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.trie.memory() + TABLE_BYTES, device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let numbers = [("states", self.trie.len() as u64), ("node bytes", self.trie.node_bytes())];
        numbers.map(|(name, number)| (name.to_owned(), number)).into()
    }

    fn describe(&self) -> String {
        format!("reversed trie of {} states, {} bytes", self.trie.len(), self.footprint().host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shift::tests as shared;

    #[test]
    fn horspool_leaves_out_last_bytes() {
        let set = PatternSet::new(["abcabcd", "xdxa"]).unwrap();
        let shifts = horspool(&set);
        assert_eq!(b"abcdxy".map(|c| shifts[usize::from(c)]), [3, 2, 1, 2, 1, 4]);
    }

    /// The walk fails on the x, which is nowhere: further than the last byte would allow.
    #[test]
    fn the_larger_shift_counts() {
        let set = PatternSet::new(["aaaaab"]).unwrap();
        let window = Setwise::new(&set).unwrap();
        let mut found = Vec::new();
        assert_eq!(
            window.verify(b"aaaaxb", &mut fyke_automata::count::Uncounted, |p| found.push(p)),
            6
        );
        assert_eq!(
            window.verify(b"aaaaab", &mut fyke_automata::count::Uncounted, |p| found.push(p)),
            6
        );
        assert_eq!(found, [0]);
        let set = PatternSet::new(["abaaaa"]).unwrap();
        let window = Setwise::new(&set).unwrap();
        let ignore =
            |text: &[u8]| window.verify(text, &mut fyke_automata::count::Uncounted, |_| ());
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
    fn most_bytes_are_never_looked_at() {
        shared::most_bytes_are_never_looked_at(&ENGINE);
    }

    #[test]
    fn the_memory_limit_is_checked_before_building() {
        shared::the_memory_limit_is_checked_before_building(&ENGINE, BmSet::memory_for);
    }
}
