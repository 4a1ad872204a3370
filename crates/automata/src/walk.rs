//! Automata that are walked a byte at a time, one walk after the other: what is the same for all of them.
//!
//! An engine brings an [`Automaton`], its own layout of states and its step. [`Walker`] makes a matcher of
//! it: enters a block, walks, reports, and leaves its state for the next block.

use crate::Trie;
use crate::count::{Counter, Uncounted};
use fyke_core::{
    Block, Count, Emitter, Footprint, Info, Matcher, MatcherId, PatternSet, Scratch, Sink,
};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A layout of the states of a pattern set and the step from one to the next.
///
/// If the set has patterns that ignore case, `step` has to read every byte through [`CaseFold::byte`](crate::CaseFold::byte) of
/// [`CaseFold::of`](crate::CaseFold::of) the set; what minds case is confirmed by the [`Walker`].
pub trait Automaton: Send + Sync + 'static {
    /// The engine that compiled it.
    fn info(&self) -> &'static Info;

    /// The state without a byte read.
    fn root(&self) -> u64;

    /// The state after a byte, which was not folded.
    fn step<C: Counter>(&self, state: u64, byte: u8, counter: &mut C) -> u64;

    /// Whether a pattern ends in a state or in a suffix of it.
    fn is_output(&self, state: u64) -> bool;

    /// Calls `each` with the patterns that end in a state and its suffixes, longest first, by dense index.
    fn outputs(&self, state: u64, each: impl FnMut(u32));

    /// What it holds in memory.
    fn footprint(&self) -> Footprint;

    /// See [`Matcher::stats`].
    fn stats(&self) -> Vec<(String, u64)>;

    /// See [`Matcher::describe`].
    fn describe(&self) -> String;
}

/// A matcher made of an automaton.
#[derive(Debug)]
pub struct Walker<A> {
    owner: MatcherId,
    set: PatternSet,
    /// See [`Trie::must_confirm`].
    confirm: Vec<bool>,
    automaton: A,
}

impl<A: Automaton> Walker<A> {
    /// A matcher for the set that the automaton was built from.
    pub fn matcher(set: &PatternSet, automaton: A) -> Arc<dyn Matcher> {
        let confirm = Trie::must_confirm(set);
        Arc::new(Walker { owner: MatcherId::new(), set: set.clone(), confirm, automaton })
    }

    /// Scans a block and counts what that takes.
    pub fn count_into<C: Counter>(&self, block: Block<'_>, counter: &mut C) {
        let flow = self.walk(block, &mut Scratch::new(), &mut Count::default(), counter);
        debug_assert!(flow.is_continue(), "a count never stops");
    }

    /// The state where the owned bytes begin: left by the block before, or found by walking the overlap.
    fn enter(&self, block: &Block<'_>, scratch: &Scratch) -> u64 {
        let step = |s, &b: &u8| self.automaton.step(s, b, &mut Uncounted);
        let overlap = || block.bytes[..block.overlap].iter().fold(self.automaton.root(), step);
        scratch.resume(self.owner, block).unwrap_or_else(overlap)
    }

    fn walk<C: Counter>(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
        counter: &mut C,
    ) -> ControlFlow<()> {
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
            let sure = !self.confirm.get(pattern as usize).copied().unwrap_or(false);
            if sure || bytes.ends_with(self.set.bytes(pattern)) {
                out.push(end, pattern);
            }
        });
    }
}

impl<A: Automaton> Matcher for Walker<A> {
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
