//! Aho-Corasick as a transition table: exactly one load and one transition a byte.
//!
//! # The table
//! Failure links are resolved when the set is compiled: row `s`, column `c` holds the state after reading
//! `c` in `s`. States are numbered by the place of their row, so the next state is one load at
//! `column + state` and no multiplication. **States that report something have negative numbers**: the
//! rows lie on both sides of the origin, and a single test of a sign, or of the union of eight signs,
//! tells whether to look closer. What they report stands in a small table apart, not in a match column
//! as in Tran et al.: with matches at every second byte, that column would be a cache miss for each.
//!
//! Two forms: *dense*, 256 columns, and *classes*, a column for each byte that occurs in a pattern and one
//! for all others. Classes cost a load a byte (which is off the critical path) and save most of the
//! table: what matters is which cache it fits.
//!
//! # The walks
//! A walk is a chain of dependent loads: it waits for the cache most of the time. A long haystack is
//! therefore cut into tiles of [`LANES`] neighbouring segments, which are walked in turns, byte by byte.
//! The segments begin at the root and not in the state that the previous one ends in; see the module
//! `lanes` for how the seams are put right without walking `max_len - 1` bytes of warm-up.
//!
//! # The skips
//! One pattern, or patterns that begin with few bytes: see the module `skip`.
//!
//! Wins: few or short patterns, dense matches, hostile haystacks: there is no slow input but cache misses.
//! Loses: large sets. 15,000 rule strings are 197 MB of table, and a filter that looks at every second
//! byte beats it where matches are rare.
//!
//! Sources: Aho and Corasick 1975, algorithm 4; Zha and Sahni 2011, III; Zha 2010, 2.1; Tran et al. 2012,
//! fig. 5 (state-transition table). Interleaving: Zha 2010, chapter 4.

mod build;
mod lanes;
mod scan;
mod skip;

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

/// The entry of the registry.
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

/// Up to this many bytes of table the dense form is taken: it saves a load a byte, and this fits the
/// second-level cache with room to spare. In the `forms` benchmark definition dense is 1.15 to 1.18 times as
/// fast for 10 and 40 words, 1.06 for 160, and 0.77 for 2,560; between these the runs disagree.
pub const DENSE_UP_TO: u64 = 512 << 10;

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
    /// Bytes of memory the automaton of a set takes, without building it: in the form that would be chosen.
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

/// Nanoseconds a byte by the size of the table in bytes, from `fyke bench` at sizes where few matches are
/// met (`words`, `pattern-count`, `golden/dna`): between two of them, by the logarithm of the size.
const NS_BY_SIZE: [(f32, f32); 5] =
    [(1e5, 0.55), (1.5e6, 0.69), (1.2e7, 1.4), (1e8, 4.2), (3e8, 6.0)];

/// Nanoseconds for each match, from the `golden` cells of that record.
const NS_A_MATCH: f32 = 2.5;

/// Nanoseconds to build a byte of the table, from `words/99175` in that record.
const BUILD_NS: f32 = 0.84;

/// One pattern alone is looked for by its rarest byte: `count/1`, which took 0.063 to 0.065.
const NS_ALONE: f32 = 0.06;

/// What a set is expected to cost.
///
/// # Errors
/// The table would be larger than the memory limit.
fn forecast(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    let memory = AcDfa::memory_for(set);
    opt.check_memory(memory)?;
    let matches = PairModel::for_set(set, opt).matches(set);
    let steps = if set.len() == 1 && set.min_len() > 1 { NS_ALONE } else { by_size(memory as f32) };
    Ok(Forecast {
        ns_per_byte: steps + NS_A_MATCH * matches,
        memory,
        build_ms: memory as f32 * BUILD_NS * 1e-6,
        why: format!("one transition a byte, {:.2} % of bytes end a match", 100.0 * matches),
    })
}

fn by_size(bytes: f32) -> f32 {
    let [first, .., last] = NS_BY_SIZE;
    let bytes = bytes.clamp(first.0, last.0);
    let between = NS_BY_SIZE.windows(2).find(|w| bytes <= w[1].0).unwrap_or(&NS_BY_SIZE[3..]);
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
    table: Table,
    walks: usize,
    confirm: Vec<bool>,
    skip: Skip,
}

/// The transition table and what its states report. Built only by [`build::compile`], which upholds what
/// the unchecked loads of the walks rely on.
///
/// A state number is the distance of the state's row from that of the root, in bytes. **Invariant**: every
/// entry is the number of a row of this table, and every value of `class` is below `stride`.
struct Table {
    rows: Vec<i32>,
    /// Index in `rows` of the row of state 0, the root.
    origin: usize,
    stride: usize,
    /// 2^33 over the bytes of a row, rounded up: finds a row by multiplication.
    per_row: u64,
    class: [u8; 256],
    form: Form,
    /// Bytes from the root to each state, by row.
    depths: Vec<u16>,
    reports: Reports,
}

/// What the reporting states report, longest pattern first.
struct Reports {
    /// One for each reporting state, by row.
    heads: Vec<Head>,
    /// Patterns by dense index, the lists of the heads one after the other, and [`AT_ONCE`] more entries so
    /// that this many can be read at the start of any list.
    patterns: Vec<u32>,
}

/// The list of a state.
#[derive(Clone, Copy, Default)]
struct Head {
    /// Its place in the patterns.
    at: u32,
    /// How many patterns it has.
    count: u32,
    /// The row of the state whose list follows, or [`NO_ROW`].
    next: u32,
}

const NO_ROW: u32 = u32::MAX;

/// Patterns that are reported in one go: 32 bytes of records. Not swept; with 8 a match took 12 more
/// instructions by callgrind, 100 words over the Bible.
const AT_ONCE: usize = 4;

/// The transitions of a table as the walks see it: what a step needs, and no more, in registers.
#[derive(Clone, Copy)]
struct Steps<'a, const DENSE: bool> {
    /// The row of state 0.
    origin: *const i32,
    table: &'a Table,
}

impl<const DENSE: bool> Steps<'_, DENSE> {
    /// The state after `byte` in state `s`, which has to be 0 or to have come from here.
    #[inline(always)]
    fn next(self, s: isize, byte: u8) -> isize {
        let column = usize::from(if DENSE { byte } else { self.table.class[usize::from(byte)] });
        debug_assert!(column < self.table.stride);
        debug_assert!(self.table.row(s) < self.table.depths.len());
        // SAFETY: `s` is the number of a row and the column is below the stride, both by the invariant of
        // `Table`, so this is an entry of that row. The column is added first: it does not depend on the
        // state, so that nothing but the load stands between one state and the next.
        unsafe { *self.origin.wrapping_add(column).wrapping_byte_offset(s) as isize }
    }

    /// Walks to the first reporting state, and says how many bytes that took; `None` if there is none in
    /// these bytes. Four steps are tested at once; those beyond a hit do not count, they are taken again.
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

impl Table {
    fn steps<const DENSE: bool>(&self) -> Steps<'_, DENSE> {
        Steps { origin: self.rows[self.origin..].as_ptr(), table: self }
    }

    /// The row of a state: its place in `depths`, and in `heads` if it reports.
    #[inline(always)]
    fn row(&self, s: isize) -> usize {
        let at = (4 * self.origin).wrapping_add_signed(s) as u64;
        // Exact: `at` is a multiple of a row's at most 1024 bytes, and below 2^31, so what rounding adds to
        // the product is below 2^31 and does not reach the quotient.
        ((at * self.per_row) >> 33) as usize
    }

    /// Bytes from the root.
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
