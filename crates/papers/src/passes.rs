//! Makes a matcher for a set out of a search for one pattern: one pass per pattern.
//!
//! An engine brings a [`Search`], which is the table of one pattern and the loop that uses it.
//! Each pattern has its own search, so no match needs to be confirmed: the haystack is read
//! through [`Lower`] for patterns that ignore case and through [`Exact`] for the others.
//!
//! The papers search the whole text for one pattern after the other. Here the text is cut into
//! pieces that stay in the cache, and every pattern is searched for in one piece before the next,
//! so the haystack is read from memory once instead of once per pattern. The steps are the same,
//! except that a search reaches `len - 1` bytes back before each piece (Bellekens et al. 2013,
//! III; Jaiswal 2014, eq. 1). The work still grows in proportion to the number of patterns.
//!
//! Matches come pattern by pattern, so they are unordered.

use crate::cost::{Cost, CostCounter, Counted};
use fyke_automata::count::Uncounted;
use fyke_core::{
    Block, Emitter, Footprint, Info, Matcher, Options, Pattern, PatternSet, Refusal, Scratch, Sink,
};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// The maximum number of bytes of a piece. It fits the L2 cache beside the table of a pattern, and
/// is long enough that loading the tables of all patterns for each piece is a small part of the
/// work. It equals [`SEGMENT`](fyke_cpu::parallel::SEGMENT). `bm` is as fast with 64 KiB and 1 MiB
/// (`words/100`, `words/1000`).
pub const PIECE: usize = 256 << 10;

/// How a search reads a byte of the haystack.
pub trait Read: Copy {
    /// The byte to compare with a byte of the pattern.
    fn byte(self, byte: u8) -> u8;
}

/// Reads bytes unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Exact;

/// Reads bytes in ASCII lower case.
#[derive(Clone, Copy, Debug)]
pub struct Lower;

impl Read for Exact {
    #[inline(always)]
    fn byte(self, byte: u8) -> u8 {
        byte
    }
}

impl Read for Lower {
    #[inline(always)]
    fn byte(self, byte: u8) -> u8 {
        byte.to_ascii_lowercase()
    }
}

/// A pattern and the text to search for it.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a, R> {
    /// The pattern, in the form that `read` gives.
    pub pattern: &'a [u8],
    /// The text. It may be shorter than the pattern.
    pub text: &'a [u8],
    /// How to read the bytes of the text.
    pub read: R,
}

impl<R: Read> Task<'_, R> {
    /// The byte of the text at a position, read through `read`.
    #[inline(always)]
    pub fn byte(&self, at: usize) -> u8 {
        self.read.byte(self.text[at])
    }
}

/// The compiled form of one pattern, and its search.
pub trait Search: Send + Sync + Sized + 'static {
    /// Compiles a pattern of 1 to [`MAX_LEN`](fyke_core::pattern::MAX_LEN) bytes.
    fn new(pattern: &[u8]) -> Self;

    /// Bytes of the table of a pattern of `len` bytes, without `Self`.
    fn table_bytes(len: usize) -> u64;

    /// Calls `found` with the end of each occurrence in the text, including overlapping ones.
    fn find<R: Read, C: CostCounter>(
        &self,
        task: Task<'_, R>,
        counter: &mut C,
        found: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()>;
}

/// Part `index` of `parts` equal parts of `bytes` bytes. The last parts may be short or empty.
pub fn part(bytes: usize, parts: usize, index: usize) -> Range<usize> {
    let share = bytes.div_ceil(parts);
    bytes.min(index * share)..bytes.min((index + 1) * share)
}

/// The bytes that a search for a pattern of `len` bytes reads to find the occurrences that end in
/// a part: up to `len - 1` bytes more.
pub fn reach(part: Range<usize>, len: usize) -> Range<usize> {
    part.start.saturating_sub(len - 1)..part.end
}

/// The base that 32-bit ends up to `last` count from: `base` if they fit, else `next`.
pub(crate) fn base_for(base: usize, next: usize, last: usize) -> usize {
    if last - base > u32::MAX as usize { next } else { base }
}

/// A matcher made of one search per pattern.
#[derive(Debug)]
pub struct Passes<S> {
    info: &'static Info,
    set: PatternSet,
    searches: Vec<S>,
}

