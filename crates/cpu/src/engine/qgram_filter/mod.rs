//! Q-gram filter: looks up one window of every one, two or four positions in a Bloom-like bit
//! table, and verifies the hits through cache-line buckets.
//!
//! Use it for 100 to 100,000 patterns of four bytes and more with sparse matches. It is the
//! fastest engine for `words/1000`, `words/10000` and 1,000 random strings (`alphabet`), with
//! AVX-512 or AVX2. It is slower than `teddy` on a few patterns and than `ac-simd` on dense
//! matches. It takes several nanoseconds per byte on a CPU without vector instructions.
//!
//! # Windows
//! Each pattern has one window of three to eight bytes. It is the pattern's rarest window by a
//! model of typical data, unless many other patterns share it. It is seldom the prefix, since
//! patterns of binary data often begin with frequent bytes. With a stride of s, the filter holds s
//! consecutive windows of each pattern, so that wherever the pattern occurs, one of them begins at
//! a multiple of s.
//!
//! Windows pass in one of two ways. Either each window leads to the pattern by itself, and must be
//! rare by itself. Or two windows are *joined* to a gram: each chooses its own filter word, but
//! both choose the bits in it by the gram, and the gram leads to the pattern. So with joined
//! windows of three bytes, a stride of 2 serves patterns of four bytes. *Short* patterns, of under
//! seven or eight bytes, are always joined; longer ones are joined where that is expected to cost
//! less.
//!
//! A longer stride means fewer gathers, but shorter and more frequent windows. `forecast.rs`
//! weighs the two for each set. Patterns of random bytes get a stride of 4, words and rules a
//! stride of 2, and large sets of these a stride of 1.
//!
//! # Stage 1
//! A hash of the window chooses a word of the filter and four bits in it. The window passes if
//! these bits are 0. One gather looks up sixteen positions with AVX-512, or eight with AVX2. Short
//! and long windows share the word and test bits of their own. Each chunk of the haystack with a
//! hit gets a mark, without a branch. After the tile, the marks become a list of positions.
//!
//! A gather decodes to many micro-operations, which fill the scheduler while they wait for their
//! indices. So indices are computed ahead: by one chunk with AVX-512, by half a chunk with AVX2.
//! Where gathers are slow (`simd::gather` measures that) or missing, each word is looked up by a
//! scalar load (`gathers=scalar`). The indices are stored one chunk ahead, so that the loads of a
//! chunk overlap.
//!
//! # Stage 2
//! The hash of a window that passed leads to a bucket: one cache line with fifteen entries. One
//! comparison tests the window's fingerprint against all entries. The fingerprint of a short
//! pattern covers up to three bytes after the gram, too; the length class in its entry says how
//! many. An entry that matches leads to a record: length, offset and up to 32 bytes of the
//! pattern, verified by one masked comparison. Only longer patterns are looked up in the set. No
//! step of a scan branches on whether a candidate matches: lists are written past their end, and
//! the end advances by the number of hits.
//!
//! If some pattern ignores case, bytes are folded for the filter and the buckets: bit 5 is set in
//! each byte that has bit 6. This keeps zeros apart from spaces, and digits from control
//! characters. A record's comparison folds only the letters of a pattern that ignores case.
//!
//! # Short haystacks
//! Most short haystacks have no candidate. So a haystack of up to a kilobyte is first searched for
//! one, without the lists of a tile: setting these up takes longer than the search (`size`).
//!
//! `first.rs` finds the first match, or the next few, in the same way: it searches chunk by chunk
//! and confirms the candidates of a chunk at once. The search for one match leaves the rest to a
//! scan after some kilobytes.
//!
//! # Bounds
//! More than eight patterns with the same window, and keys that do not fit in their bucket, become
//! a run of records. Each candidate that leads there walks the whole run, so no bound on the work
//! per byte holds for all sets. [`Scratch::spend`] counts the work, and the planner can switch to
//! an automaton. A search for the first match stops after as many lookups and comparisons as
//! `first_match.rs` allows, in each call anew.
//!
//! Sources: Bloom 1970; Wu and Manber 1994 (windows inside the pattern); literal search of grep
//! (the rarest window).

mod buckets;
mod build;
mod first;
mod forecast;
mod hash;
mod scan;
mod sections;
mod shape;
mod stage1;
mod stage2;
#[cfg(test)]
mod tests;

use crate::simd::Dispatch;
use crate::simd::gather::Gathers;
use build::FilterTables;
use forecast::Form;
use fyke_automata::model::PairModel;
use fyke_core::stored::{LoadedPart, StoredPart, UnsoundTables};
use fyke_core::{
    Block, Device, Draft, Engine, Family, First, FirstMatch, Footprint, Growth, Info, Match,
    Matcher, Options, PatternSet, Refusal, Scratch, Sink, check_memory,
};
use shape::WindowShape;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The registry entry.
pub static ENGINE: QgramFilter = QgramFilter;

