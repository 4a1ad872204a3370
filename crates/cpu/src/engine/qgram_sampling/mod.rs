//! Strided sampling: of a haystack only one gram is looked at every so many bytes.
//!
//! # Samples
//! A *gram* is a window of q bytes. If a pattern has at least q + s - 1 bytes, then s of its grams begin at
//! neighbouring offsets, and wherever the pattern occurs, exactly one of the s begins at a multiple of s. So
//! each pattern is entered under s grams, and in the haystack one gram of every s is looked up: the longer
//! the shortest pattern, the less there is to look at. Each occurrence is found once and by one sample.
//!
//! # Stage 1
//! The hash of a gram chooses a word of a bitmap, with 16 to 32 bits for each gram of the set, and two bits
//! of that word, which are both 1 if the gram is one of the set (Bloom 1970). With AVX-512 sixteen samples go
//! together: a permutation of the bytes of two registers lines up eight grams, a gather fetches sixteen
//! words, a compression lists the candidates without a branch.
//!
//! # Stage 2
//! The hash of a candidate leads to a bucket of entries. Each has eight bytes of its pattern beside
//! the gram, which decide nearly always; then the whole pattern is compared.
//!
//! # Choice
//! Long grams are rare in the haystack and leave a short stride. `shape.rs` weighs them by statistics of data in
//! general and of the patterns themselves, or of a sample: eight bytes of DNA are no more than 16 bits, eight
//! bytes of text are over 20. A pattern that is longer than it has to be is entered where its grams are rarest.
//!
//! A bucket is bounded when the set is compiled, so the work for a byte is bounded in any haystack. If a gram has
//! too many entries, longer grams and shorter strides are tried, then the set is refused.
//!
//! Wins: DNA, where with 100, 1,000 and 10,000 20-mers of a genome it is 2.4, 3.5 and 10 times as fast
//! as `qgram-filter`, and 3.6, 3.6 and 5 times as fast as `ac-simd` (0.07, 0.10 and 0.21 ns a byte). Long
//! patterns elsewhere (measured against an earlier `qgram-filter`, and not since): 1.1 to 1.5 times as fast as `qgram-filter` with 100 and 1,000 words of ten letters and more in
//! the Bible, 1.4 to 1.8 times with words of fourteen; 1.4 to 2.1 times with 100 to 10,000 strings of 24 and
//! 32 bytes of a program in that program. Loses: patterns of eight bytes, which leave a stride of 2 or 3 (0.6 to 0.8
//! times as fast as `qgram-filter` with 1,000 and 8,000 words, and with strings of a program), and frequent
//! matches: each costs 20 to 30 ns, and 60 to 80 where the tables exceed the second-level cache. The plain form
//! takes 2 to 2.7 times as long as AVX-512. The form named AVX2 is the same code made for its processors;
//! gathers of eight words were not tried.
//!
//! Sources: Karp and Rabin 1987 for the hash of a gram; Wu and Manber 1994 and Kim and Kim 1999 for grams that
//! let a search skip; Fredriksson and Grabowski 2009 and Salmela, Tarhio and Kytöjoki 2006 for grams of
//! patterns in filters for large sets; Bloom 1970.

mod build;
mod hash;
mod scan;
mod shape;
mod stage1;
mod stage2;
#[cfg(test)]
mod tests;

use crate::simd::{Dispatch, Isa};
use build::Tables;
use fyke_automata::PairModel;
use fyke_core::{
    Block, Device, Draft, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet,
    Refusal, Scratch, Sink,
};
use shape::Choice;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: QgramSampling = QgramSampling;

static INFO: Info = Info {
    name: "qgram-sampling",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "one gram of every few looked up in a bitmap: patterns of 8 bytes and more, rare matches",
    source: "Bloom 1970; Wu and Manber 1994",
    variants: &["", "isa=scalar", "isa=avx2", "isa=avx512"],
};

/// The engine.
#[derive(Debug)]
pub struct QgramSampling;

impl Engine for QgramSampling {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        opt.check_params(&["isa", "gram", "stride"])?;
        let isa = Isa::choose(opt, &Isa::ALL)?;
        let choice = Choice::new(set, opt, isa)?;
        let (cost, model, set) = (choice.forecast(set), PairModel::of(opt), set.clone());
        Ok(Draft::new(cost, opt, move |limit| {
            let tables = Tables::new(&set, &choice.within(limit)?, &model)?;
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
            named("bytes of a gram", self.tables.shape.gram.len),
            named("stride", self.tables.shape.stride),
            named("entries", self.tables.entries.len()),
            named("bitmap bytes", 4 * self.tables.bitmap.len()),
            ("bits set, thousandths".to_owned(), self.tables.fill()),
        ]
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.tables.memory(), device: 0 }
    }

    fn options(&self) -> String {
        let (shape, isa) = (&self.tables.shape, self.dispatch.isa().name());
        format!("isa={isa},gram={},stride={}", shape.gram.len, shape.stride)
    }

    fn describe(&self) -> String {
        let shape = &self.tables.shape;
        format!(
            "{} patterns, one gram of {} bytes every {}, {} entries, bitmap of {} bytes, {}; {} bytes",
            self.set.len(),
            shape.gram.len,
            shape.stride,
            self.tables.entries.len(),
            4 * self.tables.bitmap.len(),
            self.dispatch.isa().name(),
            self.footprint().host
        )
    }
}
