//! Multicore asynchronous read and search, in rounds: every thread searches its chunk while the
//! system reads its next one, and waits for the others after each. The dissertation's figure 5-6.

use super::ScanError;
use super::chunk::{Chunk, Job};
use super::collect::Collector;
use super::workers::{Workers, Working};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Barrier;

pub(super) fn run<'a>(
    job: &'a Job<'a>,
    collector: Collector<'a>,
) -> Result<Collector<'a>, ScanError> {
    let workers = Workers::new(job, collector);
    let barrier = Barrier::new(job.threads);
    workers.run(job.threads, |thread| work(&workers, thread as u64, &barrier));
    workers.finish()
}

/// Searches each chunk that has this number in its round.
fn work(workers: &Workers<'_>, thread: u64, barrier: &Barrier) {
    let threads = workers.job.threads as u64;
    let (mut chunk, mut working) = (Chunk::default(), Working::default());
    for round in 0..workers.job.chunks().div_ceil(threads) {
        let index = round * threads + thread;
        // A thread that panics must not leave the others waiting.
        let searched = panic::catch_unwind(AssertUnwindSafe(|| {
            search(workers, index, &mut chunk, &mut working);
        }));
        if searched.is_err() {
            workers.stop();
        }
        // All threads see the same answer between the two waits, so all stop in the same round.
        barrier.wait();
        let stopped = workers.stopped();
        barrier.wait();
        if let Err(panic) = searched {
            panic::resume_unwind(panic);
        }
        if stopped {
            return;
        }
    }
}

/// Searches a chunk while the system reads the one of the next round.
fn search(workers: &Workers<'_>, index: u64, chunk: &mut Chunk, working: &mut Working) {
    let job = workers.job;
    if index < job.chunks() && workers.check(job.read(index, chunk)).is_some() {
        job.prefetch(index + job.threads as u64);
        workers.search(index, chunk, working);
    }
}
