//! Windows that leap: what is the same for all engines of the Boyer-Moore kind.
//!
//! A window as long as the shortest pattern lies over the haystack, and all patterns are aligned with its
//! **last** byte. An engine brings a [`Window`]: what the bytes in it say about how far it may move without
//! leaping over the end of a match, and which patterns end where it stands. [`Shifter`] makes a matcher of
//! it: places the first window of a block so that it owns what it finds, moves it, and reports.
//!
//! Aligned by their ends, matches are found in canonical order, and a block needs no state from the one
//! before: what a window reads to its left is in the overlap.

use crate::cost::{Cost, Counted};
use fyke_automata::Trie;
use fyke_automata::count::{Counter, Uncounted};
use fyke_core::{Block, Count, Emitter, Footprint, Info, Matcher, PatternSet, Scratch, Sink};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The largest end that a record can hold, counted from the base of its batch.
const REACH: usize = u32::MAX as usize;

/// How a pattern set moves its window.
///
/// If the set has patterns that ignore case, every byte is to be read through
/// [`CaseFold::byte`](fyke_automata::CaseFold::byte) of [`CaseFold::of`](fyke_automata::CaseFold::of) the set; what minds
/// case is confirmed by the [`Shifter`].
pub trait Window: Send + Sync + 'static {
    /// The engine that compiled it.
    fn info(&self) -> &'static Info;

    /// Moves a window that ends before `bytes[end]` to the next place where its last bytes may end a
    /// pattern, `end` itself if they may there. More than `bytes.len()` if there is no such place.
    fn skip<C: Counter>(&self, bytes: &[u8], end: usize, counter: &mut C) -> usize;

    /// Gives `report` the patterns that end at the end of `text`, where a skip has stopped, by dense
    /// index: longest first, those of a length in order. Returns how far the window may move on: 1 or more.
    fn verify<C: Counter>(&self, text: &[u8], counter: &mut C, report: impl FnMut(u32)) -> usize;

    /// What it holds in memory.
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
    /// A matcher for the set that the window was made for.
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

    /// Slides over a block, in stretches that records can count from one base: `reach` bytes, or fewer.
    fn slide<C: Counter>(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
        counter: &mut C,
        reach: usize,
    ) -> ControlFlow<()> {
        if self.set.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut out = Emitter::new(&self.set, sink, scratch.records(), block.offset, true);
        let (mut base, mut end) = (0, self.first_end(&block));
        while end <= block.bytes.len() {
            if end - base > reach {
                base = end;
                out.rebase(block.offset + base as u64)?;
            }
            let last = block.bytes.len().min(base.saturating_add(reach));
            end = self.stretch(&block.bytes[..last], base, end, &mut out, counter)?;
        }
        out.flush()
    }

    /// Moves the window from `end` on until it ends past the bytes. Returns where it ends then.
    #[inline(always)]
    fn stretch<C: Counter>(
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
            debug_assert!(shift > 0, "a window that stays never ends");
            out.flush_if_full()?;
            end += shift;
        }
    }

    #[inline]
    fn report(&self, pattern: u32, text: &[u8], end: u32, out: &mut Emitter<'_>) {
        let sure = !self.confirm.get(pattern as usize).copied().unwrap_or(false);
        if sure || text.ends_with(self.set.bytes(pattern)) {
            out.push(end, pattern);
        }
    }
}