impl<S: Search> Passes<S> {
    /// Compiles a set for an engine without options.
    ///
    /// # Errors
    /// Options were given, or the tables exceed the memory limit.
    pub fn compile(
        info: &'static Info,
        set: &PatternSet,
        opt: &Options,
    ) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        opt.check_memory(Self::memory_for(set))?;
        let searches = set.iter().map(|p| S::new(p.bytes)).collect();
        Ok(Arc::new(Passes { info, set: set.clone(), searches }))
    }

    /// Bytes of memory that the searches of a set take, computed without building them.
    pub fn memory_for(set: &PatternSet) -> u64 {
        Self::table_bytes(set) + (set.len() * size_of::<S>()) as u64
    }

    fn table_bytes(set: &PatternSet) -> u64 {
        set.iter().map(|p| S::table_bytes(p.bytes.len())).sum()
    }

    fn run<C: CostCounter>(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
        counter: &mut C,
    ) -> ControlFlow<()> {
        let owned = block.owned().len();
        let parts = owned.div_ceil(PIECE);
        let mut out = Emitter::new(&self.set, sink, scratch.records(), block.offset, false);
        let mut base = 0;
        for index in 0..parts {
            let piece = part(owned, parts, index);
            let piece = block.overlap + piece.start..block.overlap + piece.end;
            base = base_for(base, piece.start, piece.end);
            out.rebase(block.offset + base as u64)?;
            for p in self.set.iter() {
                self.pass(p, block.bytes, piece.clone(), base, &mut out, counter)?;
            }
        }
        out.flush()
    }

    /// Finds the occurrences of one pattern that end in a piece.
    fn pass<C: CostCounter>(
        &self,
        p: Pattern<'_>,
        bytes: &[u8],
        piece: Range<usize>,
        base: usize,
        out: &mut Emitter<'_>,
        counter: &mut C,
    ) -> ControlFlow<()> {
        let range = reach(piece, p.bytes.len());
        let (start, pattern, text) = (range.start, p.bytes, &bytes[range]);
        let mut found = |end: usize| {
            out.push((start + end - base) as u32, p.index);
            out.flush_if_full()
        };
        let search = &self.searches[p.index as usize];
        if p.nocase {
            search.find(Task { pattern, text, read: Lower }, counter, &mut found)
        } else {
            search.find(Task { pattern, text, read: Exact }, counter, &mut found)
        }
    }
}

impl<S: Search> Counted for Passes<S> {
    fn count(&self, block: Block<'_>) -> Cost {
        Cost::of_scan(|scratch, sink, cost| self.run(block, scratch, sink, cost))
    }
}

