//! Scans many inputs on several threads. Each free thread takes the next bundle of the walk.
//!
//! A file large enough for all threads waits for its turn and is then divided between them, so that
//! large files come one after the other, as on one thread.

use super::failure::Failure;
use super::inputs::Input;
use super::job::Job;
use super::output::Output;
use super::progress::Progress;
use super::totals::Totals;
use super::turns::{Place, Turns};
use super::worker::Worker;
use fyke_cpu::parallel;
use fyke_io::source::walk::Order;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

/// A bundle that took less time is followed by one of twice as many inputs. It is long beside the
/// time to wake a thread. A guess.
const SHORT_BUNDLE: Duration = Duration::from_micros(500);

/// Most inputs of a bundle.
const MOST_INPUTS: usize = 64;

type Bundle = Vec<Result<Input, Failure>>;

/// What the threads share.
struct Pool<'a, I> {
    job: &'a Job<'a>,
    output: &'a Output,
    progress: &'a Progress,
    order: Order,
    inputs: Mutex<Inputs<I>>,
    turns: Arc<Turns>,
    /// Threads that were started, and the most that may be.
    threads: AtomicUsize,
    most_threads: usize,
    totals: Mutex<Totals>,
}

struct Inputs<I> {
    inputs: I,
    /// Bundles that were taken.
    taken: u64,
}

/// Scans all inputs on up to `job.threads` threads.
pub(super) fn scan(
    job: &Job<'_>,
    inputs: impl Iterator<Item = Result<Input, Failure>> + Send,
    order: Order,
    output: &Output,
    progress: &Arc<Progress>,
) -> Result<Totals, Failure> {
    let pool = Pool {
        job,
        output,
        progress,
        order,
        inputs: Mutex::new(Inputs { inputs, taken: 0 }),
        turns: Turns::new(output, progress),
        threads: AtomicUsize::new(1),
        most_threads: job.threads.min(parallel::most_threads(job.matcher)),
        totals: Mutex::default(),
    };
    thread::scope(|scope| pool.work(scope));
    match pool.turns.failure() {
        Some(failure) => Err(failure),
        None => Ok(pool.totals.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}

impl<I: Iterator<Item = Result<Input, Failure>> + Send> Pool<'_, I> {
    /// What a thread does. A panic of it stops the others.
    fn work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let stop_all = StopOnPanic(&self.turns);
        let place = Place::new(&self.turns);
        let output = self.output.through(place.clone());
        let mut worker = Worker::new(self.job, output.clone(), self.progress, Some(place.clone()));
        let (mut bundle, mut size) = (Bundle::new(), 1);
        while let Some(number) = self.take(&mut bundle, size) {
            self.start_another(scope);
            let began = Instant::now();
            place.begin((self.order == Order::Path).then_some(number));
            if let Err(failure) = scan_bundle(&mut worker, &mut bundle, &place, &output) {
                self.turns.stop(Some(failure));
            }
            let short = began.elapsed() < SHORT_BUNDLE;
            size = if short { MOST_INPUTS.min(2 * size) } else { 1.max(size / 2) };
        }
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.merge(&worker.into_totals());
        std::mem::forget(stop_all);
    }

    /// Takes up to `size` inputs, and returns the number of the bundle.
    fn take(&self, bundle: &mut Bundle, size: usize) -> Option<u64> {
        let mut inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        if self.turns.is_over() {
            return None;
        }
        bundle.extend(inputs.inputs.by_ref().take(size));
        inputs.taken += 1;
        (!bundle.is_empty()).then_some(inputs.taken - 1)
    }

    /// Starts a thread if there may be more. Without another one this thread does all the work.
    fn start_another<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let one_more = |n| (n < self.most_threads).then_some(n + 1);
        if self.threads.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok() {
            let _ = thread::Builder::new().spawn_scoped(scope, || self.work(scope));
        }
    }
}

fn scan_bundle(
    worker: &mut Worker<'_>,
    bundle: &mut Bundle,
    place: &Place,
    output: &Output,
) -> Result<(), Failure> {
    for input in bundle.drain(..) {
        if !place.is_needed() {
            break;
        }
        match worker.scan(input) {
            Err(failure) if failure.is_of_input() => place.report(failure),
            done => done?,
        }
        if worker.has_enough() {
            place.found();
            break;
        }
    }
    output.flush()?;
    place.end(worker.has_enough()).map_err(Failure::Output)
}

/// Stops all threads when it is dropped by a panic.
struct StopOnPanic<'a>(&'a Turns);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        self.0.stop(None);
    }
}
