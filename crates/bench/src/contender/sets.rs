//! Several sets that engines of fyke compiled, one of which each call scans with.

use fyke::Searcher;
use fyke_core::{Block, Count, Fingerprint, Scratch};
use fyke_rivals::{BuiltSets, Memory, Refusal, SetCall, SetsScanner, Tally, Work};

use super::engine::{InOrder, Order, Tallied, Touch, engines_of};

/// A searcher for each set.
pub(super) struct SearcherSets {
    pub(super) searchers: Vec<Searcher>,
    pub(super) order: Order,
}

impl BuiltSets for SearcherSets {
    fn scanner(&self) -> Result<Box<dyn SetsScanner + '_>, Refusal> {
        Ok(Box::new(SearchersScanner { sets: self, scratch: Scratch::new() }))
    }

    fn memory(&self) -> Option<Memory> {
        let footprints = self.searchers.iter().map(|s| s.matcher().footprint());
        Some(Memory { bytes: footprints.map(|f| f.host + f.device).sum(), from: "footprint()" })
    }

    fn taken(&self) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.searchers.iter().flat_map(|s| engines_of(&**s.matcher())) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Some(names.join("+"))
    }
}

struct SearchersScanner<'a> {
    sets: &'a SearcherSets,
    /// Serves all sets, as the documentation of [`Scratch`] recommends.
    scratch: Scratch,
}

impl SearchersScanner<'_> {
    /// Calls the matchers directly.
    fn as_found<S: Tallied>(&mut self, calls: &[SetCall<'_>]) -> Tally {
        let mut sink = S::default();
        for call in calls {
            let matcher = self.sets.searchers[call.set].matcher();
            // No sink here ever breaks.
            let _ = matcher.scan(Block::whole(call.haystack), &mut self.scratch, &mut sink);
        }
        sink.tally()
    }

    /// Calls the searchers, which sort.
    fn sorted<S: Tallied>(&self, calls: &[SetCall<'_>]) -> Tally {
        let mut sink = S::default();
        for call in calls {
            sink.next_haystack();
            let _ = self.sets.searchers[call.set].scan_into(call.haystack, &mut sink);
        }
        sink.tally()
    }
}

impl SetsScanner for SearchersScanner<'_> {
    fn scan_calls(&mut self, calls: &[SetCall<'_>], work: Work) -> Result<Tally, Refusal> {
        Ok(match (self.sets.order, work) {
            (Order::AsFound, Work::Count) => self.as_found::<Count>(calls),
            (Order::AsFound, Work::Touch) => self.as_found::<Touch>(calls),
            (Order::AsFound, Work::Fingerprint) => self.as_found::<Fingerprint>(calls),
            (Order::Sorted, Work::Count) => self.sorted::<Count>(calls),
            (Order::Sorted, Work::Touch) => self.sorted::<Touch>(calls),
            (Order::Sorted, Work::Fingerprint) => self.sorted::<InOrder>(calls),
        })
    }
}
