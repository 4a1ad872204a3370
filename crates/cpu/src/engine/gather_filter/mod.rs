//! A strided gather filter: every position, or every second one, is looked up in a small table of bits, and
//! what passes in a table of patterns by a window of theirs.
//!
//! # Windows
//! Each pattern is known by one window of its bytes: seven or eight of them, or four to six if it is shorter. Not
//! the first ones, but those that a model of data in general takes for the rarest, and that few other patterns
//! have: patterns of binary data tend to begin with what all binary data is full of. With a stride of 2 a
//! pattern is entered under two windows, one byte apart, and one of them begins at an even position; the filter
//! then takes in the byte that the other one has more, where that pays.
//!
//! # Stage 1
//! A hash of the window chooses a word of the filter, another chooses bits of it; a window may be there if
//! these bits are 0. Sixteen positions are one gather with AVX-512, eight with AVX2. Short and long windows
//! share the word and test bits of their own. What passes is compressed into lists, a tile of the haystack at
//! a time.
//!
//! # Stage 2
//! The hash of a window that passed leads to a line of fifteen entries, which are compared with the window's
//! fingerprint all at once; short patterns of all lengths by a fingerprint of the whole pattern, each entry
//! naming the length that is its own. Entries that are equal lead to records: length, offset, up to 32 bytes of
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
//! Wins: 100 to 100,000 patterns of four bytes and more, matches that are not dense. Against Hyperscan 5.4, in cells
//! of 2 MiB, processor time of one thread: 3.2, 2.7, 3.5 and 3.6 times as fast for 100, 1,000, 10,000 and 99,175
//! English words in documents, 3.9 times for 14,646 rule strings in traffic, 5 times for 1,000 and 10,000 strings
//! of programs in programs; with AVX2 2.1, 1.3, 2.0, 2.1, 2.3, 3.2 and 4.5 times. Loses: one word (0.4 times), short
//! patterns (one of four bytes makes every position be looked up: 1.4 times for 1,000 rule strings, 0.9 with
//! AVX2), short haystacks, a call each (256 bytes 1.2 times), and the plain form, which takes several nanoseconds a byte.
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

use crate::build::model::Model;
use crate::forecast::Forecast;
use crate::simd::Isa;
use build::Tables;
use fyke_core::{
    Block, Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet, Refusal,
    Scratch, Sink,
};
use shape::Shape;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: GatherFilter = GatherFilter;

static INFO: Info = Info {
    name: "gather-filter",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "every second position looked up by vector gathers in a filter: many patterns of 4 bytes and more, rare matches",
    source: "Bloom 1970; Wu and Manber 1994",
    variants: &[
        "",
        "isa=scalar",
        "isa=avx2",
        "stride=1",
        "isa=avx2,stride=1",
        "neighbour=yes",
        "isa=avx2,neighbour=yes",
    ],
};

/// The engine.
#[derive(Debug)]
pub struct GatherFilter;

impl GatherFilter {
    /// Bytes of memory that the tables of a set take, without building them.
    ///
    /// # Errors
    /// The set has a pattern that is too short.
    pub fn memory_for(set: &PatternSet) -> Result<u64, Refusal> {
        Ok(Shape::new(set, &Options::default())?.memory())
    }
}

/// What the engine expects a set to cost.
///
/// # Errors
/// The set has a pattern that is too short, or an option is not known.
pub fn forecast(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    forecast::forecast(set, opt)
}

impl Engine for GatherFilter {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["isa", "stride", "neighbour"])?;
        let isa = Isa::choose(opt, &Isa::ALL)?;
        let shape = Shape::new(set, opt)?;
        opt.check_memory(shape.peak())?;
        let tables = Tables::new(set, &Model::of(opt), shape);
        Ok(Arc::new(Compiled { set: set.clone(), tables, isa }))
    }
}

/// A compiled set.
struct Compiled {
    set: PatternSet,
    tables: Tables,
    isa: Isa,
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

    fn census(&self) -> Vec<(String, u64)> {
        let named = |name: &str, number: usize| (name.to_owned(), number as u64);
        vec![
            named("short windows", self.tables.shape.short_keys()),
            named("long windows", self.tables.shape.long_keys()),
            named("records in runs", self.tables.records.in_runs),
            named("filter bytes", 4 * self.tables.filter.len()),
            ("filter fill, thousandths".to_owned(), self.tables.fill()),
        ]
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.tables.memory(), device: 0 }
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
            self.isa,
            self.footprint().host
        )
    }
}
