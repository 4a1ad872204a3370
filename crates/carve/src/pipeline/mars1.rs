//! Multicore asynchronous read and search, in rounds: every thread searches its chunk while the
//! system reads its next one, and waits for the others after each. The dissertation's figure 5-6.

use super::ScanError;
use super::chunk::{Chunk, Job};
use super::collect::Collector;
use super::workers::{Workers, Working};
use std::sync::Barrier;
use std::thread;

pub(super) fn run<'a>(
    job: &'a Job<'a>,
    collector: Collector<'a>,
) -> Result<Collector<'a>, ScanError> {
    let workers = Workers::new(job, collector);
    let barrier = Barrier::new(job.threads);
    thread::scope(|scope| {
        for thread in 0..job.threads as u64 {
            let (workers, barrier) = (&workers, &barrier);
            scope.spawn(move || work(workers, thread, barrier));
        }
    });
    workers.finish()
}

/// Searches each chunk that has this number in its round.
fn work(workers: &Workers<'_>, thread: u64, barrier: &Barrier) {
    let job = workers.job;
    let threads = job.threads as u64;
    let (mut chunk, mut working) = (Chunk::default(), Working::default());
    for round in 0..job.chunks().div_ceil(threads) {
        let index = round * threads + thread;
        if index < job.chunks() && workers.check(job.read(index, &mut chunk)).is_some() {
            job.prefetch(index + threads);
            workers.search(index, &chunk, &mut working);
        }
        // All threads see the same answer between the two waits, so all stop in the same round.
        barrier.wait();
        let stopped = workers.stopped();
        barrier.wait();
        if stopped {
            return;
        }
    }
}
