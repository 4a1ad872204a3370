//! Turns any automaton that reads one byte at a time into a matcher.
//!
//! An engine brings an [`Automaton`], which is a layout of states, and a [`Step`] from one state
//! to the next. [`Walker`] does what all of them share: it enters a block, walks over it, reports
//! matches and leaves its state for the block that follows.

use crate::Trie;
use crate::count::Uncounted;
use fyke_core::{
    Block, Count, Emitter, Footprint, Info, Matcher, MatcherId, PatternSet, Scratch, Sink,
};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A layout of the states of a pattern set.
pub trait Automaton: Send + Sync + 'static {
    /// The engine that compiled it.
    fn info(&self) -> &'static Info;

    /// The state before any byte was read.
    fn root(&self) -> u64;

    /// Whether a pattern ends in a state or in a suffix of it.
    fn is_output(&self, state: u64) -> bool;

    /// Calls `each` with the dense indices of the patterns that end in a state and in its
    /// suffixes, longest first.
    fn outputs(&self, state: u64, each: impl FnMut(u32));

    /// The memory it takes.
    fn footprint(&self) -> Footprint;

    /// See [`Matcher::stats`].
    fn stats(&self) -> Vec<(String, u64)>;

    /// See [`Matcher::describe`].
    fn describe(&self) -> String;
}

/// The transition function of an automaton. It reports its steps to a counter of type `C`.
///
/// If the set has patterns that ignore case, `step` must read every byte through
/// [`CaseFold::byte`](crate::CaseFold::byte) of [`CaseFold::of`](crate::CaseFold::of) the set. The
/// [`Walker`] confirms the case-sensitive patterns of such a set.
pub trait Step<C>: Automaton {
    /// The state after a byte. The byte is as it stands in the haystack, not folded.
    fn step(&self, state: u64, byte: u8, counter: &mut C) -> u64;
}

/// A matcher that walks an automaton.
#[derive(Debug)]
pub struct Walker<A> {
    owner: MatcherId,
    set: PatternSet,
    /// See [`Trie::must_confirm`].
    confirm: Vec<bool>,
    automaton: A,
}

impl<A: Step<Uncounted>> Walker<A> {
    /// A matcher for the set that the automaton was built from.
    pub fn matcher(set: &PatternSet, automaton: A) -> Arc<dyn Matcher> {
        let confirm = Trie::must_confirm(set);
        Arc::new(Walker { owner: MatcherId::new(), set: set.clone(), confirm, automaton })
    }

    /// Scans a block and counts the steps of the scan.
    pub fn count_into<C>(&self, block: Block<'_>, counter: &mut C)
    where
        A: Step<C>,
    {
        let flow = self.walk(block, &mut Scratch::new(), &mut Count::default(), counter);
        debug_assert!(flow.is_continue(), "a count never stops");
    }

    /// The state where the owned bytes begin: left by the block before, or found by walking the
    /// overlap.
    fn enter(&self, block: &Block<'_>, scratch: &Scratch) -> u64 {
        let step = |s, &b: &u8| self.automaton.step(s, b, &mut Uncounted);
        let overlap = || block.bytes[..block.overlap].iter().fold(self.automaton.root(), step);
        scratch.resume(self.owner, block).unwrap_or_else(overlap)
    }

    fn walk<C>(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
        counter: &mut C,
    ) -> ControlFlow<()>
    where
        A: Step<C>,
    {
        let mut state = self.enter(&block, scratch);
        let bytes = block.bytes;
        let mut out = Emitter::new(&self.set, sink, scratch.records(), block.offset, true);
        let mut base = 0;
        for (i, &byte) in (block.overlap..).zip(&bytes[block.overlap..]) {
            state = self.automaton.step(state, byte, counter);
            if self.automaton.is_output(state) {
                let end = i + 1;
                if end - base > u32::MAX as usize {
                    base = end;
                    out.rebase(block.offset + base as u64)?;
                }
                self.report(state, &bytes[..end], (end - base) as u32, &mut out);
                out.flush_if_full()?;
            }
        }
        out.flush()?;
        scratch.leave(self.owner, block.offset + bytes.len() as u64, state);
        ControlFlow::Continue(())
    }

    fn report(&self, state: u64, bytes: &[u8], end: u32, out: &mut Emitter<'_>) {
        self.automaton.outputs(state, |pattern| {
            let is_sure = !self.confirm.get(pattern as usize).copied().unwrap_or(false);
            if is_sure || bytes.ends_with(self.set.bytes(pattern)) {
                out.push(end, pattern);
            }
        });
    }
}

impl<A: Step<Uncounted>> Matcher for Walker<A> {
    fn info(&self) -> &'static Info {
        self.automaton.info()
    }

    fn set(&self) -> &PatternSet {
        &self.set
    }

    fn scan(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        self.walk(block, scratch, sink, &mut Uncounted)
    }

    fn footprint(&self) -> Footprint {
        let automaton = self.automaton.footprint();
        Footprint { host: automaton.host + self.confirm.len() as u64, ..automaton }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        self.automaton.stats()
    }

    fn describe(&self) -> String {
        self.automaton.describe()
    }
}
