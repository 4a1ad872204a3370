//! Compiling, and how long it takes.

use std::time::{Duration, Instant};

use fyke_core::PatternSet;
use fyke_rivals::Refusal;
use fyke_rivals::libhs::{Database, Mode};

use super::haystacks::Haystacks;
use super::libraries::Named;
use crate::run::settings::RunSettings;
use crate::size::Size;
use crate::timing::clock::{Span, time};
use crate::timing::stats::Stats;

/// A library that compiled the set.
pub(super) struct Entrant<'a> {
    /// The library.
    pub library: &'a Named,
    /// The set.
    pub database: Database,
    /// Bytes of a scratch for it, after a scan.
    pub scratch_bytes: u64,
    /// Bytes of the state of a stream, if it is compiled for streams.
    pub stream_bytes: Option<u64>,
}

/// Compiles a set with a library.
///
/// # Errors
/// The library refuses the set, or it takes more memory than is allowed.
pub(super) fn compile<'a>(
    library: &'a Named,
    set: &PatternSet,
    mode: Mode,
    haystacks: &Haystacks,
    settings: &RunSettings,
) -> Result<Entrant<'a>, Refusal> {
    let database = library.library.compile(set, mode)?;
    let (size, limit) = (database.size(), settings.limits.memory);
    if size > limit {
        let (size, limit) = (Size(size as usize), Size(limit as usize));
        return Err(Refusal(format!("the database takes {size}, the limit is {limit}")));
    }
    let stream_bytes = (mode == Mode::Stream).then(|| database.stream_size()).transpose()?;
    let scratch_bytes = database.scratch_size(&haystacks.files[0])?;
    Ok(Entrant { library, database, scratch_bytes, stream_bytes })
}

/// Most rounds.
const MAX_ROUNDS: usize = 101;

/// The least rounds: a real libhs takes many seconds for the largest sets.
const MIN_ROUNDS: usize = 3;

/// A sample compiles so often that it lasts about this long, so that the clock does not matter.
const SAMPLE: Duration = Duration::from_millis(1);

/// The maximum number of databases of a sample.
const MAX_REPEATS: usize = 1000;

/// Times compiling, in turn. Databases are freed outside of the measured time.
///
/// # Errors
/// A library refuses what it took before.
pub(super) fn times(
    entrants: &[&Entrant<'_>],
    set: &PatternSet,
    mode: Mode,
    settings: &RunSettings,
) -> Result<Vec<Stats>, Refusal> {
    let one = |entrant: &Entrant<'_>, repeats| repeat(entrant, set, mode, repeats);
    let mut repeats = Vec::new();
    for entrant in entrants {
        let wanted = SAMPLE.as_nanos() as f64 / one(entrant, 1)?.wall;
        repeats.push((wanted.ceil() as usize).clamp(1, MAX_REPEATS));
    }
    let mut samples = vec![Vec::new(); entrants.len()];
    let start = Instant::now();
    for round in 0..MAX_ROUNDS {
        if round >= MIN_ROUNDS && start.elapsed() >= settings.limits.rebuild {
            break;
        }
        for turn in 0..entrants.len() {
            let i = (turn + round) % entrants.len();
            samples[i].push(one(entrants[i], repeats[i])?.on(settings.clock));
        }
    }
    Ok(samples.iter().map(|s| Stats::of(s)).collect())
}

/// The time of compiling once, as the mean of several times.
fn repeat(
    entrant: &Entrant<'_>,
    set: &PatternSet,
    mode: Mode,
    repeats: usize,
) -> Result<Span, Refusal> {
    let mut databases = Vec::with_capacity(repeats);
    let library = &entrant.library.library;
    let (_, span) = time(|| databases.extend((0..repeats).map(|_| library.compile(set, mode))));
    databases.into_iter().collect::<Result<Vec<Database>, _>>()?;
    Ok(span.per(repeats as u64))
}
