//! Aho-Corasick as a transition table: exactly one transition and one dependent load per byte.
//!
//! Use it for few or short patterns, dense matches, short haystacks and hostile haystacks: nothing
//! but cache misses slows it down. The filters are faster on large sets with rare matches, where
//! the table exceeds the caches (`rules`).
//!
//! # The table
//! Failure links are resolved at compile time: row `s`, column `c` holds the state after reading
//! `c` in `s`. A state's number is the distance of its row from the root's, so the next state is
//! one load at `column + state`, without a multiplication. **States that report something have
//! negative numbers**: rows lie on both sides of the root's, and one test of the signs of several
//! states tells whether any of them reports something. Reports are in a small table of their own,
//! not in a match column as in Tran et al.: with dense matches, each load from that column would be
//! a cache miss.
//!
//! There are two forms: *dense*, with 256 columns, and *classes*, with a column per byte that
//! occurs in a pattern and one for all others. Classes save most of the table and cost one more
//! load per byte, which does not wait for the state. The cache that the table fits in decides which
//! form is faster.
//!
//! # The walks
//! A walk is a chain of dependent loads, so it mostly waits for the cache. A long haystack is
//! therefore cut into tiles of [`LANES`] adjacent segments, which are walked in turns, byte by
//! byte. All segments but the first start at the root, not in the end state of the previous one.
//! The module `lanes` tells how the seams are corrected without `max_len - 1` bytes of warm-up.
//!
//! # The skips
//! With one pattern, or patterns with few first bytes, the scan skips to the next possible start:
//! see the module `skip`.
//!
//! Sources: Aho and Corasick 1975, algorithm 4; Zha and Sahni 2011, III; Zha 2010, 2.1; Tran et
//! al. 2012, fig. 5 (state-transition table). Interleaving: Zha 2010, chapter 4.

mod build;
mod lanes;
mod scan;
mod skip;

use crate::costs::costs;
use fyke_automata::count::Counter;
use fyke_automata::{ByteClasses, PairModel, Trie};
use fyke_core::Forecast;
use fyke_core::{
    Block, Device, Draft, Engine, Family, Footprint, Growth, Info, Matcher, MatcherId, Options,
    PatternSet, Refusal, Scratch, Sink,
};
pub use lanes::LANES;
use skip::Skip;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The registry entry.
pub static ENGINE: AcDfa = AcDfa;

static INFO: Info = Info {
    name: "ac-dfa",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "Aho-Corasick as a transition table, several interleaved walks: one transition a byte, no slow input",
    source: "Aho and Corasick 1975; Zha and Sahni 2011, III; Tran et al. 2012, fig. 5",
    variants: &[
        "",
        "form=dense",
        "form=classes",
        "walks=1",
        "form=dense,walks=1",
        "walks=4",
        "skip=no",
    ],
};

/// Largest dense table: it saves a load per byte, and this size fits in an L2 cache with room to
/// spare. Swept by `forms`: dense is faster up to 160 words and slower at 2,560.
pub const DENSE_UP_TO: u64 = 512 << 10;

/// Bytes at the start of a call in which few walks are interleaved (`size`).
const FIRST_BYTES: u64 = 100;

/// The engine.
#[derive(Debug)]
pub struct AcDfa;

/// The two forms of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Dense,
    Classes,
}

impl AcDfa {
    /// Bytes of memory for the automaton of a set in the form that would be chosen, without
    /// building it.
    pub fn memory_for(set: &PatternSet) -> u64 {
        let states = Trie::count_states(set);
        let used = build::used_bytes(set);
        let classes = ByteClasses::new(&used);
        build::memory(states, build::columns(Self::form_for(states), &classes), set)
    }

    fn form_for(states: u64) -> Form {
        if states * build::DENSE_COLUMNS * 4 <= DENSE_UP_TO { Form::Dense } else { Form::Classes }
    }
}

