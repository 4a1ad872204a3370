//! What threads of a scan share: the next chunk, the results, the first error.

use super::ScanError;
use super::chunk::{Chunk, Found, Job};
use super::collect::Collector;
use crate::finder::FinderScratch;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Shared by the threads of a scan.
pub(super) struct Workers<'a> {
    pub(super) job: &'a Job<'a>,
    next: AtomicU64,
    collector: Mutex<Collector<'a>>,
    stopped: AtomicBool,
    failure: Mutex<Option<ScanError>>,
}

/// What a thread writes to.
#[derive(Default)]
pub(super) struct Working {
    pub(super) scratch: FinderScratch,
    pub(super) found: Found,
}

impl<'a> Workers<'a> {
    pub(super) fn new(job: &'a Job<'a>, collector: Collector<'a>) -> Self {
        Self {
            job,
            next: AtomicU64::new(0),
            collector: Mutex::new(collector),
            stopped: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// Runs `work` on a number of threads, each of which gets its index. A panic in one of them
    /// stops the others, and goes on in the caller.
    pub(super) fn run(&self, threads: usize, work: impl Fn(usize) + Sync) {
        thread::scope(|scope| {
            let handles: Vec<_> = (0..threads)
                .map(|index| {
                    let work = &work;
                    scope.spawn(move || {
                        let _guard = StopOnPanic(&self.stopped);
                        work(index);
                    })
                })
                .collect();
            for handle in handles {
                if let Err(panic) = handle.join() {
                    panic::resume_unwind(panic);
                }
            }
        });
    }

    /// The next chunk that no thread has. None at the end, and after an error.
    pub(super) fn next(&self) -> Option<u64> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index < self.job.chunks() && !self.stopped()).then_some(index)
    }

    /// Tells all threads to stop.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether a thread failed.
    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Keeps the first error, and stops all threads.
    pub(super) fn check<T>(&self, result: Result<T, ScanError>) -> Option<T> {
        result
            .map_err(|error| {
                self.stop();
                lock(&self.failure).get_or_insert(error);
            })
            .ok()
    }

    /// Searches a chunk and hands over what is found. None after an error.
    pub(super) fn search(&self, index: u64, chunk: &Chunk, working: &mut Working) -> Option<()> {
        chunk.search(self.job.finder, &mut working.scratch, &mut working.found);
        self.hand_over(index, working)
    }

    /// Hands over what was found in a chunk. None after an error, and after a panic of the observer,
    /// which the collector calls.
    pub(super) fn hand_over(&self, index: u64, working: &mut Working) -> Option<()> {
        let found = std::mem::take(&mut working.found);
        let taken = self.collector.lock().ok()?.take(index, found);
        working.found = self.check(taken)?;
        Some(())
    }

    /// The results of all threads, or the first error.
    pub(super) fn finish(self) -> Result<Collector<'a>, ScanError> {
        match self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(self.collector.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// Stops the other threads if this one panics.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Admits a number of threads at once.
pub(super) struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A permit: returned when it is dropped.
pub(super) struct Permit<'a>(&'a Permits);

impl Permits {
    pub(super) fn new(free: usize) -> Self {
        Self { free: Mutex::new(free), freed: Condvar::new() }
    }

    /// Waits for a permit.
    pub(super) fn get(&self) -> Permit<'_> {
        let free = lock(&self.free);
        let mut free =
            self.freed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}

/// Locks a mutex whose data is valid even after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
