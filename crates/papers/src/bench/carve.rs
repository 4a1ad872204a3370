//! Carves a haystack as an image on a disk: chapter 5 of Zha's dissertation.

mod disk;
mod scalpel;

use self::disk::Disk;
use super::settings::Carve;
use super::skip::Skip;
use fyke_bench::data::Prepared;
use fyke_bench::timing::Stats;
use fyke_carve::pipeline::{self, ScanOptions, Scanned};
use fyke_carve::{Needle, RuleSet};
use fyke_core::PatternSet;
use std::time::Instant;

/// Scans that are timed, full and with `--quick`.
const SAMPLES: [usize; 2] = [3, 1];

/// A carve that was timed.
pub(super) struct Carved {
    /// Nanoseconds, on the wall clock.
    pub(super) stats: Stats,
    /// The number of hits; 0 for Scalpel itself.
    pub(super) hits: u64,
}

/// Times a strategy. All strategies and engines of the same data must find what the first one
/// found, which is kept in `expected`.
pub(super) fn run(
    engine: &str,
    data: &Prepared,
    threads: usize,
    carve: &Carve,
    quick: bool,
    expected: &mut Option<Scanned>,
) -> Result<Carved, Skip> {
    let samples = SAMPLES[usize::from(quick)];
    if engine == scalpel::NAME {
        // A yardstick only: the tests of the carver compare what it finds.
        let stats = Stats::of(&scalpel::time(data, samples)?);
        return Ok(Carved { stats, hits: 0 });
    }
    let rules = if carve.read_only { RuleSet::default() } else { rules(&data.set) };
    let options = ScanOptions {
        strategy: carve.strategy,
        threads,
        buffer: carve.buffer.map(|size| size.0 as u64),
        engine: engine.to_owned(),
        ..ScanOptions::default()
    };
    let mut times = Vec::new();
    for _ in 0..samples {
        let disk = Disk::new(&data.haystack, carve.rate.map(|rate| rate.0));
        let start = Instant::now();
        let scanned = pipeline::scan(&disk, &rules, &options, &());
        times.push(start.elapsed().as_nanos() as f64);
        let scanned = scanned.map_err(|error| Skip::because(error.to_string()))?;
        if *expected.get_or_insert_with(|| scanned.clone()) != scanned {
            let why = format!("WRONG: {} finds other hits", carve.strategy.name());
            return Err(Skip { why, wrong: true });
        }
    }
    let needles = expected.iter().flat_map(|scanned| &scanned.hits.needles);
    let hits = needles.map(|needle| needle.starts.len() as u64).sum();
    Ok(Carved { stats: Stats::of(&times), hits })
}

/// Rules that have these patterns as their needles.
fn rules(set: &PatternSet) -> RuleSet {
    let needle = |pattern: fyke_core::Pattern<'_>| Needle::Bytes {
        bytes: pattern.bytes.iter().copied().map(Some).collect(),
        nocase: pattern.nocase,
    };
    RuleSet { needles: set.iter().map(needle).collect(), ..RuleSet::default() }
}