/// The expected cost of a set.
///
/// # Errors
/// The table exceeds the memory limit.
fn forecast(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    let memory = AcDfa::memory_for(set);
    opt.check_memory(memory)?;
    let matches = PairModel::for_set(set, opt).matches(set);
    let costs = &costs().ac_dfa;
    let alone = set.len() == 1 && set.min_len() > 1;
    let byte = if alone { costs.alone } else { by_size(&costs.by_size, memory as f32) };
    let first_bytes = opt.expected_call.unwrap_or(u64::MAX).min(FIRST_BYTES) as f32;
    let first_byte = if alone { 0.0 } else { costs.first_byte };
    Ok(Forecast {
        ns_per_byte: byte + costs.hit * matches,
        ns_per_call: costs.call + first_byte * first_bytes,
        candidates: 0.0,
        memory,
        build_ms: memory as f32 * costs.build * 1e-6,
        why: format!("one transition a byte, {:.2} % of bytes end a match", 100.0 * matches),
    })
}

/// Interpolates between the costs of two sizes by the logarithm of the size.
fn by_size(costs: &[(f32, f32); 5], bytes: f32) -> f32 {
    let bytes = bytes.clamp(costs[0].0, costs[4].0);
    let between = costs.windows(2).find(|w| bytes <= w[1].0).unwrap_or(&costs[3..]);
    let part = (bytes / between[0].0).ln() / (between[1].0 / between[0].0).ln();
    between[0].1 + part * (between[1].1 - between[0].1)
}

impl Engine for AcDfa {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        let (cost, set, options) = (forecast(set, opt)?, set.clone(), opt.clone());
        Ok(Draft::new(cost, opt, move |memory_limit| {
            self.compile(&set, &options.clone().within(memory_limit))
        }))
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["form", "walks", "skip"])?;
        let states = Trie::count_states(set);
        let form = match opt.choice("form", &["auto", "dense", "classes"])? {
            "dense" => Form::Dense,
            "classes" => Form::Classes,
            _ => Self::form_for(states),
        };
        let walks = opt.choice("walks", &["8", "4", "1"])?.parse().expect("one of the above");
        let skip = match opt.choice("skip", &["yes", "no"])? {
            "yes" => Skip::new(set),
            _ => Skip::Never,
        };
        let table = build::compile(set, states, form, opt)?;
        Ok(Arc::new(Dfa {
            table,
            walks,
            skip,
            confirm: Trie::must_confirm(set),
            set: set.clone(),
            owner: MatcherId::new(),
        }))
    }
}

/// A compiled set.
pub struct Dfa {
    owner: MatcherId,
    set: PatternSet,
    table: DfaTable,
    walks: usize,
    confirm: Vec<bool>,
    skip: Skip,
}

/// The transition table and the reports of its states. Only [`build::compile`] makes it, and
/// upholds what the unchecked loads of the walks rely on.
///
/// A state number is the distance in bytes of the state's row from the root's. **Invariant**:
/// every entry is the number of a row of this table, and every value of `class` is below `stride`.
struct DfaTable {
    rows: Vec<i32>,
    /// Index in `rows` of the row of state 0, the root.
    origin: usize,
    stride: usize,
    /// 2^33 divided by the bytes of a row, rounded up: finds a row by multiplication.
    per_row: u64,
    class: [u8; 256],
    form: Form,
    /// The depth of each state, by row.
    depths: Vec<u16>,
    reports: ReportLists,
}

/// The reports of the reporting states, longest pattern first.
struct ReportLists {
    /// One head per reporting state, by row.
    heads: Vec<ListHead>,
    /// Dense indices of patterns: the lists of the heads, then [`AT_ONCE`] more entries, so that
    /// this many can be read at the start of any list.
    patterns: Vec<u32>,
}

/// The list of a state.
#[derive(Clone, Copy, Default)]
struct ListHead {
    /// Its index in the patterns.
    at: u32,
    /// The number of its patterns.
    count: u32,
    /// The row of the state whose list follows, or [`NO_ROW`].
    next: u32,
}

const NO_ROW: u32 = u32::MAX;

/// Patterns reported in one step: 32 bytes of records. With 8, a match takes more instructions for
/// 100 words in the Bible (`forms`).
const AT_ONCE: usize = 4;

/// The part of a table that a step needs, in registers.
#[derive(Clone, Copy)]
struct Steps<'a, const DENSE: bool> {
    /// The row of state 0.
    origin: *const i32,
    table: &'a DfaTable,
}

