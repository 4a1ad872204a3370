//! An automaton that is compiled when it is first needed.
//!
//! Ski rental: it is compiled once the time wasted without it equals the time that compiling
//! takes. A background thread starts earlier, because the scan goes on meanwhile.
//!
//! Waste and price are counted in events of equal cost: candidates above the limit for the fallback
//! of a filter, and blocks with a candidate for the table that scans small blocks.
//!
//! Pieces with fewer candidates than the limit pay waste back. So a program whose haystacks are
//! hostile now and then compiles no fallback, however long it runs. Its average time is at most the
//! fallback's, but each hostile piece takes the filter's time.

use fyke_core::Matcher;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;

/// The background thread starts once `price / EARLY` is wasted. So a haystack with one hostile page
/// compiles nothing, and the automaton is ready only a little later than without this wait.
const EARLY: u64 = 8;

/// The maximum number of threads of the process that compile fallbacks. Beyond these, the scan
/// itself compiles.
const MOST_THREADS: usize = 2;

/// Compiles an automaton. `None` if that fails.
type Compile = dyn Fn() -> Option<Arc<dyn Matcher>> + Send + Sync;

/// An automaton that is compiled when it is first needed.
pub(super) struct Fallback {
    compile: Arc<Compile>,
    result: Arc<Compiled>,
    /// The cost of compiling, in the unit of `wasted`.
    price: u64,
    wasted: AtomicU64,
    background: bool,
    /// Whether a background thread was started for it.
    started: AtomicBool,
}

/// The outcome of compiling.
#[derive(Default)]
struct Compiled {
    /// `None` if compiling failed.
    matcher: OnceLock<Option<Arc<dyn Matcher>>>,
    /// The payload of a panic of the thread, for the next scan.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Fallback {
    /// An automaton that is compiled during a scan, once `price` is wasted.
    pub(super) fn new(
        price: u64,
        compile: impl Fn() -> Option<Arc<dyn Matcher>> + Send + Sync + 'static,
    ) -> Fallback {
        Fallback {
            compile: Arc::new(compile),
            result: Arc::default(),
            price,
            wasted: AtomicU64::new(0),
            background: false,
            started: AtomicBool::new(false),
        }
    }

    /// The same, compiled by a background thread. If no thread is available, a scan compiles it.
    pub(super) fn in_background(mut self) -> Fallback {
        self.background = true;
        self
    }

    /// The same, compiled during the scan that asks for it first.
    pub(super) fn at_once(self) -> Fallback {
        Fallback { price: 0, background: false, ..self }
    }

    /// What compiling costs, as it was given.
    pub(super) fn price(&self) -> u64 {
        self.price
    }

    /// The automaton, if it was compiled.
    pub(super) fn ready(&self) -> Option<&Arc<dyn Matcher>> {
        self.result.matcher.get()?.as_ref()
    }

    /// The automaton, if it was compiled. Otherwise adds to what was wasted without it, and
    /// compiles it once that pays.
    ///
    /// # Panics
    /// Compiling panicked, perhaps in the thread.
    pub(super) fn get(&self, wasted: u64) -> Option<&Arc<dyn Matcher>> {
        if let Some(matcher) = self.result.matcher.get() {
            self.result.raise();
            return matcher.as_ref();
        }
        let before = self.wasted.fetch_add(wasted, Ordering::Relaxed);
        let wasted = before.saturating_add(wasted);
        if self.background && wasted >= self.price / EARLY && self.start() {
            return None;
        }
        if wasted < self.price {
            return None;
        }
        self.result.matcher.get_or_init(|| (self.compile)()).as_ref()
    }

    /// Subtracts from what was wasted, down to 0. Only reads if nothing was.
    #[inline]
    pub(super) fn pay_back(&self, events: u64) {
        if self.wasted.load(Ordering::Relaxed) > 0 && self.result.matcher.get().is_none() {
            let less = |wasted: u64| Some(wasted.saturating_sub(events));
            let _ = self.wasted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
    }

    /// Starts the background thread, if that was not done. False if no thread is available.
    fn start(&self) -> bool {
        if self.started.load(Ordering::Relaxed) {
            return true;
        }
        let Some(permit) = ThreadPermit::take() else { return false };
        if self.started.swap(true, Ordering::Relaxed) {
            return true;
        }
        let (compile, to) = (Arc::clone(&self.compile), Arc::downgrade(&self.result));
        let work = move || {
            let _permit = permit;
            compile_for(&*compile, &to);
        };
        let thread = thread::Builder::new().name("fyke-fallback".to_owned()).spawn(work);
        self.started.store(thread.is_ok(), Ordering::Relaxed);
        thread.is_ok()
    }
}

/// Compiles, and stores the result unless the fallback was dropped meanwhile.
fn compile_for(compile: &Compile, to: &Weak<Compiled>) {
    let outcome = catch_unwind(AssertUnwindSafe(compile));
    let Some(result) = to.upgrade() else { return };
    let matcher = outcome.unwrap_or_else(|payload| {
        *result.payload() = Some(payload);
        None
    });
    // Fails if a scan has compiled it meanwhile.
    let _ = result.matcher.set(matcher);
}

impl Compiled {
    fn payload(&self) -> impl std::ops::DerefMut<Target = Option<Box<dyn Any + Send>>> {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Panics if the thread did, once.
    fn raise(&self) {
        if let Some(None) = self.matcher.get() {
            let payload = self.payload().take();
            if let Some(payload) = payload {
                resume_unwind(payload);
            }
        }
    }
}

/// The number of threads that compile.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// A permit to run one of the [`MOST_THREADS`] threads. Dropping it returns it.
struct ThreadPermit;

impl ThreadPermit {
    fn take() -> Option<ThreadPermit> {
        let more = |threads| (threads < MOST_THREADS).then_some(threads + 1);
        let taken = THREADS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.ok().map(|_| ThreadPermit)
    }
}

impl Drop for ThreadPermit {
    fn drop(&mut self) {
        THREADS.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
