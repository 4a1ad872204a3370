//! Sinks: matches on their way to a callback, or to an array of the caller.

use crate::abi::{FYKE_MORE, FYKE_OK, FYKE_STOPPED, Match, OnMatches, Status};
use crate::error::Failure;
use fyke::{Batch, Sink, StreamMatch};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;

/// The maximum number of matches that a callback gets at once. Not measured: a guess.
const MOST: usize = 256;

impl From<StreamMatch> for Match {
    fn from(m: StreamMatch) -> Self {
        Match { id: m.pattern.0, start: m.start, end: m.end }
    }
}

/// Passes matches on to a function, many at once.
pub(crate) struct Delivery<F> {
    /// Returns whether to go on.
    call: F,
    /// Matches that it did not get yet.
    waiting: Vec<Match>,
    stopped: bool,
}

impl<F: FnMut(&[Match]) -> bool> Delivery<F> {
    pub(crate) fn new(call: F) -> Self {
        Self { call, waiting: Vec::new(), stopped: false }
    }

    fn push(&mut self, m: Match) -> ControlFlow<()> {
        if self.waiting.is_empty() {
            self.waiting.reserve(MOST);
        }
        self.waiting.push(m);
        if self.waiting.len() < MOST { ControlFlow::Continue(()) } else { self.flush() }
    }

    /// Passes on what is waiting.
    pub(crate) fn flush(&mut self) -> ControlFlow<()> {
        if self.waiting.is_empty() || self.stopped {
            return self.flow();
        }
        self.stopped = !(self.call)(&self.waiting);
        self.waiting.clear();
        self.flow()
    }

    fn flow(&self) -> ControlFlow<()> {
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Ends the call.
    pub(crate) fn finish(mut self) -> Status {
        match self.flush() {
            ControlFlow::Continue(()) => FYKE_OK,
            ControlFlow::Break(()) => FYKE_STOPPED,
        }
    }

    /// Passes on the matches of a batch, and keeps none back.
    pub(crate) fn pass(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.on_batch(batch)?;
        self.flush()
    }
}

impl<F: FnMut(&[Match]) -> bool> Sink for Delivery<F> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        batch.matches().try_for_each(|m| self.push(m.into()))
    }
}

/// The callback of the caller as a function.
///
/// # Safety
/// The callback may be called with `context` as long as the function is in use.
pub(crate) unsafe fn callback(
    on_matches: OnMatches,
    context: *mut c_void,
) -> Result<impl FnMut(&[Match]) -> bool, Failure> {
    let call = on_matches.ok_or_else(|| Failure::invalid("on_matches is NULL"))?;
    // SAFETY: the caller promises that it may be called; the matches are a slice's.
    Ok(move |matches: &[Match]| unsafe { call(matches.as_ptr(), matches.len(), context) } == 0)
}

/// Fills an array, and stops at the first match that has no place.
pub(crate) struct Fill<'a> {
    to: &'a mut [MaybeUninit<Match>],
    pub(crate) count: usize,
    is_over: bool,
}

impl<'a> Fill<'a> {
    pub(crate) fn new(to: &'a mut [MaybeUninit<Match>]) -> Self {
        Self { to, count: 0, is_over: false }
    }

    /// Whether all matches had a place.
    pub(crate) fn status(&self) -> Status {
        if self.is_over { FYKE_MORE } else { FYKE_OK }
    }
}

impl Sink for Fill<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        for m in batch.matches() {
            let Some(place) = self.to.get_mut(self.count) else {
                self.is_over = true;
                return ControlFlow::Break(());
            };
            place.write(m.into());
            self.count += 1;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke::Searcher;

    #[test]
    fn matches_are_passed_on_in_order_and_many_at_once() {
        let (mut calls, mut ends) = (Vec::new(), Vec::new());
        let mut to = Delivery::new(|found: &[Match]| {
            calls.push(found.len());
            ends.extend(found.iter().map(|m| m.end));
            true
        });
        let searcher = Searcher::new(["a"]).unwrap();
        assert!(searcher.scan_into([b'a'; MOST + 3], &mut to).is_continue());
        assert_eq!(to.finish(), FYKE_OK);
        assert_eq!(calls, [MOST, 3]);
        assert!(ends.into_iter().eq(1..=MOST as u64 + 3));
    }

    #[test]
    fn a_stop_is_the_last_call() {
        let mut calls = 0;
        let mut to = Delivery::new(|_: &[Match]| {
            calls += 1;
            false
        });
        let searcher = Searcher::new(["a"]).unwrap();
        assert!(searcher.scan_into([b'a'; 3 * MOST], &mut to).is_break());
        assert_eq!(to.finish(), FYKE_STOPPED);
        assert_eq!(calls, 1);
    }
}