impl<const DENSE: bool> Steps<'_, DENSE> {
    /// The state after `byte` in state `s`, which must be 0 or a result of this function.
    #[inline(always)]
    fn next(self, s: isize, byte: u8) -> isize {
        let column = usize::from(if DENSE { byte } else { self.table.class[usize::from(byte)] });
        debug_assert!(column < self.table.stride);
        debug_assert!(self.table.row(s) < self.table.depths.len());
        // SAFETY: `s` is the number of a row and the column is below the stride, both by the
        // invariant of `DfaTable`, so this is an entry of that row. The column is added first: it
        // does not depend on the state, so only the load stands between one state and the next.
        unsafe { *self.origin.wrapping_add(column).wrapping_byte_offset(s) as isize }
    }

    /// Walks to the first reporting state and returns the number of bytes read, or `None` if there
    /// is no such state. Four steps are tested at once. `counter` counts the steps up to the hit.
    #[inline]
    fn to_hit<C: Counter>(self, state: &mut isize, bytes: &[u8], counter: &mut C) -> Option<usize> {
        const GROUP: usize = 4;
        let (groups, rest) = bytes.as_chunks::<GROUP>();
        for (i, group) in groups.iter().enumerate() {
            let mut states = [*state; GROUP];
            let mut s = *state;
            for (to, &byte) in states.iter_mut().zip(group) {
                s = self.next(s, byte);
                *to = s;
            }
            if states.iter().fold(0, |any, s| any | s) < 0 {
                let hit = states.iter().position(|s| *s < 0).unwrap_or(0);
                *state = states[hit];
                counter.transitions(hit as u64 + 1);
                return Some(i * GROUP + hit + 1);
            }
            counter.transitions(GROUP as u64);
            *state = s;
        }
        for (i, &byte) in rest.iter().enumerate() {
            counter.transitions(1);
            *state = self.next(*state, byte);
            if *state < 0 {
                return Some(groups.len() * GROUP + i + 1);
            }
        }
        None
    }
}

impl DfaTable {
    fn steps<const DENSE: bool>(&self) -> Steps<'_, DENSE> {
        Steps { origin: self.rows[self.origin..].as_ptr(), table: self }
    }

    /// The row of a state: its index in `depths`, and in `heads` if it reports.
    #[inline(always)]
    fn row(&self, s: isize) -> usize {
        let at = (4 * self.origin).wrapping_add_signed(s) as u64;
        // Exact: `at` is a multiple of a row's at most 1024 bytes and below 2^31, so the rounding
        // adds less than 2^31 to the product and does not reach the quotient.
        ((at * self.per_row) >> 33) as usize
    }

    /// The depth of a state.
    #[inline]
    fn depth(&self, s: isize) -> usize {
        usize::from(self.depths[self.row(s)])
    }

    fn memory(&self) -> u64 {
        let words = self.rows.len() + 3 * self.reports.heads.len() + self.reports.patterns.len();
        (4 * words + 2 * self.depths.len()) as u64
    }
}

impl Matcher for Dfa {
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
        match self.table.form {
            Form::Dense => self.scan_as::<true>(block, scratch, sink),
            Form::Classes => self.scan_as::<false>(block, scratch, sink),
        }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let states = self.table.rows.len() / self.table.stride;
        vec![
            ("states".to_owned(), states as u64),
            ("columns".to_owned(), self.table.stride as u64),
            ("table bytes".to_owned(), 4 * self.table.rows.len() as u64),
        ]
    }

    fn first_candidate(&self, haystack: &[u8]) -> usize {
        self.skip.first_start(haystack)
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.table.memory() + self.confirm.len() as u64, device: 0 }
    }

    fn options(&self) -> String {
        let form = if self.table.form == Form::Dense { "dense" } else { "classes" };
        format!("form={form},walks={}", self.walks)
    }

    fn describe(&self) -> String {
        let columns = self.table.stride;
        let states = self.table.rows.len() / self.table.stride;
        let form = if self.table.form == Form::Dense { "dense" } else { "byte classes" };
        format!(
            "{states} states x {columns} columns ({form}), {} bytes, {} interleaved walks",
            self.footprint().host,
            self.walks
        )
    }
}