static INFO: Info = Info {
    name: "qgram-filter",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "one q-gram of every one to four positions looked up in a bit table by gathers: many patterns of 4 bytes and more, rare matches",
    source: "Bloom 1970; Wu and Manber 1994",
    variants: &[
        "",
        "isa=scalar",
        "isa=avx2",
        "isa=neon",
        "isa=simd128",
        "stride=1",
        "isa=avx2,stride=1",
        "stride=2,joined=no",
        "isa=avx2,stride=2,joined=no",
        "stride=2,joined=yes",
        "isa=avx2,stride=2,joined=yes",
        "stride=4",
        "isa=avx2,stride=4",
        "gathers=scalar,stride=1",
        "isa=avx2,gathers=scalar,stride=1",
        "isa=avx2,gathers=scalar,stride=2,joined=yes",
        "isa=avx2,gathers=scalar,stride=4",
    ],
};

/// The q-gram filter.
#[derive(Debug)]
pub struct QgramFilter;

impl QgramFilter {
    /// Bytes of memory for the tables of a set, without building them.
    ///
    /// # Errors
    /// A pattern of the set is too short.
    pub fn memory_for(set: &PatternSet) -> Result<u64, Refusal> {
        let opt = Options::default();
        let form = Form::new(&opt)?;
        Ok(WindowShape::new(set, &opt, &PairModel::built_in(), &form)?.memory())
    }
}

impl Engine for QgramFilter {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        opt.check_params(&["isa", "gathers", "stride", "joined"])?;
        let (form, model) = (Form::new(opt)?, PairModel::of(opt));
        let shape = WindowShape::new(set, opt, &model, &form)?;
        let cost = forecast::forecast(set, &shape, &model, &form, opt.expected_call);
        let set = set.clone();
        Ok(Draft::new(cost, opt, move |limit| {
            check_memory(limit, shape.peak())?;
            let tables = FilterTables::new(&set, &model, shape);
            Ok(Arc::new(QgramFilterMatcher {
                set: set.clone(),
                tables,
                dispatch: form.isa.dispatch()?,
                gathers: form.gathers,
            }))
        }))
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        ENGINE.draft(set, opt)?.compile()
    }

    fn load(
        &self,
        set: &PatternSet,
        opt: &Options,
        part: &LoadedPart,
    ) -> Result<Option<Arc<dyn Matcher>>, UnsoundTables> {
        sections::load(set, opt, part)
    }
}

/// A compiled set.
struct QgramFilterMatcher {
    set: PatternSet,
    tables: FilterTables,
    dispatch: Dispatch,
    /// How stage 1 looks up filter words, unless in the scalar form.
    gathers: Gathers,
}

impl Matcher for QgramFilterMatcher {
    fn info(&self) -> &'static Info {
        &INFO
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
        self.scan_tiles(block, scratch, sink)
    }

    fn first_candidate(&self, haystack: &[u8]) -> usize {
        self.find_candidate(haystack)
    }

    fn find_first(&self, haystack: &[u8], first: First) -> FirstMatch {
        self.find_directly(haystack, first)
    }

    fn find_first_min_len(&self) -> Option<usize> {
        self.find_directly_min_len()
    }

    fn find_first_max_len(&self) -> usize {
        first::MAX_LEN
    }

    fn find_several(&self, haystack: &[u8], first: First, found: &mut Vec<Match>) -> Option<bool> {
        self.find_in_turn(haystack, first, found)
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let named = |name: &str, number: usize| (name.to_owned(), number as u64);
        vec![
            named("short windows", self.tables.shape.keys(false)),
            named("long windows", self.tables.shape.keys(true)),
            named("records in runs", self.tables.records.in_runs),
            named("filter bytes", 4 * self.tables.filter.len()),
            ("filter fill, thousandths".to_owned(), self.tables.fill()),
        ]
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.tables.memory(), device: 0 }
    }

    fn stored(&self) -> Vec<StoredPart<'_>> {
        vec![sections::stored(self)]
    }

    fn options(&self) -> String {
        let (shape, isa) = (&self.tables.shape, self.dispatch.isa().name());
        let joined = if shape.joined { "yes" } else { "no" };
        let gathers = self.gathers.name();
        format!("isa={isa},gathers={gathers},stride={},joined={joined}", shape.stride)
    }

    fn describe(&self) -> String {
        let shape = &self.tables.shape;
        format!(
            "{} short patterns with windows of {} bytes, {} long ones with windows of {}; \
             stride {}, filter of {} bytes, {}, {} gathers; {} bytes",
            shape.short,
            shape.short_window,
            shape.long,
            shape.window,
            shape.stride,
            4 * self.tables.filter.len(),
            self.dispatch.isa().name(),
            self.gathers.name(),
            self.footprint().host
        )
    }
}
