//! The order of the output while several threads scan files: each writes when it is its turn.
//!
//! Threads scan bundles of files. A bundle has a turn: that of its first file in the walk, or, if
//! the order of files does not matter, one that it gets when it needs it. Until then its output and
//! messages are held. What separates files is written between the outputs of bundles, because only
//! the bundle whose turn it is knows whether there is output before its own. A thread that holds
//! too much waits for its turn and then writes at once, so that memory is bounded. The bundle whose
//! turn it is never waits, so there is no deadlock.

use super::FLUSH_AFTER;
use super::failure::Failure;
use super::interrupt;
use super::output::Output;
use super::progress::Progress;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The maximum number of bytes of output that a bundle holds: with more, it waits for its turn.
const MOST_OF_BUNDLE: usize = 1 << 20;

/// The maximum number of bytes of output, and of bundles, that wait for their turn.
const MOST_WAITING_BYTES: usize = 8 << 20;
const MOST_WAITING: usize = 1 << 10;

/// The maximum number of buffers that are kept for later bundles: one may be as large as a bundle's
/// output.
const MOST_SPARE: usize = 16;

/// What the threads of a scan share: standard output, and whose turn it is.
pub(super) struct Turns {
    output: Output,
    progress: Arc<Progress>,
    state: Mutex<State>,
    turned: Condvar,
    /// The last bundle that is needed: that of the first match, if that is enough.
    last_needed: AtomicU64,
    /// What stands between the outputs of two bundles.
    separator: &'static [u8],
    /// Whether there is output of an earlier bundle. Set by the bundle whose turn it is.
    any: AtomicBool,
}

struct State {
    /// The bundle whose turn it is.
    next: u64,
    /// Turns given to bundles that had none.
    given: u64,
    /// Bundles that ended before their turn.
    ended: BTreeMap<u64, Ended>,
    /// Bytes of output of those bundles.
    waiting_bytes: usize,
    /// Empty buffers for later bundles.
    spare: Vec<Vec<u8>>,
    flushed: Instant,
    stopped: bool,
    failure: Option<Failure>,
}

#[derive(Default)]
struct Ended {
    /// Number of turns that it takes: one for each of its inputs.
    turns: u64,
    /// Whether output of it was written before.
    begun: bool,
    bytes: Vec<u8>,
    errors: Vec<Failure>,
    /// Whether the output ends here: there is a match, and one is enough.
    is_last: bool,
}

impl Turns {
    pub(super) fn new(
        output: &Output,
        progress: &Arc<Progress>,
        separator: &'static [u8],
    ) -> Arc<Self> {
        let state = State {
            next: 0,
            given: 0,
            ended: BTreeMap::new(),
            waiting_bytes: 0,
            spare: Vec::new(),
            flushed: Instant::now(),
            stopped: false,
            failure: None,
        };
        Arc::new(Turns {
            output: output.clone(),
            progress: progress.clone(),
            state: Mutex::new(state),
            turned: Condvar::new(),
            last_needed: AtomicU64::new(u64::MAX),
            separator,
            any: AtomicBool::new(false),
        })
    }

    /// Ends the scan on all threads, with the first failure that is given here.
    pub(super) fn stop(&self, failure: Option<Failure>) {
        let mut state = self.lock();
        if !state.stopped {
            state.failure = failure;
        }
        self.end(&mut state);
    }

    /// The failure that ended the scan.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.lock().failure.take()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.turned.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, state: &mut State) {
        state.stopped = true;
        self.last_needed.store(0, Ordering::Relaxed);
        self.turned.notify_all();
    }

    /// Whether no further bundle is needed.
    pub(super) fn is_over(&self) -> bool {
        !self.needs(u64::MAX)
    }

    /// Whether the bundle of this turn is needed.
    pub(super) fn needs(&self, turn: u64) -> bool {
        turn <= self.last_needed.load(Ordering::Relaxed)
    }

    /// Waits for the turn of a bundle and writes what it holds.
    fn enter(&self, held: &mut Held) -> io::Result<()> {
        if held.entered {
            return Ok(());
        }
        let mut state = self.lock();
        let turn = state.turn_of(held);
        while state.next != turn && !state.stopped {
            state = self.wait(state);
        }
        if state.stopped {
            return Err(stopped());
        }
        drop(state);
        held.entered = true;
        let written = self.write(&held.bytes, &mut held.begun, &mut held.errors);
        held.bytes.clear();
        written
    }

    /// Writes output of a bundle whose turn it is. `begun` says whether it wrote before.
    fn write(&self, bytes: &[u8], begun: &mut bool, errors: &mut Vec<Failure>) -> io::Result<()> {
        if interrupt::requested() {
            return Err(stopped());
        }
        if !bytes.is_empty() {
            let first = !mem::replace(begun, true);
            let separate = first && self.any.swap(true, Ordering::Relaxed);
            let separator = if separate { self.separator } else { b"" };
            self.output.lock().record(|to| {
                to.extend_from_slice(separator);
                to.extend_from_slice(bytes);
            })?;
        }
        errors.drain(..).for_each(|failure| self.progress.report(&failure));
        Ok(())
    }

    /// Writes the bundles that ended and whose turn it is.
    fn write_ended(&self, state: &mut State) -> io::Result<()> {
        while let Some(mut bundle) = state.ended.remove(&state.next) {
            self.write(&bundle.bytes, &mut bundle.begun, &mut bundle.errors)?;
            state.next += bundle.turns;
            state.waiting_bytes -= bundle.bytes.len();
            bundle.bytes.clear();
            if bundle.bytes.capacity() > 0 && state.spare.len() < MOST_SPARE {
                state.spare.push(bundle.bytes);
            }
            if bundle.is_last {
                self.end(state);
                return Ok(());
            }
        }
        if state.flushed.elapsed() > FLUSH_AFTER {
            state.flushed = Instant::now();
            self.output.lock().flush()?;
        }
        self.turned.notify_all();
        Ok(())
    }
}

