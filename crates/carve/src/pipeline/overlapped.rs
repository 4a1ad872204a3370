//! Several reads in flight, searches on all cores.
//!
//! There are more threads than may search at once. Each reads a chunk, waits for its turn, and
//! searches the chunk while it is in the cache of its core. Those that may not search are reading.

use super::ScanError;
use super::chunk::{Chunk, Job};
use super::collect::Collector;
use super::workers::{Permits, Workers, Working};

/// Reads in flight while all threads search. Not measured: a guess.
const READS_AHEAD: usize = 4;

pub(super) fn run<'a>(
    job: &'a Job<'a>,
    collector: Collector<'a>,
) -> Result<Collector<'a>, ScanError> {
    let workers = Workers::new(job, collector);
    let permits = Permits::new(job.threads);
    let threads = (job.threads + READS_AHEAD).min(job.chunks().try_into().unwrap_or(usize::MAX));
    workers.run(threads, |_| {
        work(&workers, &permits);
    });
    workers.finish()
}

fn work(workers: &Workers<'_>, permits: &Permits) -> Option<()> {
    let (mut chunk, mut working) = (Chunk::default(), Working::default());
    while let Some(index) = workers.next() {
        workers.check(workers.job.read(index, &mut chunk))?;
        let _permit = permits.get();
        workers.search(index, &chunk, &mut working)?;
    }
    Some(())
}
