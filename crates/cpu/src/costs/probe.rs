//! Probes: small measurements, each of one step of an engine.
//!
//! A calibration compares the times of all probes with those on the reference machine, and so finds
//! out which steps are slow on this one. Patterns and haystacks are generated from fixed seeds, so
//! a probe is the same everywhere.

use crate::engine::{ac_dfa, ac_nfa, ac_simd, qgram_filter, qgram_sampling, teddy};
use crate::simd::Isa;
use fyke_core::{Batch, Block, Engine, Matcher, Options, PatternSet, Refusal, Scratch, Sink};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A measurement of one step of an engine.
pub struct Probe {
    /// The name. If each instruction set has such a probe, it ends with the set: `teddy.avx2`.
    pub name: String,
    engine: &'static dyn Engine,
    params: String,
    patterns: Patterns,
    task: Task,
}

/// The patterns of a probe.
#[derive(Clone, Copy)]
enum Patterns {
    /// Random strings: how many, and of how many bytes.
    Random(usize, usize),
    /// Strings of 16 letters, which make an automaton walk deep: how many, and of how many bytes.
    Letters(usize, usize),
}

/// What is timed.
#[derive(Clone, Copy, PartialEq)]
enum Task {
    /// A scan of random bytes: nearly no candidates.
    Random,
    /// A scan of random letters.
    Letters,
    /// A scan of the patterns, one after the other.
    Matches,
    /// Scans of short blocks of random bytes.
    Calls,
    /// Compiling the patterns.
    Build,
}

/// Bytes of a haystack: it fits in an L2 cache, together with tables of moderate size.
const HAYSTACK: usize = 256 << 10;

/// Bytes of a short block.
const CALL: usize = 64;

/// Time for each probe. Of the runs in this time, the fastest counts.
const TIME: Duration = Duration::from_millis(400);

/// The minimum number of runs of a probe.
const RUNS: usize = 5;

/// Every probe, including those of instruction sets that this CPU lacks.
pub fn all() -> Vec<Probe> {
    let mut probes = automata();
    for isa in Isa::ALL {
        probes.extend(of(isa));
    }
    probes
}

