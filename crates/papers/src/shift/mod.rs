//! Makes a matcher of a window that skips bytes: the engines of the Boyer-Moore family.
//!
//! A window as long as the shortest pattern lies over the haystack, and the **last** byte of every
//! pattern is aligned with its last byte. An engine brings a [`Window`], which knows two things:
//! how far the window may move without skipping the end of a match, and which patterns end where
//! it stands. [`Shifter`] places the first window of a block, moves it, and reports.
//!
//! Matches are found in canonical order, because patterns are aligned by their ends. A block needs
//! no state from the block before it, because the overlap holds every byte that a window reads to
//! its left.

pub mod reverse;
#[cfg(test)]
pub(crate) mod tests;

use crate::cost::{Cost, CostCounter, Counted};
use fyke_automata::Trie;
use fyke_automata::count::Uncounted;
use fyke_core::{Block, Emitter, Footprint, Info, Matcher, PatternSet, Scratch, Sink};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The largest end that a record holds, counted from the base of its batch.
const MAX_END: usize = u32::MAX as usize;

/// How a pattern set moves its window.
///
/// If the set has patterns that ignore case, the window must read every byte through
/// [`CaseFold::byte`](fyke_automata::CaseFold::byte) of
/// [`CaseFold::of`](fyke_automata::CaseFold::of) the set. The [`Shifter`] confirms the
/// case-sensitive patterns of such a set.
pub trait Window: Send + Sync + 'static {
    /// The engine that compiled it.
    fn info(&self) -> &'static Info;

    /// Moves a window that ends before `bytes[end]` to the next place where a pattern may end, by
    /// the window's last bytes. Returns `end` itself if a pattern may end there, and more than
    /// `bytes.len()` if there is no such place.
    fn skip<C: CostCounter>(&self, bytes: &[u8], end: usize, counter: &mut C) -> usize;

    /// Reports the patterns that end at the end of `text`, where a skip has stopped. `report` gets
    /// dense indices, longest pattern first and in order within a length. Returns how far the
    /// window may move, at least 1.
    fn verify<C: CostCounter>(
        &self,
        text: &[u8],
        counter: &mut C,
        report: impl FnMut(u32),
    ) -> usize;

    /// The memory it takes.
    fn footprint(&self) -> Footprint;

    /// See [`Matcher::stats`].
    fn stats(&self) -> Vec<(String, u64)>;

    /// See [`Matcher::describe`].
    fn describe(&self) -> String;
}

/// A matcher made of a window.
#[derive(Debug)]
pub struct Shifter<W> {
    set: PatternSet,
    /// See [`Trie::must_confirm`].
    confirm: Vec<bool>,
    window: W,
}

impl<W: Window> Shifter<W> {
    /// A matcher for the set that the window was built for.
    pub fn matcher(set: &PatternSet, window: W) -> Arc<dyn Matcher> {
        Arc::new(Self::new(set, window))
    }

    fn new(set: &PatternSet, window: W) -> Self {
        Shifter { set: set.clone(), confirm: Trie::must_confirm(set), window }
    }

    /// Bytes that a matcher takes beside its window.
    pub fn memory_for(set: &PatternSet) -> u64 {
        Trie::must_confirm(set).len() as u64
    }

    /// The first end that a block owns and that a pattern can have.
    fn first_end(&self, block: &Block<'_>) -> usize {
        self.set.min_len().max(block.overlap + 1)
    }

    /// Slides over a block. A record's end is at most `max_end`, counted from a base that moves.
    fn slide<C: CostCounter>(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
        counter: &mut C,
        max_end: usize,
    ) -> ControlFlow<()> {
        if self.set.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut out = Emitter::new(&self.set, sink, scratch.records(), block.offset, true);
        let (mut base, mut end) = (0, self.first_end(&block));
        while end <= block.bytes.len() {
            if end - base > max_end {
                base = end;
                out.rebase(block.offset + base as u64)?;
            }
            let last = block.bytes.len().min(base.saturating_add(max_end));
            end = self.slide_from(&block.bytes[..last], base, end, &mut out, counter)?;
        }
        out.flush()
    }

    /// Moves the window from `end` until it ends past the bytes, and returns that end.
    #[inline(always)]
    fn slide_from<C: CostCounter>(
        &self,
        bytes: &[u8],
        base: usize,
        mut end: usize,
        out: &mut Emitter<'_>,
        counter: &mut C,
    ) -> ControlFlow<(), usize> {
        loop {
            end = self.window.skip(bytes, end, counter);
            let Some(text) = bytes.get(..end) else { return ControlFlow::Continue(end) };
            let report = |pattern| self.report(pattern, text, (end - base) as u32, out);
            let shift = self.window.verify(text, counter, report);
            debug_assert!(shift > 0, "the window must move");
            out.flush_if_full()?;
            end += shift;
        }
    }

    #[inline]
    fn report(&self, pattern: u32, text: &[u8], end: u32, out: &mut Emitter<'_>) {
        let is_sure = !self.confirm.get(pattern as usize).copied().unwrap_or(false);
        if is_sure || text.ends_with(self.set.bytes(pattern)) {
            out.push(end, pattern);
        }
    }
}

impl<W: Window> Counted for Shifter<W> {
    fn count(&self, block: Block<'_>) -> Cost {
        Cost::of_scan(|scratch, sink, cost| self.slide(block, scratch, sink, cost, MAX_END))
    }
}

impl<W: Window> Matcher for Shifter<W> {
    fn info(&self) -> &'static Info {
        self.window.info()
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
        self.slide(block, scratch, sink, &mut Uncounted, MAX_END)
    }

    fn footprint(&self) -> Footprint {
        let window = self.window.footprint();
        Footprint { host: window.host + self.confirm.len() as u64, ..window }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        self.window.stats()
    }

    fn describe(&self) -> String {
        self.window.describe()
    }
}
