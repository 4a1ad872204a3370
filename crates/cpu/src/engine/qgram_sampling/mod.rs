//! Q-gram sampling: looks up one q-gram of every few positions in a bitmap, so most positions of
//! the haystack are never tested.
//!
//! Use it for long patterns with rare matches: DNA (`dna/100` to `dna/10000`, where it is the
//! fastest engine), and words or strings of programs of 10 bytes and more. `qgram-filter` is faster
//! on patterns of eight bytes, which leave a stride of 2 or 3. The automata are faster on frequent
//! matches, since each match costs a lookup in the buckets and a comparison. Only AVX-512 has a
//! vector form, and the others take at least twice as long: AVX2 runs the scalar code compiled for
//! it.
//!
//! # Samples
//! A *q-gram* (here: gram) is a window of q bytes. A pattern of at least q + s - 1 bytes has s
//! grams at consecutive offsets. Wherever it occurs, exactly one of them begins at a multiple of
//! the stride s. So the bitmap holds s grams of each pattern, and the scan tests one gram of every
//! s positions. Each occurrence is found exactly once. The longer the shortest pattern, the longer
//! the stride can be.
//!
//! # Stage 1
//! The hash of a gram chooses a word of a bitmap and two bits in it, which are both 1 for a gram
//! of the set (Bloom 1970). The bitmap has 16 to 32 bits per gram. With AVX-512 sixteen samples
//! are tested at once: a permutation of two registers extracts eight grams, a gather fetches
//! sixteen words, and a compress appends the candidates to a list without a branch.
//!
//! # Stage 2
//! The hash of a candidate leads to a bucket of entries. Each entry has eight bytes of its pattern
//! next to the gram, which reject nearly all false positives. Then the whole pattern is compared.
//!
//! # Choice of gram length and stride
//! Long grams are rare in the haystack but leave a short stride. How rare they are depends on the
//! data: eight bytes of DNA have at most 16 bits of information, eight bytes of text over 20.
//! `shape.rs` estimates it from a sample of the haystack, or from typical data and the patterns. In
//! a pattern that is longer than necessary, the rarest grams are chosen.
//!
//! Invariant: the size of a bucket is bounded at compile time, so the work per byte is bounded for
//! any haystack. If a gram has too many entries, the engine tries longer grams and shorter strides,
//! then refuses the set.
//!
//! Sources: Karp and Rabin 1987 (hashes of grams); Wu and Manber 1994 and Kim and Kim 1999 (grams
//! that allow skips); Fredriksson and Grabowski 2009 and Salmela, Tarhio and Kytöjoki 2006 (q-gram
//! filters for large sets); Bloom 1970.

mod build;
mod hash;
mod scan;
mod shape;
mod stage1;
mod stage2;
#[cfg(test)]
mod tests;

use crate::simd::{Dispatch, Isa};
use build::SamplingTables;
use fyke_automata::PairModel;
use fyke_core::{
    Block, Device, Draft, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet,
    Refusal, Scratch, Sink,
};
use shape::RankedShapes;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The registry entry.
pub static ENGINE: QgramSampling = QgramSampling;

static INFO: Info = Info {
    name: "qgram-sampling",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "one q-gram of every few positions looked up in a bitmap: patterns of 8 bytes and more, rare matches",
    source: "Bloom 1970; Wu and Manber 1994",
    variants: &["", "isa=scalar", "isa=neon", "isa=avx2", "isa=avx512"],
};

/// Q-gram sampling.
#[derive(Debug)]
pub struct QgramSampling;

impl Engine for QgramSampling {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        opt.check_params(&["isa", "gram", "stride"])?;
        let isa = Isa::choose(opt, &Isa::ALL)?;
        let choice = RankedShapes::new(set, opt, isa)?;
        let (cost, model, set) = (choice.forecast(set), PairModel::of(opt), set.clone());
        Ok(Draft::new(cost, opt, move |limit| {
            let tables = SamplingTables::new(&set, &choice.within(limit)?, &model)?;
            Ok(Arc::new(QgramSamplingMatcher {
                set: set.clone(),
                tables,
                dispatch: isa.dispatch()?,
            }))
        }))
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        ENGINE.draft(set, opt)?.compile()
    }
}

/// A compiled set.
struct QgramSamplingMatcher {
    set: PatternSet,
    tables: SamplingTables,
    dispatch: Dispatch,
}

impl Matcher for QgramSamplingMatcher {
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