/// A probe: name, engine, options, patterns, task.
type Row = (&'static str, &'static dyn Engine, &'static str, Patterns, Task);

const TABLE: &dyn Engine = &ac_dfa::ENGINE;
const LINKS: &dyn Engine = &ac_nfa::ENGINE;
const WALK: &dyn Engine = &ac_simd::ENGINE;
const TEDDY: &dyn Engine = &teddy::ENGINE;
const FILTER: &dyn Engine = &qgram_filter::ENGINE;
const SAMPLING: &dyn Engine = &qgram_sampling::ENGINE;

/// The probes that no instruction set has of its own: the engine has no vector form, or the best
/// one of this CPU is timed.
fn automata() -> Vec<Probe> {
    use Patterns::{Letters, Random};
    let rows: [Row; 13] = [
        ("alone", TABLE, "", Random(1, 8), Task::Random),
        ("table-small", TABLE, "", Letters(150, 12), Task::Letters),
        ("table-medium", TABLE, "", Letters(20_000, 12), Task::Letters),
        ("table-large", TABLE, "", Letters(150_000, 12), Task::Letters),
        ("table-matches", TABLE, "", Letters(500, 4), Task::Matches),
        ("table-call", TABLE, "", Letters(20, 8), Task::Calls),
        ("table-build", TABLE, "", Letters(5_000, 12), Task::Build),
        ("links", LINKS, "", Letters(20_000, 12), Task::Letters),
        ("links-build", LINKS, "", Letters(5_000, 12), Task::Build),
        ("walk-loads", WALK, "gathers=scalar", Letters(500, 8), Task::Letters),
        ("walk-matches", WALK, "gathers=scalar", Letters(500, 4), Task::Matches),
        ("walk-call", WALK, "gathers=scalar", Letters(500, 8), Task::Calls),
        ("walk-build", WALK, "", Letters(5_000, 12), Task::Build),
    ];
    rows.map(|row| Probe::of(row, row.0.to_owned(), row.2.to_owned())).into()
}

/// The probes of an instruction set.
fn of(isa: Isa) -> impl Iterator<Item = Probe> {
    use Patterns::{Letters, Random};
    let rows: [Row; 17] = [
        ("walk", WALK, "gathers=vector", Letters(500, 8), Task::Letters),
        ("teddy", TEDDY, "", Random(16, 8), Task::Random),
        ("teddy-pairs", TEDDY, "pairs=small,gathers=scalar", Random(100, 8), Task::Random),
        ("teddy-short", TEDDY, "", Random(8, 2), Task::Random),
        ("teddy-matches", TEDDY, "", Random(16, 8), Task::Matches),
        ("teddy-call", TEDDY, "", Random(16, 8), Task::Calls),
        ("filter-1", FILTER, "stride=1,gathers=vector", Random(1_000, 8), Task::Random),
        ("filter-2", FILTER, "stride=2,joined=no,gathers=vector", Random(1_000, 9), Task::Random),
        ("filter-4", FILTER, "stride=4,gathers=vector", Random(1_000, 11), Task::Random),
        ("filter-loads", FILTER, "stride=1,gathers=scalar", Random(1_000, 8), Task::Random),
        ("filter-matches", FILTER, "", Random(1_000, 12), Task::Matches),
        // With so many patterns, the engine does not search a block for a candidate first.
        ("filter-call", FILTER, "", Random(20_000, 8), Task::Calls),
        ("filter-build", FILTER, "", Random(10_000, 12), Task::Build),
        ("sampling", SAMPLING, "", Random(1_000, 20), Task::Random),
        ("sampling-matches", SAMPLING, "", Random(1_000, 20), Task::Matches),
        ("sampling-call", SAMPLING, "", Random(1_000, 20), Task::Calls),
        ("sampling-build", SAMPLING, "", Random(10_000, 20), Task::Build),
    ];
    let has = move |row: &Row| match row.0 {
        // An instruction set without gathers has no such walk.
        "walk" => isa.gathers(),
        // The scalar form has no pair tables.
        "teddy-pairs" => isa != Isa::Scalar,
        _ => true,
    };
    rows.into_iter().filter(has).map(move |row| {
        let params = [&format!("isa={}", isa.name()), row.2].join(",");
        Probe::of(row, format!("{}.{}", row.0, isa.name()), params.trim_end_matches(',').to_owned())
    })
}

impl Probe {
    fn of((_, engine, _, patterns, task): Row, name: String, params: String) -> Probe {
        Probe { name, engine, params, patterns, task }
    }

    /// Nanoseconds per byte of the haystack, or of the patterns for a probe that compiles.
    ///
    /// # Errors
    /// This CPU lacks the instruction set.
    pub fn run(&self) -> Result<f32, Refusal> {
        let opt = Options::with_params(&self.params)?;
        let set = self.patterns.set();
        if self.task == Task::Build {
            let bytes = set.total_bytes();
            drop(self.engine.compile(&set, &opt)?);
            return Ok(fastest(bytes, || drop(black_box(self.engine.compile(&set, &opt)))));
        }
        let matcher = self.engine.compile(&set, &opt)?;
        let haystack = self.haystack(&set);
        let block = if self.task == Task::Calls { CALL } else { haystack.len() };
        let mut scratch = Scratch::new();
        Ok(fastest(haystack.len(), || scan(&matcher, &haystack, block, &mut scratch)))
    }

    fn haystack(&self, set: &PatternSet) -> Vec<u8> {
        let mut random = Random(2);
        match self.task {
            Task::Letters => (0..HAYSTACK).map(|_| random.letter()).collect(),
            Task::Matches => {
                let pattern = |i: usize| set.bytes((i * 7 % set.len()) as u32);
                (0..).flat_map(pattern).copied().take(HAYSTACK).collect()
            }
            Task::Random | Task::Calls | Task::Build => {
                (0..HAYSTACK).map(|_| random.byte()).collect()
            }
        }
    }
}

fn scan(matcher: &Arc<dyn Matcher>, haystack: &[u8], block: usize, scratch: &mut Scratch) {
    for block in haystack.chunks(block) {
        let mut sum = Sum::default();
        let flow = matcher.scan(Block::whole(block), scratch, &mut sum);
        let _: (ControlFlow<()>, Sum) = black_box((flow, sum));
    }
}

/// Reads each match. A sink that counts would not tell what matches cost: engines write no records
/// for it.
#[derive(Default)]
struct Sum(u64);

impl Sink for Sum {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        for &record in batch.records {
            let word = batch.end(record) ^ u64::from(record.pattern);
            self.0 = self.0.wrapping_add(word);
        }
        ControlFlow::Continue(())
    }
}

/// The fastest time of a task, per byte.
fn fastest(bytes: usize, mut task: impl FnMut()) -> f32 {
    let (begin, mut best, mut runs) = (Instant::now(), Duration::MAX, 0);
    while runs < RUNS || begin.elapsed() < TIME {
        let start = Instant::now();
        task();
        best = best.min(start.elapsed());
        runs += 1;
    }
    best.as_nanos() as f32 / bytes as f32
}

impl Patterns {
    fn set(self) -> PatternSet {
        let mut random = Random(1);
        let patterns: Vec<Vec<u8>> = match self {
            Patterns::Random(count, len) => {
                (0..count).map(|_| (0..len).map(|_| random.byte()).collect()).collect()
            }
            Patterns::Letters(count, len) => {
                (0..count).map(|_| (0..len).map(|_| random.letter()).collect()).collect()
            }
        };
        PatternSet::new(&patterns).expect("the patterns are short")
    }
}

/// SplitMix64: a counter whose values are mixed by multiplications and shifts.
struct Random(u64);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 56) as u8
    }

    fn letter(&mut self) -> u8 {
        b'a' + self.byte() % 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::Count;

    #[test]
    fn every_probe_compiles_and_finds_what_it_should() {
        for probe in all() {
            let opt = Options::with_params(&probe.params).unwrap();
            let isa = Isa::choose(&opt, &Isa::ALL);
            let set = probe.patterns.set();
            if isa.is_err() || set.len() > 10_000 {
                eprintln!("{}: skipped, {isa:?}, {} patterns", probe.name, set.len());
                continue;
            }
            let matcher = probe.engine.compile(&set, &opt).expect(&probe.name);
            let mut count = Count::default();
            let haystack = probe.haystack(&set);
            let flow = matcher.scan(Block::whole(&haystack), &mut Scratch::new(), &mut count);
            assert!(flow.is_continue());
            let a_match = set.max_len() as u64;
            let matches = probe.task == Task::Matches;
            assert_eq!(count.matches >= HAYSTACK as u64 / a_match / 2, matches, "{}", probe.name);
        }
    }
}
