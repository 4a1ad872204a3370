//! The rest of the matcher contract: a scan stops when its sink breaks, and reports its memory.

use super::{Run, place::repeat};
use fyke_core::{Batch, Block, Scratch, Sink};
use std::ops::ControlFlow;

/// Breaks at a given batch and counts its calls.
struct Stopper {
    calls: usize,
    stop_at: usize,
}

impl Sink for Stopper {
    fn on_batch(&mut self, _: &Batch<'_>) -> ControlFlow<()> {
        self.calls += 1;
        if self.calls >= self.stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A sink that breaks is not called again, and the scan returns the break. The haystack is
/// repeated so that its matches fill several batches.
pub(super) fn stopped(run: &Run<'_>) -> Result<(), String> {
    let haystack = repeat(run).map_or_else(|| run.haystack().to_vec(), |(haystack, _)| haystack);
    for stop_at in [1, 2] {
        let mut sink = Stopper { calls: 0, stop_at };
        let flow = run.matcher.scan(Block::whole(&haystack), &mut Scratch::new(), &mut sink);
        if sink.calls > stop_at {
            return Err(format!("{} calls of a sink that breaks at call {stop_at}", sink.calls));
        }
        if flow.is_break() != (sink.calls == stop_at) {
            return Err(format!("returns {flow:?} after {} calls, break at {stop_at}", sink.calls));
        }
    }
    Ok(())
}

/// A matcher that holds patterns reports a footprint.
pub(super) fn footprint(run: &Run<'_>) -> Result<(), String> {
    let f = run.matcher.footprint();
    let claims_nothing = f.host + f.device == 0 && !run.case.set.is_empty();
    if claims_nothing { Err("reports no memory".into()) } else { Ok(()) }
}
