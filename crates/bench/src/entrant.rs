//! The contenders of one cell that built its set and scan fast enough.

use std::time::Duration;

use cpu_time::ThreadTime;
use fyke_core::Block;
use fyke_rivals::{Built, Job, Memory, Refusal, Tally, Work};

use crate::contender::choose::Contender;
use crate::data::store::Prepared;
use crate::timing::clock::{Span, time};
use crate::timing::stats::Stats;

/// Limits on what a contender may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most bytes that a compiled set may take.
    pub memory: u64,
    /// Longest time for scanning the haystack once: a slower contender is refused.
    pub scan: Duration,
    /// Time for building repeatedly after the first time, for a median.
    pub rebuild: Duration,
}

/// A contender with the cell's set, compiled.
pub struct Entrant<'a> {
    /// The contender.
    pub contender: &'a Contender,
    /// The compiled set.
    pub built: Box<dyn Built>,
    /// Build times.
    pub build: Stats,
    /// Memory of the compiled set.
    pub memory: Option<Memory>,
}

/// Bytes of the haystack that a contender may look at when it builds.
pub const SAMPLE: usize = 256 << 10;

/// The maximum number of times a set is built for a median.
const MAX_BUILDS: usize = 9;

/// Builds the cell's set with a contender.
///
/// # Errors
/// The contender is absent, refuses the set, or is too slow for the haystack.
pub fn enter<'a>(
    contender: &'a Contender,
    cell: &Prepared,
    threads: usize,
    limits: &Limits,
) -> Result<Entrant<'a>, Refusal> {
    contender.rival.version()?;
    let sample = &cell.haystack[..cell.haystack.len().min(SAMPLE)];
    let job =
        Job { set: &cell.set, sample, threads, expected_call: None, memory_limit: limits.memory };
    let (built, first) = time(|| contender.rival.build(&job));
    let built = built?;
    check_cost(&*built, cell, limits.scan)?;
    let again = || contender.rival.build(&job).map(drop);
    let build = rebuild(again, first, limits.rebuild)?;
    let memory = built.memory();
    Ok(Entrant { contender, built, build, memory })
}

/// Builds again while there is time, for a median. `first` is the time of the first build.
///
/// # Errors
/// Building failed.
pub fn rebuild(
    again: impl Fn() -> Result<(), Refusal>,
    first: Span,
    budget: Duration,
) -> Result<Stats, Refusal> {
    let mut times = vec![first.wall];
    let mut spent = 0.0;
    while times.len() < MAX_BUILDS && spent + first.wall <= budget.as_nanos() as f64 {
        let (built, span) = time(&again);
        built?;
        spent += span.wall;
        times.push(span.wall);
    }
    Ok(Stats::of(&times))
}

/// Bytes of the first scan, from which the cost of a whole one is estimated.
const PROBE: usize = 4 << 10;
/// A scan of at least this long gives a good enough estimate.
const PROBE_TIME: Duration = Duration::from_millis(20);

/// Refuses a contender that would take longer than `limit` to scan the haystack once.
///
/// # Errors
/// It would, or the scan failed.
pub fn check_cost(built: &dyn Built, cell: &Prepared, limit: Duration) -> Result<(), Refusal> {
    let mut scanner = built.scanner()?;
    let whole = cell.haystack.len();
    let mut len = PROBE.min(whole);
    while len > 0 {
        let block = Block::whole(&cell.haystack[..len]);
        // A first scan may compile something; that is not what later bytes cost.
        scanner.scan(block, Work::Count)?;
        // Of this thread, because others may build and scan at the same time.
        let start = ThreadTime::now();
        scanner.scan(block, Work::Count)?;
        let spent = start.elapsed();
        let estimate = spent.mul_f64(whole as f64 / len as f64);
        if len == whole || spent >= PROBE_TIME {
            return if estimate <= limit { Ok(()) } else { Err(too_slow(estimate, limit)) };
        }
        len = (4 * len).min(whole);
    }
    Ok(())
}

fn too_slow(estimate: Duration, limit: Duration) -> Refusal {
    let (estimate, limit) = (estimate.as_secs_f64(), limit.as_secs_f64());
    Refusal(format!("one scan would take about {estimate:.0} s, the limit is {limit:.0} s"))
}

impl Entrant<'_> {
    /// Scans the whole haystack once, in as many calls as the cell asks for.
    ///
    /// # Errors
    /// The scan failed.
    pub fn scan(&self, cell: &Prepared, threads: usize, work: Work) -> Result<Tally, Refusal> {
        if threads > 1 {
            return self.built.scan_threads(&cell.haystack, cell.set.overlap(), threads, work);
        }
        let mut scanner = self.built.scanner()?;
        if cell.batch {
            return scanner.scan_each(&cell.pieces().collect::<Vec<_>>(), work);
        }
        let mut pieces = cell.pieces().map(Block::whole);
        pieces.try_fold(Tally::default(), |t, piece| Ok(t.plus(scanner.scan(piece, work)?)))
    }
}