impl<W: Window> Counted for Shifter<W> {
    fn count(&self, block: Block<'_>) -> Cost {
        let mut cost = Cost::default();
        let mut scratch = Scratch::new();
        let flow = self.slide(block, &mut scratch, &mut Count::default(), &mut cost, REACH);
        debug_assert!(flow.is_continue(), "a count never stops");
        cost
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
        self.slide(block, scratch, sink, &mut Uncounted, REACH)
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

#[cfg(test)]
pub(crate) mod tests {
    //! What every engine of this kind has to show; each calls these from its own tests.

    use super::*;
    use crate::cost::CostOf;
    use crate::cpu::bm_set;
    use fyke_core::{Collect, Engine, Options, oracle};

    /// Records cannot reach 4 GiB in a test; with a shorter reach the same code rebases.
    #[test]
    fn ends_are_counted_from_a_new_base_beyond_the_reach() {
        let set = PatternSet::new(["ab", "b", "bcab"]).unwrap();
        let shifter = Shifter::new(&set, bm_set::Setwise::new(&set).unwrap());
        let bytes = b"abcab".repeat(20);
        for (reach, overlap) in [(1, 0), (2, 3), (7, 0), (99, 3), (100, 0)] {
            let block = Block { bytes: &bytes, overlap, offset: 5 };
            let mut got = Collect::default();
            let flow = shifter.slide(block, &mut Scratch::new(), &mut got, &mut Uncounted, reach);
            assert!(flow.is_continue());
            assert_eq!(got.matches, oracle::find_owned(&set, block), "reach {reach}");
        }
    }

    fn check(engine: &dyn Engine, set: &PatternSet, haystack: &[u8], options: &str) {
        let options = Options::with_params(options).unwrap();
        let matcher = engine.compile(set, &options).unwrap();
        for block in [
            Block::whole(haystack),
            Block { bytes: haystack, overlap: haystack.len().min(set.overlap()), offset: 7 },
        ] {
            let mut got = Collect::default();
            assert!(matcher.scan(block, &mut Scratch::new(), &mut got).is_continue());
            assert!(got.matches == oracle::find_owned(set, block), "{set:?} {options:?}");
        }
    }

    /// Equal bytes, periods, patterns that are suffixes of others, a haystack that is one pattern, one byte.
    pub(crate) fn equals_the_oracle_on_hostile_input(engine: &dyn Engine) {
        let long = [b"ab".repeat(32_767), b"c".to_vec()].concat();
        let deep: Vec<Vec<u8>> =
            (1..40).map(|n| [b"ba".repeat(n), vec![b'a'; n]].concat()).collect();
        let sets = [
            PatternSet::new([vec![b'a'; 300], vec![b'a'; 7], b"baaaaaa".to_vec()]).unwrap(),
            PatternSet::new(["abab", "babab", "ababc", "abac", "bcab"]).unwrap(),
            PatternSet::new(["cac", "acbacc", "cba", "bbaca", "cbaca"]).unwrap(),
            PatternSet::new(deep).unwrap(),
            PatternSet::new([long.as_slice(), b"bac", b"abcab"]).unwrap(),
        ];
        let haystacks = [
            vec![b'a'; 700],
            b"ab".repeat(400),
            b"cbacacbaccbbacacac".repeat(30),
            b"bababaaaabbabaababaaa".repeat(20),
            [b"ab".as_slice(), &long, b"abcab"].concat(),
        ];
        for variant in engine.info().variants {
            for set in &sets {
                haystacks.iter().for_each(|haystack| check(engine, set, haystack, variant));
            }
        }
    }

    /// Patterns of one byte: the window is one byte long, and moves by one.
    pub(crate) fn takes_patterns_of_one_byte(engine: &dyn Engine) {
        let all: Vec<Vec<u8>> = (0..=255).map(|b| vec![b]).collect();
        for set in [PatternSet::new(&all).unwrap(), PatternSet::new(["a", "ba", "cba"]).unwrap()] {
            check(engine, &set, b"cbabacaa\xff\0cba", "");
            check(engine, &set, b"", "");
        }
    }

    /// Ten random patterns of eight bytes over random bytes without a match: a look at fewer than a third
    /// of the bytes, comparisons included.
    pub(crate) fn most_bytes_are_never_looked_at(engine: &dyn Engine) {
        let mut seed = 1_u64;
        let mut random = |count: usize| -> Vec<u8> {
            let mut next = || {
                seed = seed
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (seed >> 56) as u8
            };
            (0..count).map(|_| next()).collect()
        };
        let set = PatternSet::new((0..10).map(|_| random(8))).unwrap();
        let haystack = random(100_000);
        for variant in engine.info().variants {
            let matcher = engine.compile(&set, &Options::with_params(variant).unwrap()).unwrap();
            let cost = matcher.cost(Block::whole(&haystack)).unwrap();
            assert!((12_500..33_333).contains(&cost.comparisons), "{variant}: {cost:?}");
        }
    }

    pub(crate) fn the_memory_limit_is_checked_before_building(
        engine: &dyn Engine,
        memory_for: impl Fn(&PatternSet) -> u64,
    ) {
        let mut builder = PatternSet::builder();
        for (bytes, nocase) in [("abcdefgh", false), ("fgh", true), ("Gh1", false)] {
            builder.push_with(fyke_core::PatternId(0), bytes, nocase).unwrap();
        }
        let set = builder.build();
        let need = memory_for(&set);
        let compile = |limit| engine.compile(&set, &Options::default().limited_to(limit));
        let refusal = compile(need - 1).err().unwrap();
        assert!(matches!(refusal, fyke_core::Refusal::TooBig { need: n, .. } if n == need));
        assert!(compile(need).unwrap().footprint().host <= need);
    }
}