impl<S: Search> Matcher for Passes<S> {
    fn info(&self) -> &'static Info {
        self.info
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
        self.run(block, scratch, sink, &mut Uncounted)
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: Self::memory_for(&self.set), device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let tables = Self::table_bytes(&self.set);
        vec![("patterns".to_owned(), self.set.len() as u64), ("table bytes".to_owned(), tables)]
    }

    fn describe(&self) -> String {
        let tables = Self::table_bytes(&self.set);
        format!("{} patterns, one pass each, {tables} bytes of tables", self.set.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::CostOf;
    use crate::cpu::{bm, ebm, kmp};
    use fyke_core::{Collect, Engine, Exists, PatternId, oracle};
    use fyke_cpu::engine::ac_nfa;

    const ENGINES: [&dyn Engine; 3] = [&bm::ENGINE, &ebm::ENGINE, &kmp::ENGINE];

    fn compile(engine: &dyn Engine, set: &PatternSet) -> Arc<dyn Matcher> {
        engine.compile(set, &Options::default()).unwrap()
    }

    /// Pseudo-random letters of the first `alphabet`.
    fn letters(alphabet: u8, len: usize) -> Vec<u8> {
        let mut x = 88_172_645_463_325_252_u64;
        let next = |_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            b'a' + (x >> 33) as u8 % alphabet
        };
        (0..len).map(next).collect()
    }

    #[test]
    fn pieces_find_every_match_once() {
        let text = letters(2, 2 * PIECE + 100);
        let mut b = PatternSet::builder();
        for (id, at, len) in [(1, 2 * PIECE - 9, 40), (2, 7, PIECE / 8), (3, 50, 12), (4, 0, 1)] {
            b.push_with(PatternId(id), &text[at..at + len], id % 2 == 0).unwrap();
        }
        b.push_with(PatternId(5), "ABAB", true).unwrap();
        let set = b.build();
        let block = Block { bytes: &text, overlap: set.overlap() / 2, offset: 1 << 40 };
        let mut expected = Collect::default();
        let scan = |m: Arc<dyn Matcher>, to: &mut Collect| m.scan(block, &mut Scratch::new(), to);
        assert!(scan(compile(&ac_nfa::ENGINE, &set), &mut expected).is_continue());
        assert!(expected.matches.len() > PIECE);
        for engine in ENGINES {
            let mut got = Collect::default();
            assert!(scan(compile(engine, &set), &mut got).is_continue());
            assert!(got.sorted() == expected.matches, "{}", engine.info().name);
        }
    }

    #[test]
    fn the_longest_patterns_are_found_in_a_text_that_repeats_itself() {
        let long = [b'a'; 65_535];
        let set = PatternSet::new([&long[..], b"a", &long[1..]]).unwrap();
        let text = [&long[..], b"a", b"b", &long[..]].concat();
        for engine in ENGINES {
            let mut got = Collect::default();
            let m = compile(engine, &set);
            assert!(m.scan(Block::whole(&text), &mut Scratch::new(), &mut got).is_continue());
            assert!(got.sorted() == oracle::find_all(&set, &text), "{}", engine.info().name);
        }
    }

    #[test]
    fn a_sink_that_stops_ends_the_passes() {
        let set = PatternSet::new(["a", "b"]).unwrap();
        for engine in ENGINES {
            let mut found = Exists::default();
            let text = vec![b'a'; 4 * PIECE];
            let flow =
                compile(engine, &set).scan(Block::whole(&text), &mut Scratch::new(), &mut found);
            assert!(flow.is_break() && found.found);
        }
    }

    /// The work grows with the number of patterns. That of an automaton does not.
    #[test]
    fn comparisons_grow_in_proportion_to_the_patterns() {
        let text = letters(26, 100_000);
        let cost = |engine: &dyn Engine, count: usize| {
            let set = PatternSet::new(letters(26, 8 * count).chunks(8)).unwrap();
            assert_eq!(set.len(), count);
            compile(engine, &set).cost(Block::whole(&text)).unwrap()
        };
        for engine in ENGINES {
            let per_pattern =
                [10, 100, 1000].map(|n| cost(engine, n).comparisons as f64 / n as f64);
            let spread = per_pattern.map(|c| c / per_pattern[0]);
            assert!(
                spread.iter().all(|r| (0.9..1.1).contains(r)),
                "{}: {per_pattern:?}",
                engine.info().name
            );
        }
        assert!(cost(&ac_nfa::ENGINE, 1000).transitions <= 2 * text.len() as u64);
    }

    #[test]
    fn the_memory_limit_is_checked_before_compiling() {
        let set = PatternSet::new(["abcdefgh", "x"]).unwrap();
        for engine in ENGINES {
            let need = compile(engine, &set).footprint().host;
            let limited = |limit| engine.compile(&set, &Options::default().limited_to(limit));
            assert!(matches!(limited(need - 1), Err(Refusal::TooBig { need: n, .. }) if n == need));
            assert!(limited(need).is_ok());
        }
        let stats = compile(&bm::ENGINE, &set).stats();
        assert_eq!(stats, [("patterns".to_owned(), 2), ("table bytes".to_owned(), 1024)]);
        assert_eq!(compile(&kmp::ENGINE, &set).stats()[1].1, 18);
    }

    #[test]
    fn the_base_moves_once_32_bits_are_full() {
        let full = u32::MAX as usize;
        assert_eq!(base_for(0, full - 5, full), 0);
        assert_eq!(base_for(0, full - 5, full + 1), full - 5);
        assert_eq!(base_for(full - 5, full + 1, 2 * full - 5), full - 5);
    }

    #[test]
    fn parts_cover_all_bytes_and_reach_back() {
        assert_eq!((0..3).map(|k| part(10, 3, k)).collect::<Vec<_>>(), [0..4, 4..8, 8..10]);
        assert_eq!((0..4).map(|k| part(5, 4, k)).collect::<Vec<_>>(), [0..2, 2..4, 4..5, 5..5]);
        assert_eq!((reach(4..8, 3), reach(1..8, 3), reach(4..8, 1)), (2..8, 0..8, 4..8));
    }
}
