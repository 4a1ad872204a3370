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
use super::turns::{Place, StopOnPanic, Turns};
use super::worker::Worker;
use fyke_cpu::parallel;
use fyke_io::source::walk::Order;
use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

/// A bundle that took less time is followed by one of twice as many inputs. This is long compared
/// with the time to wake a thread. Not measured: a guess.
const SHORT_BUNDLE: Duration = Duration::from_micros(500);

/// A bundle that takes longer is given back, so that other threads can take the rest. Not
/// measured: a guess.
const LONG_BUNDLE: Duration = Duration::from_millis(5);

/// After inputs of fewer bytes the clock is not read.
const LONG_INPUT: u64 = 64 << 10;

/// The maximum number of inputs of a bundle.
const MOST_INPUTS: usize = 64;

/// Inputs that follow each other in the walk.
#[derive(Default)]
struct Bundle {
    /// The place of the first one in the walk.
    start: u64,
    inputs: VecDeque<Result<Input, Failure>>,
}

/// What the threads share.
struct Pool<'a, I> {
    job: &'a Job<'a>,
    output: &'a Output,
    progress: &'a Progress,
    order: Order,
    inputs: Mutex<Inputs<I>>,
    turns: Arc<Turns>,
    /// Threads that run, and the most that may.
    threads: AtomicUsize,
    most_threads: usize,
    totals: Mutex<Totals>,
}

struct Inputs<I> {
    walk: I,
    /// Inputs that were taken from the walk.
    taken: u64,
    /// Bundles that were given back. They come before the rest of the walk.
    returned: BTreeMap<u64, Bundle>,
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
        inputs: Mutex::new(Inputs { walk: inputs, taken: 0, returned: BTreeMap::new() }),
        turns: Turns::new(output, progress, job.file_separator()),
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
        let stop_all = StopOnPanic::new(&self.turns);
        let place = Place::new(&self.turns);
        let output = self.output.through(place.clone());
        let mut worker = Worker::new(self.job, output.clone(), self.progress, Some(place.clone()));
        let (mut bundle, mut size) = (Bundle::default(), 1);
        while self.take(&mut bundle, size) {
            self.start_another(scope);
            let began = Instant::now();
            worker.restart_output();
            place.begin((self.order == Order::Path).then_some(bundle.start));
            if let Err(failure) = self.scan_bundle(&mut worker, &mut bundle, &place, &output) {
                self.turns.stop(Some(failure));
            }
            let short = began.elapsed() < SHORT_BUNDLE;
            size = if short { MOST_INPUTS.min(2 * size) } else { 1.max(size / 2) };
        }
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.merge(&worker.into_totals());
        self.threads.fetch_sub(1, Ordering::Relaxed);
        stop_all.ends_well();
    }

    /// Takes up to `size` inputs. Returns false if there are none, or no more are needed.
    fn take(&self, bundle: &mut Bundle, size: usize) -> bool {
        bundle.inputs.clear();
        let mut inputs = self.inputs();
        if let Some(returned) = inputs.returned.first_entry() {
            *bundle = returned.remove();
            if size < bundle.inputs.len() {
                let rest = bundle.inputs.split_off(size);
                let start = bundle.start + size as u64;
                inputs.returned.insert(start, Bundle { start, inputs: rest });
            }
            return self.turns.needs(bundle.start);
        }
        if self.turns.is_over() {
            return false;
        }
        bundle.start = inputs.taken;
        bundle.inputs.extend(inputs.walk.by_ref().take(size));
        inputs.taken += bundle.inputs.len() as u64;
        !bundle.inputs.is_empty()
    }

    fn inputs(&self) -> MutexGuard<'_, Inputs<I>> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Scans the inputs of a bundle. If that takes long, gives back those that are left.
    fn scan_bundle(
        &self,
        worker: &mut Worker<'_>,
        bundle: &mut Bundle,
        place: &Place,
        output: &Output,
    ) -> Result<(), Failure> {
        let (began, mut scanned) = (Instant::now(), 0);
        while let Some(input) = bundle.inputs.pop_front() {
            if !place.is_needed() {
                break;
            }
            scanned += 1;
            match worker.scan(input) {
                Err(failure) if failure.is_of_input() => place.report(failure),
                done => done?,
            }
            if worker.has_enough() {
                place.found();
                break;
            }
            if worker.last_bytes() >= LONG_INPUT && began.elapsed() > LONG_BUNDLE {
                self.give_back(bundle.start + scanned, mem::take(&mut bundle.inputs));
            }
        }
        output.flush()?;
        place.end(scanned, worker.has_enough()).map_err(Failure::Output)
    }

    /// Gives inputs back. This thread asks for more soon after, so someone takes them even if all
    /// other threads wait for the turn of these inputs.
    fn give_back(&self, start: u64, inputs: VecDeque<Result<Input, Failure>>) {
        if !inputs.is_empty() {
            self.inputs().returned.insert(start, Bundle { start, inputs });
        }
    }

    /// Starts a thread if there may be more: a thread ends where there are no inputs to take, but
    /// another may give some back. If the system starts no thread, this one does all the work.
    fn start_another<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let one_more = |n| (n < self.most_threads).then_some(n + 1);
        if self.threads.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok() {
            let _ = thread::Builder::new().spawn_scoped(scope, || self.work(scope));
        }
    }
}
