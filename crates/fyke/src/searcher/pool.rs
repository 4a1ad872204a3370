//! [`CallState`]: what a call writes to. Each thread keeps a few for its next calls.
//!
//! Any matcher may use any scratch, so the states of a thread serve all searchers: taking one needs
//! no atomic operation, and many small searchers share the memory. A call within another one, from
//! a function that gets the matches, takes a second state.

use crate::pack::{PackBuffer, PackScratch};
use fyke_core::{Driver, Match};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// A state whose buffers take more bytes than this is dropped and not kept. Not measured: a guess,
/// a few times what words in text need.
const MOST_KEPT: usize = 4 << 20;

/// Most states that a thread keeps, for calls within calls.
const MOST_STATES: usize = 4;

thread_local! {
    // A box, because a state is moved in and out by every call.
    #[allow(clippy::vec_box, reason = "moving a box is cheaper than moving a state")]
    static IDLE: RefCell<Vec<Box<CallState>>> = const { RefCell::new(Vec::new()) };
}

/// What one call writes to.
#[derive(Default)]
pub(crate) struct CallState {
    pub(crate) driver: Driver,
    /// The matches of the piece that an iterator scanned last.
    pub(crate) found: Vec<Match>,
    pub(crate) pack: PackBuffer,
    pub(crate) pack_scratch: PackScratch,
}

/// A state for one call. When it is dropped, the thread gets the state back. After a panic it does
/// not: the state may be in the middle of a haystack.
pub(crate) struct Lease(Option<Box<CallState>>);

/// Takes a state from this thread, or makes one.
#[inline]
pub(crate) fn lease() -> Lease {
    // While a thread ends, its states may be gone already.
    let idle = IDLE.try_with(|idle| idle.borrow_mut().pop()).ok().flatten();
    Lease(Some(idle.unwrap_or_default()))
}

impl CallState {
    /// Bytes of the buffers that grow with the number of matches or haystacks.
    fn memory(&self) -> usize {
        let found = self.found.capacity() * size_of::<Match>();
        self.driver.memory() + found + self.pack.memory() + self.pack_scratch.memory()
    }
}

impl Deref for Lease {
    type Target = CallState;

    #[inline]
    fn deref(&self) -> &CallState {
        self.0.as_ref().expect("present until it is dropped")
    }
}

impl DerefMut for Lease {
    #[inline]
    fn deref_mut(&mut self) -> &mut CallState {
        self.0.as_mut().expect("present until it is dropped")
    }
}

impl Drop for Lease {
    #[inline]
    fn drop(&mut self) {
        let Some(state) = self.0.take() else { return };
        if std::thread::panicking() || state.memory() > MOST_KEPT {
            return;
        }
        let _ = IDLE.try_with(|idle| {
            let mut idle = idle.borrow_mut();
            if idle.len() < MOST_STATES {
                idle.push(state);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_a_state_for_the_next_call() {
        let address = |lease: &Lease| &raw const **lease;
        let first = lease();
        let at = address(&first);
        drop(first);
        let mut again = lease();
        assert_eq!(at, address(&again));
        again.found.reserve(MOST_KEPT);
        drop(again);
        assert_eq!(lease().found.capacity(), 0, "too large to be kept");
    }

    #[test]
    fn a_panic_leaves_no_state_behind() {
        drop(lease());
        let panicked = std::panic::catch_unwind(|| {
            let _lease = lease();
            panic!("in a sink");
        });
        assert!(panicked.is_err());
        IDLE.with(|idle| assert!(idle.borrow().is_empty()));
    }
}
