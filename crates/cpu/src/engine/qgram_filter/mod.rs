//! A strided gather filter: every position, or every second or fourth one, is looked up in a small table of bits, and
//! what passes in a table of patterns by a window of theirs.
//!
//! # Windows
//! Each pattern is known by one window of its bytes: four to eight of them. Not the first ones, but those that a
//! model of data in general takes for the rarest, and that few other patterns have: patterns of binary data tend
//! to begin with what all binary data is full of. With a stride of s a pattern is entered under s windows, each
//! one byte further on, and one of them begins at a multiple of s.
//!
//! Either each of these windows leads to the pattern by itself; then they have to be rare by themselves. Or two of them are
//! *joined*: they choose the word of the filter, each its own, but bits of it by a gram that is both together, and
//! leads to the pattern from wherever it was found. So four bytes are enough for a stride of 2, by windows of three. Patterns
//! of under seven or eight bytes (*short* ones) are joined always, longer ones where that is expected to cost less.
//!
//! The longer the stride the fewer gathers there are, and the shorter and more frequent the windows: `forecast.rs` weighs this
//! by the model, for each set. Patterns of random bytes take a stride of 4, words and rules 2, large sets of them 1.
//!
//! # Stage 1
//! A hash of the window chooses a word of the filter, another four bits of it; the window may be one of the set if
//! these bits are 0. Sixteen positions are one gather with AVX-512, eight with AVX2. Short and long windows
//! share the word, and each kind tests bits of its own. What passes is marked for each chunk of the haystack without a
//! branch, and listed from the marks, a tile at a time.
//!
//! A gather is many micro-operations that wait for its indices, and when too many wait those behind them cannot
//! start: indices are computed a chunk ahead, which took a tenth to a fifth off the loop.
//!
//! # Stage 2
//! The hash of a window that passed leads to a line of fifteen entries, which are compared with the window's
//! fingerprint all at once; short patterns of all lengths by a fingerprint of the whole pattern, each entry
//! naming the length that is its own. Entries that are equal overlap to records: length, offset, up to 32 bytes of
//! the pattern, which one comparison under a mask decides. Only longer patterns are looked up in the set.
//! Nothing of this branches on whether a candidate is one: lists are written past their end, and the end moves
//! by what was found.
//!
//! Bytes are folded for the filter and the lines when some pattern ignores case; a record's comparison folds just
//! the letters of a pattern that does.
//!
//! # Bounds
//! More than eight patterns with the same window, and what a full line has no room for, are a run of records that is gone
//! through for each candidate that leads there. So there is no bound on the work for a byte that holds for any
//! set; what is looked at is counted ([`Scratch::spend`]), and a planner can change to an automaton.
//!
//! Wins: 100 to 100,000 patterns of four bytes and more, matches that are not dense. Against Hyperscan 5.4, processor
//! time of one thread on two busy cores: 2.4 and 4.1 times as fast for 1,000 and 10,000 English words in documents, 3.6
//! and 4.7 times for 1,000 random strings of eight bytes and of eight letters in such, 2.1 times for 1,000 rule strings in
//! traffic, 1.4 times for 8,000 random strings of four to 32 bytes; with AVX2 2.1, 2.6, 2.4, 3.8, 1.6 and 1.4 times. Loses: one word
//! (0.4 times), short haystacks, a call each (256 bytes 1.2 times), and the plain form, which takes several
//! nanoseconds a byte.
//!
//! Sources: Bloom 1970; Wu and Manber 1994 (a window that is not the whole pattern); the choice of the rarest
//! window is old, as in the literal search of grep.

mod build;
mod forecast;
mod hash;
mod lines;
mod scan;
mod shape;
mod stage1;
mod stage2;
#[cfg(test)]
mod tests;

use crate::simd::{Dispatch, Isa};
use build::Tables;
use fyke_automata::model::PairModel;
use fyke_core::{
    Block, Device, Draft, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet,
    Refusal, Scratch, Sink, check_memory,
};
use shape::Shape;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: QgramFilter = QgramFilter;

static INFO: Info = Info {
    name: "qgram-filter",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "one position of one to four looked up by vector gathers in a filter: many patterns of 4 bytes and more, rare matches",
    source: "Bloom 1970; Wu and Manber 1994",
    variants: &[
        "",
        "isa=scalar",
        "isa=avx2",
        "stride=1",
        "isa=avx2,stride=1",
        "stride=2,joined=no",
        "isa=avx2,stride=2,joined=no",
        "stride=2,joined=yes",
        "isa=avx2,stride=2,joined=yes",
        "stride=4",
        "isa=avx2,stride=4",
    ],
};

/// The engine.
#[derive(Debug)]
pub struct QgramFilter;

impl QgramFilter {
    /// Bytes of memory that the tables of a set take, without building them.
    ///
    /// # Errors
    /// The set has a pattern that is too short.
    pub fn memory_for(set: &PatternSet) -> Result<u64, Refusal> {
        Ok(Shape::new(set, &Options::default(), &PairModel::built_in())?.memory())
    }
}

impl Engine for QgramFilter {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        opt.check_params(&["isa", "stride", "joined"])?;
        let isa = Isa::choose(opt, &Isa::ALL)?;
        let model = PairModel::of(opt);
        let shape = Shape::new(set, opt, &model)?;
        let cost = forecast::forecast(set, &shape, &model, isa);
        let set = set.clone();
        Ok(Draft::new(cost, opt, move |limit| {
            check_memory(limit, shape.peak())?;
            let tables = Tables::new(&set, &model, shape);
            Ok(Arc::new(Compiled { set: set.clone(), tables, dispatch: isa.dispatch()? }))
        }))
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        ENGINE.draft(set, opt)?.compile()
    }
}

/// A compiled set.
struct Compiled {
    set: PatternSet,
    tables: Tables,
    dispatch: Dispatch,
}

impl Matcher for Compiled {
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

    fn options(&self) -> String {
        let (shape, isa) = (&self.tables.shape, self.dispatch.isa().name());
        let joined = if shape.joined { "yes" } else { "no" };
        format!("isa={isa},stride={},joined={joined}", shape.stride)
    }

    fn describe(&self) -> String {
        let shape = &self.tables.shape;
        format!(
            "{} patterns by {} bytes, {} by {}; stride {}, filter {} bytes, {:?}; {} bytes",
            shape.short,
            shape.short_window,
            shape.long,
            shape.window,
            shape.stride,
            4 * self.tables.filter.len(),
            self.dispatch.isa(),
            self.footprint().host
        )
    }
}