impl State {
    fn is_full(&self) -> bool {
        self.waiting_bytes > MOST_WAITING_BYTES || self.ended.len() > MOST_WAITING
    }

    /// The turn of a bundle; a new one if it has none.
    fn turn_of(&mut self, held: &mut Held) -> u64 {
        *held.turn.get_or_insert_with(|| {
            self.given += 1;
            self.given - 1
        })
    }
}

/// The place of a thread among the others. The thread's output writes to it.
#[derive(Clone)]
pub(super) struct Place {
    turns: Arc<Turns>,
    held: Arc<Mutex<Held>>,
}

/// What a bundle holds until its turn.
#[derive(Default)]
struct Held {
    turn: Option<u64>,
    /// Whether the walk gave it that turn.
    is_ordered: bool,
    /// Whether it is its turn.
    entered: bool,
    /// Whether output of it was written.
    begun: bool,
    bytes: Vec<u8>,
    errors: Vec<Failure>,
}

impl Place {
    pub(super) fn new(turns: &Arc<Turns>) -> Self {
        Place { turns: turns.clone(), held: Arc::default() }
    }

    /// Begins a bundle. Without a turn it gets one when it needs or ends it.
    pub(super) fn begin(&self, turn: Option<u64>) {
        let mut held = self.held();
        (held.turn, held.is_ordered) = (turn, turn.is_some());
        (held.entered, held.begun) = (false, false);
    }

    /// Waits for the bundle's turn. What is written from now on is not held.
    pub(super) fn enter(&self) -> io::Result<()> {
        self.turns.enter(&mut self.held())?;
        self.turns.output.lock().flush()
    }

    /// Prints the failure of an input when it is the bundle's turn.
    pub(super) fn report(&self, failure: Failure) {
        let held = &mut *self.held();
        if held.entered { self.turns.progress.report(&failure) } else { held.errors.push(failure) }
    }

    /// Ends a bundle. `is_last` means that it has a match and that one match is enough.
    pub(super) fn end(&self, inputs: u64, is_last: bool) -> io::Result<()> {
        let held = &mut *self.held();
        let mut state = self.turns.lock();
        let turns = if held.is_ordered { inputs } else { 1 };
        let turn = state.turn_of(held);
        while state.is_full() && state.next != turn && !state.stopped {
            state = self.turns.wait(state);
        }
        if state.stopped {
            return Err(stopped());
        }
        let spare =
            if held.bytes.is_empty() { Vec::new() } else { state.spare.pop().unwrap_or_default() };
        let bytes = mem::replace(&mut held.bytes, spare);
        state.waiting_bytes += bytes.len();
        let (begun, errors) = (held.begun, mem::take(&mut held.errors));
        state.ended.insert(turn, Ended { turns, begun, bytes, errors, is_last });
        if state.next == turn { self.turns.write_ended(&mut state) } else { Ok(()) }
    }

    /// One match is enough and this bundle has it: later bundles are not needed.
    pub(super) fn found(&self) {
        let turn = self.held().turn.unwrap_or(0);
        self.turns.last_needed.fetch_min(turn, Ordering::Relaxed);
    }

    /// Whether this bundle is still needed.
    pub(super) fn is_needed(&self) -> bool {
        !self.turns.is_over() || self.held().turn.is_some_and(|turn| self.turns.needs(turn))
    }

    /// Shows the output of the bundle so far, if it is its turn.
    pub(super) fn show(&self) -> io::Result<()> {
        let held = &mut *self.held();
        let mine = held.entered || held.turn == Some(self.turns.lock().next);
        if !mine {
            return Ok(());
        }
        self.turns.enter(held)?;
        self.turns.output.lock().flush()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Place {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let held = &mut *self.held();
        if !held.entered && held.bytes.len() + bytes.len() <= MOST_OF_BUNDLE {
            held.bytes.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        self.turns.enter(held)?;
        let Held { begun, errors, .. } = held;
        self.turns.write(bytes, begun, errors)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let entered = self.held().entered;
        if entered { self.turns.output.lock().flush() } else { Ok(()) }
    }
}

/// Another thread ended the scan.
fn stopped() -> io::Error {
    io::Error::other("the scan was stopped")
}

/// Stops all threads when it is dropped by a panic of one.
pub(super) struct StopOnPanic<'a>(&'a Turns);

impl<'a> StopOnPanic<'a> {
    pub(super) fn new(turns: &'a Turns) -> Self {
        Self(turns)
    }

    /// Ends a thread that did not panic.
    pub(super) fn ends_well(self) {
        mem::forget(self);
    }
}

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        self.0.stop(None);
    }
}

#[cfg(test)]
mod tests;
