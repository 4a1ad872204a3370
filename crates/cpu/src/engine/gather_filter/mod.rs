//! A strided gather filter: every position, or every second one, is looked up in a small table of bits, and
//! what passes in a table of patterns by a window of theirs.
//!
//! # Windows
//! Each pattern is known by one window of its bytes: seven or eight of them, or four if it is shorter. Not the
//! first ones, but those that a model of data in general takes for the rarest, and that few other patterns
//! have: patterns of binary data tend to begin with what all binary data is full of. With a stride of 2 a
//! pattern is entered under two windows, one byte apart, and one of them begins at an even position.
//!
//! # Stage 1
//! A hash of the window chooses a word of the filter, another chooses bits of it; a window may be there if
//! these bits are 0. Sixteen positions are one gather with AVX-512, eight with AVX2. Short and long windows
//! share the word and test bits of their own. What passes is compressed into lists, a tile of the haystack at
//! a time.
//!
//! # Stage 2
//! The hash of a window that passed leads to a bucket of entries. Each has eight bytes of its pattern, which
//! decide nearly always; a longer pattern is then compared as a whole.
//!
//! A bucket is bounded when the set is compiled, so the work for a byte is bounded in any haystack. A set with
//! too many patterns that differ in no window is refused.
//!
//! Wins: up to about a thousand patterns, and more where all have eight bytes: with AVX-512, 1.5 to 4 times as
//! fast as `ac-dfa` for 17 to 830 English words in the Bible, 4.6 times for a tenth of the rule strings of eight
//! bytes and more in traffic. Loses: 8,000 words in the same text (half as fast as `ac-dfa`: short windows of
//! text are frequent, and each that passes costs a branch), dense matches, patterns under four bytes (which it
//! refuses). With AVX2 the bounds are about half of these.
//!
//! Sources: Bloom 1970; Wu and Manber 1994 (a window that is not the whole pattern); the choice of the rarest
//! window is old, as in the literal search of grep.

mod build;
mod hash;
mod model;
mod scan;
mod stage1;

use build::{Shape, Tables};
use fyke_core::{
    Block, Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet, Refusal,
    Scratch, Sink,
};
use stage1::Isa;
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
        "isa=avx512",
        "stride=1",
        "isa=scalar,stride=1",
        "isa=avx2,stride=1",
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

impl Engine for GatherFilter {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["isa", "stride"])?;
        let isa = Isa::new(opt)?;
        let shape = Shape::new(set, opt)?;
        opt.check_memory(shape.memory())?;
        let tables = Tables::new(set, shape)?;
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
            named("short windows", self.tables.short.entries.len()),
            named("long windows", self.tables.long.entries.len()),
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
            "{} patterns by 4 bytes, {} by {}; stride {}, filter {} bytes, {:?}; {} bytes",
            shape.short,
            shape.long,
            shape.long_window(),
            shape.stride,
            4 * self.tables.filter.len(),
            self.isa,
            self.footprint().host
        )
    }
}
