//! SIMD Aho-Corasick: walks a compact automaton over up to 64 segments of the haystack at once, one
//! SIMD lane each.
//!
//! Use it for large sets, dense matches, and hostile haystacks or sets: `words/10000`,
//! `words/99175`, `rules`, `golden`, `density` and `hostile`. It is slower than `ac-dfa` on
//! haystacks of under 1,500 bytes (`size`), and on up to 1,000 words with AVX2. It is slower than
//! the filters on few patterns with rare matches.
//!
//! # The automaton
//! A walk is a chain of dependent loads. Its speed depends on the cache that the automaton fits in
//! and on the number of dependent loads per step. The size of the tables decides which form is
//! used:
//!
//! * **dense**: a row per state; a column per byte class and one for the state's list of reports.
//! * **compact2**: four bytes per transition. The *context* is the classes of the last two bytes
//!   (more for a small alphabet). The state after most bytes is that of a short suffix of the text,
//!   so a table maps each context to a *default* state. This look-up does not wait for the current
//!   state. A state stores only the transitions for which the default is wrong: its children, and
//!   its *exceptions*, where its failure state goes deeper than a context. Stored transitions are
//!   in a double array: entry `base ^ class` belongs to this state if its label is the class:
//!
//! ```text
//! e = entries[base ^ class]    state = e if label(e) = class
//! d = defaults[context]                d otherwise
//! ```
//!
//! * **compact1**: the same with contexts of one byte. States store more transitions, but no table
//!   has an entry for each pair of bytes. A thousand short patterns of arbitrary bytes fit in the
//!   L1 cache.
//! * **compact3**: the same as compact2, but the step also looks for a stored transition of the
//!   previous byte's default. This load, too, does not wait for the state. It resolves states one
//!   byte deeper, so fewer exceptions are stored.
//! * **linked**: hostile sets have exceptions in the square of their size. A state with too many
//!   stores none and is *partial*: its missing transitions are looked up in its failure state, and
//!   so on. Memory is linear in the size of the set. As with failure links, a walk takes at most
//!   one failure step per byte read. No set is refused for its structure.
//!
//! A leaf stores what its failure state stores, so it shares that state's base.
//!
//! # The lanes
//! A window of the haystack is cut into adjacent segments, one per lane: 64 lanes in vectors of 16
//! with AVX-512, 32 in vectors of 8 with AVX2. AVX-512 loads 64 bytes per lane, transposes them,
//! and maps them to classes at once. If gathers are slow or missing, as with NEON, eight walks by
//! scalar loads take turns.
//!
//! Each lane starts at the root up to 64 bytes before its segment, and nearly always reaches the
//! true state before the segment begins. The end state of the previous lane shows whether it did.
//! Where the two differ, both walk on until they agree, and the lane's matches are corrected.
//!
//! # Reports
//! Each entry holds the number of patterns that its state reports, so counting takes one addition
//! per step. To report matches, the lanes write their state after each step, and a bit where it
//! reports something: the *trail*. The bits are transposed into words per lane and read lane after
//! lane, so records are written in order. A batch of some thousand stays in the L1 cache until the
//! sink reads it. The trail after a seam is corrected before it is read.
//!
//! The engine refuses sets of more than about four million states, the most that the entries of the
//! linked form can address.
//!
//! Source: Aho and Corasick 1975; Aoe 1989 (double array). The defaults by context and the lanes
//! are ours.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod build;
mod confirm;
mod forecast;
mod lanes;
#[cfg(target_arch = "aarch64")]
mod neon;
mod output;
mod scalar;
mod scan;
mod table;
mod trail;

use crate::simd::Dispatch;
use crate::simd::gather::Gathers;
use confirm::Confirm;
use forecast::Chosen;
use fyke_core::{
    Block, Device, Draft, Engine, Family, Footprint, Growth, Info, Matcher, MatcherId, Options,
    PatternSet, Refusal, Scratch, Sink,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use table::AcSimdTable;

/// The registry entry.
pub static ENGINE: AcSimd = AcSimd;

static INFO: Info = Info {
    name: "ac-simd",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "Aho-Corasick in 64 SIMD lanes on a compact automaton: large sets, dense matches, hostile haystacks and sets",
    source: "Aho and Corasick 1975; Aoe 1989, double array; defaults by context and lanes are our own",
    variants: &[
        "",
        "form=compact1",
        "form=compact2",
        "form=compact3",
        "form=linked",
        "isa=avx2,gathers=vector",
        "isa=avx2,gathers=scalar",
        "isa=scalar",
        "isa=neon",
    ],
};

/// SIMD Aho-Corasick.
#[derive(Debug)]
pub struct AcSimd;

impl Engine for AcSimd {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        let (cost, set, options) = (forecast::forecast(set, opt)?, set.clone(), opt.clone());
        Ok(Draft::new(cost, opt, move |memory_limit| {
            self.compile(&set, &options.clone().within(memory_limit))
        }))
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["isa", "form", "gathers"])?;
        let Chosen { isa, gathers, .. } = forecast::choose(opt)?;
        Ok(Arc::new(AcSimdMatcher {
            owner: MatcherId::new(),
            table: build::compile(set, isa, opt)?,
            confirm: Confirm::new(set),
            set: set.clone(),
            dispatch: isa.dispatch()?,
            gathers,
        }))
    }
}

/// A compiled set.
struct AcSimdMatcher {
    owner: MatcherId,
    set: PatternSet,
    table: AcSimdTable,
    confirm: Confirm,
    dispatch: Dispatch,
    /// How the lanes look up transitions. AVX-512 always gathers. NEON, simd128 and the scalar form
    /// never do.
    gathers: Gathers,
}

impl Matcher for AcSimdMatcher {
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
        self.scan_block(block, scratch, sink)
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.table.memory() + self.confirm.memory(), device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let t = &self.table;
        [
            ("states", t.states),
            ("stored transitions", t.stored),
            ("entries", t.lists as usize),
            ("records of report lists", t.reports.records.len()),
            ("bytes of a context", t.order as usize),
        ]
        .map(|(name, n)| (name.to_owned(), n as u64))
        .to_vec()
    }

    fn options(&self) -> String {
        let (isa, form) = (self.dispatch.isa().name(), self.table.name());
        format!("isa={isa},form={form},gathers={}", self.gathers.name())
    }

    fn describe(&self) -> String {
        let (t, kind) =
            (&self.table, if self.gathers == Gathers::Vector { "" } else { ", scalar walks" });
        format!(
            "{} of {} states, {} stored transitions, contexts of {} bytes, {} bytes, {}{kind}",
            t.name(),
            t.states,
            t.stored,
            t.order,
            self.footprint().host,
            self.dispatch.isa().name()
        )
    }
}
