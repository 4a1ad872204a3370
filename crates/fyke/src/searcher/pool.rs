//! [`CallState`]: what a call writes to. Each thread keeps a few for its next calls.
//!
//! Any matcher may use any scratch, so the states of a thread serve all searchers. Taking one needs
//! no atomic operation, and many small searchers share the memory. A call within another one, made
//! by a function that gets the matches, takes a second state.
//!
//! A searcher on a GPU keeps its own states. They hold device memory, which must not outlive it.

use crate::pack::{PackBuffer, PackScratch};
use fyke_core::{Driver, Match};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A state whose buffers take more bytes than this is dropped and not kept. Not measured: a guess,
/// a few times what words in text need.
const MOST_KEPT: usize = 4 << 20;

/// The same for a searcher on a GPU, whose packs are larger: enough to count the matches of packets
/// of 53 bytes (`fyke bench gpu -f packets`).
const MOST_KEPT_ON_GPU: usize = 64 << 20;

/// The maximum number of states that a thread keeps, for calls within calls.
const MOST_STATES: usize = 4;

/// States that no call uses.
#[allow(clippy::vec_box, reason = "every call moves one in and out: a box is cheaper to move")]
type IdleStates = Vec<Box<CallState>>;

thread_local! {
    static IDLE: RefCell<IdleStates> = const { RefCell::new(Vec::new()) };
}

/// What one call writes to.
#[derive(Default)]
pub(crate) struct CallState {
    pub(crate) driver: Driver,
    /// The matches that an iterator found last.
    pub(crate) found: Vec<Match>,
    pub(crate) pack: PackBuffer,
    pub(crate) pack_scratch: PackScratch,
}

/// The idle states of a searcher on a GPU.
#[derive(Default)]
pub(crate) struct OwnStates(Mutex<IdleStates>);

/// A state for one call. When the lease is dropped, the state goes back to where it came from. A
/// large state is discarded. So is any state during a panic, because its scan did not finish.
pub(crate) struct Lease<'a> {
    state: Option<Box<CallState>>,
    own: Option<&'a OwnStates>,
}

impl OwnStates {
    fn lock(&self) -> MutexGuard<'_, IdleStates> {
        // A panic leaves the list whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes an idle state, of `own` if it is given, else of this thread. If none is idle, makes one.
#[inline]
pub(crate) fn lease(own: Option<&OwnStates>) -> Lease<'_> {
    let idle = match own {
        Some(own) => own.lock().pop(),
        // While a thread ends, its states may be gone already.
        None => IDLE.try_with(|idle| idle.borrow_mut().pop()).ok().flatten(),
    };
    Lease { state: Some(idle.unwrap_or_default()), own }
}

impl CallState {
    /// Bytes of the buffers that grow with the number of matches or haystacks.
    fn memory(&self) -> usize {
        let found = self.found.capacity() * size_of::<Match>();
        self.driver.memory() + found + self.pack.memory() + self.pack_scratch.memory()
    }
}

impl Deref for Lease<'_> {
    type Target = CallState;

    #[inline]
    fn deref(&self) -> &CallState {
        self.state.as_ref().expect("present until it is dropped")
    }
}

impl DerefMut for Lease<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut CallState {
        self.state.as_mut().expect("present until it is dropped")
    }
}

impl Drop for Lease<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            give_back(state, self.own);
        }
    }
}

/// Keeps a state for the next call, unless it is large or this thread panics. Not inlined: an
/// iterator that leased nothing would carry it.
#[inline(never)]
fn give_back(state: Box<CallState>, own: Option<&OwnStates>) {
    let most = if own.is_some() { MOST_KEPT_ON_GPU } else { MOST_KEPT };
    if std::thread::panicking() || state.memory() > most {
        return;
    }
    if let Some(own) = own {
        return own.lock().push(state);
    }
    let _ = IDLE.try_with(|idle| {
        let mut idle = idle.borrow_mut();
        if idle.len() < MOST_STATES {
            idle.push(state);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_a_state_for_the_next_call() {
        let address = |lease: &Lease<'_>| &raw const **lease;
        let first = lease(None);
        let at = address(&first);
        drop(first);
        let mut again = lease(None);
        assert_eq!(at, address(&again));
        again.found.reserve(MOST_KEPT);
        drop(again);
        assert_eq!(lease(None).found.capacity(), 0, "too large to be kept");
    }

    #[test]
    fn a_panic_leaves_no_state_behind() {
        drop(lease(None));
        let panicked = std::panic::catch_unwind(|| {
            let _lease = lease(None);
            panic!("in a sink");
        });
        assert!(panicked.is_err());
        IDLE.with(|idle| assert!(idle.borrow().is_empty()));
    }
}
