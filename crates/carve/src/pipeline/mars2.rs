//! Multicore asynchronous read and search, without rounds: every thread takes the next chunk, and
//! searches it while the system reads the one after. The dissertation's figure 5-7.

use super::ScanError;
use super::chunk::{Chunk, Job};
use super::collect::Collector;
use super::workers::{Workers, Working};

pub(super) fn run<'a>(
    job: &'a Job<'a>,
    collector: Collector<'a>,
) -> Result<Collector<'a>, ScanError> {
    let workers = Workers::new(job, collector);
    workers.run(job.threads, |_| {
        work(&workers);
    });
    workers.finish()
}

fn work(workers: &Workers<'_>) -> Option<()> {
    let (mut chunk, mut working) = (Chunk::default(), Working::default());
    let mut mine = workers.next();
    while let Some(index) = mine {
        workers.check(workers.job.read(index, &mut chunk))?;
        mine = workers.next();
        if let Some(next) = mine {
            workers.job.prefetch(next);
        }
        workers.search(index, &chunk, &mut working)?;
    }
    Some(())
}
