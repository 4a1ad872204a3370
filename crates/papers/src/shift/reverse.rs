//! The window of Boyer-Moore for many patterns, which `bm-set` and `bm-multi` share.
//!
//! A walk to the left through the trie of the reversed patterns compares all of them at once. The
//! byte that stops the walk allows a shift of B(c) - depth - 1, where B is the bad-character
//! function. The engines differ in the bounds of that shift, which a [`ShiftRule`] gives.

use super::{Shifter, Window};
use crate::build::ReverseTrie;
use crate::cost::CostCounter;
use fyke_automata::{Direction, Trie};
use fyke_core::{Footprint, Info, Matcher, Options, PatternSet, Refusal};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Bounds of the shift that follows a walk.
pub trait ShiftRule: Send + Sync + 'static {
    /// What [`Matcher::describe`] says about the rule, after the number of states.
    const ABOUT: &'static str;

    /// Builds the rule for a set and its reversed trie.
    fn new(set: &PatternSet, trie: &Trie) -> Self;

    /// Bytes it takes to build the rule for a trie of `states` states.
    fn memory_for(states: u64) -> u64;

    /// Bytes of its tables.
    fn memory(&self) -> u64;

    /// Bytes of its tables that belong to states.
    fn node_bytes(&self) -> u64;

    /// The smallest and the largest shift after a walk that stopped in `state`, where the window
    /// ends with the byte `last`. The smallest is at least 1.
    fn bounds(&self, state: u32, last: u8) -> RangeInclusive<usize>;

    /// Figures for [`Matcher::stats`].
    fn stats(&self) -> Vec<(String, u64)>;
}

/// The reversed trie of a set and a rule for its shifts.
pub struct ReverseWindow<R> {
    info: &'static Info,
    trie: ReverseTrie,
    rule: R,
}

impl<R: ShiftRule> ReverseWindow<R> {
    /// Compiles a set for an engine without options.
    ///
    /// # Errors
    /// Options were given, or compiling would take more memory than the limit.
    pub fn compile(
        info: &'static Info,
        set: &PatternSet,
        opt: &Options,
    ) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        opt.check_memory(Self::memory_for(set))?;
        Ok(Shifter::matcher(set, Self::new(info, set)?))
    }

    /// Bytes of memory it takes to compile a set, without compiling it.
    pub fn memory_for(set: &PatternSet) -> u64 {
        let states = Trie::count_states_of(set, Direction::Backward);
        ReverseTrie::memory_for(states, set)
            + R::memory_for(states)
            + Shifter::<Self>::memory_for(set)
    }

    /// Builds the window of a set.
    ///
    /// # Errors
    /// The reversed trie has too many states or patterns.
    pub fn new(info: &'static Info, set: &PatternSet) -> Result<Self, Refusal> {
        let trie = Trie::read(set, Direction::Backward)?;
        let rule = R::new(set, &trie);
        Ok(ReverseWindow { info, trie: ReverseTrie::new(set, &trie)?, rule })
    }
}

impl<R: ShiftRule> Window for ReverseWindow<R> {
    fn info(&self) -> &'static Info {
        self.info
    }

    #[inline(always)]
    fn skip<C: CostCounter>(&self, bytes: &[u8], end: usize, counter: &mut C) -> usize {
        self.trie.skip(bytes, end, counter)
    }

    #[inline(always)]
    fn verify<C: CostCounter>(
        &self,
        text: &[u8],
        counter: &mut C,
        report: impl FnMut(u32),
    ) -> usize {
        let Some(&last) = text.last() else { return 1 };
        let walk = self.trie.descend(text, counter);
        self.trie.outputs(walk.state, report);
        let bad = walk.mismatch.map_or(0, |byte| self.trie.bad_character(byte));
        let bounds = self.rule.bounds(walk.state, last);
        bad.saturating_sub(walk.depth + 1).max(*bounds.start()).min(*bounds.end())
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.trie.memory() + self.rule.memory(), device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let node_bytes = self.trie.node_bytes() + self.rule.node_bytes();
        let mut stats = vec![
            ("states".to_owned(), self.trie.len() as u64),
            ("node bytes".to_owned(), node_bytes),
        ];
        stats.extend(self.rule.stats());
        stats
    }

    fn describe(&self) -> String {
        let (states, bytes) = (self.trie.len(), self.footprint().host);
        format!("reversed trie of {states} states{}, {bytes} bytes", R::ABOUT)
    }
}
