//! Several sets that engines of fyke compiled, one of which each call scans with.

use fyke::{GroupSearcher, Searcher};
use fyke_core::{Block, Count, Fingerprint, PatternSet, Scratch};
use fyke_rivals::{BuiltSets, Job, Memory, Refusal, SetCall, SetsScanner, Tally, Work};

use super::engine::{InOrder, Order, Tallied, Touch, engines_of, refuse_build};

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

/// One searcher for all sets.
pub(super) struct GroupedSets(GroupSearcher);

impl GroupedSets {
    pub(super) fn build(spec: &str, jobs: &[Job<'_>]) -> Result<Self, Refusal> {
        let sets: Vec<PatternSet> = jobs.iter().map(|job| job.set.clone()).collect();
        let limit = jobs.iter().map(|job| job.memory_limit).min().unwrap_or(0);
        let builder = Searcher::builder().engine(spec).memory_limit(limit);
        builder.build_groups(&sets).map(Self).map_err(|e| refuse_build(&e))
    }

    fn scan<S: Tallied>(&self, calls: &[SetCall<'_>]) -> Tally {
        let (mut sink, mut current) = (S::default(), None);
        let calls = calls.iter().map(|call| (call.set, call.haystack));
        let _ = self.0.scan_batch(calls, |call, batch| {
            if current.replace(call) != Some(call) {
                sink.next_haystack();
            }
            sink.on_batch(batch)
        });
        sink.tally()
    }
}

impl BuiltSets for GroupedSets {
    fn scanner(&self) -> Result<Box<dyn SetsScanner + '_>, Refusal> {
        Ok(Box::new(GroupsScanner(self)))
    }

    fn memory(&self) -> Option<Memory> {
        let footprint = self.0.footprint();
        Some(Memory { bytes: footprint.host + footprint.device, from: "footprint()" })
    }
}

struct GroupsScanner<'a>(&'a GroupedSets);

impl SetsScanner for GroupsScanner<'_> {
    fn scan_calls(&mut self, calls: &[SetCall<'_>], work: Work) -> Result<Tally, Refusal> {
        Ok(match work {
            Work::Count => self.0.scan::<Count>(calls),
            Work::Touch => self.0.scan::<Touch>(calls),
            Work::Fingerprint => self.0.scan::<InOrder>(calls),
        })
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
            (_, Work::Count) => self.sorted::<Count>(calls),
            (_, Work::Touch) => self.sorted::<Touch>(calls),
            (_, Work::Fingerprint) => self.sorted::<InOrder>(calls),
        })
    }
}
