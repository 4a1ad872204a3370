//! Engines of fyke as contenders.

use std::ops::ControlFlow;
use std::sync::Arc;

use fyke::{BuildError, Searcher};
use fyke_core::{
    Batch, Block, Count, Fingerprint, Info, Matcher, Role, Scratch, Sink, StreamMatch,
};
use fyke_cpu::parallel::{self, Haystack};
use fyke_rivals::{
    Built, BuiltSets, CallJob, Caller, Job, Memory, Refusal, Rival, Scanner, Tally, Work,
};

use super::caller;
use super::sets::{GroupedSets, SearcherSets};

/// The order in which an engine's matches reach the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The matcher is called directly.
    AsFound,
    /// By end, then start, then id: [`Searcher::scan`] sorts.
    Sorted,
    /// The same for each call of many: [`GroupSearcher::scan_batch`](fyke::GroupSearcher::scan_batch)
    /// sorts.
    Grouped,
}

/// An engine of the registry, with its options.
pub(super) struct EngineRival {
    spec: String,
    info: &'static Info,
    order: Order,
}

impl EngineRival {
    pub(super) fn new(spec: &str, info: &'static Info, order: Order) -> Self {
        Self { spec: spec.into(), info, order }
    }

    fn compile(&self, job: &Job<'_>) -> Result<Searcher, Refusal> {
        // Only a searcher that sorts scans with its own threads.
        let threads = if self.order == Order::Sorted { job.threads } else { 1 };
        let builder = Searcher::builder().engine(&self.spec).threads(threads);
        let builder = builder.memory_limit(job.memory_limit);
        let builder = match job.expected_call {
            Some(bytes) => builder.expected_call(bytes),
            None => builder,
        };
        builder.build(job.set).map_err(|e| refuse_build(&e))
    }
}

impl Rival for EngineRival {
    fn name(&self) -> &'static str {
        self.info.name
    }

    fn about(&self) -> &'static str {
        match self.order {
            Order::AsFound => self.info.about,
            Order::Sorted => "the same engine through Searcher::scan, which sorts its matches",
            Order::Grouped => {
                "the same engine through GroupSearcher::scan_batch, with all calls at once"
            }
        }
    }

    fn version(&self) -> Result<String, Refusal> {
        let engine = fyke::registry::find(self.info.name).map_err(refuse)?;
        engine.available().map_err(refuse)?;
        Ok(env!("CARGO_PKG_VERSION").to_string())
    }

    fn build(&self, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        Ok(Box::new(CompiledEngine::with_searcher(self.compile(job)?, self.order)))
    }

    fn finds_all(&self) -> bool {
        self.order != Order::Grouped
    }

    fn build_sets(&self, jobs: &[Job<'_>]) -> Result<Box<dyn BuiltSets>, Refusal> {
        if self.order == Order::Grouped {
            return Ok(Box::new(GroupedSets::build(&self.spec, jobs)?));
        }
        let searchers = jobs.iter().map(|job| self.compile(job)).collect::<Result<_, _>>()?;
        Ok(Box::new(SearcherSets { searchers, order: self.order }))
    }

    fn caller(&self, job: &CallJob<'_>) -> Option<Result<Box<dyn Caller>, Refusal>> {
        // The order of matches that do not overlap is given.
        (self.order == Order::AsFound).then(|| caller::build(&self.spec, job))
    }
}

pub(super) fn refuse_build(error: &BuildError) -> Refusal {
    match error.refusal() {
        Some(refusal) => refuse(refusal.clone()),
        None => Refusal(error.to_string()),
    }
}

fn refuse(refusal: fyke_core::Refusal) -> Refusal {
    Refusal(refusal.to_string())
}

/// A pattern set that an engine of fyke compiled.
pub struct CompiledEngine {
    /// The matchers that threads share; at least one.
    copies: Vec<Arc<dyn Matcher>>,
    /// The searcher of the only copy, for what a matcher cannot do: many haystacks in one call,
    /// and sorting.
    searcher: Option<Searcher>,
    order: Order,
}

impl CompiledEngine {
    /// One matcher for all threads.
    pub fn new(matcher: Arc<dyn Matcher>) -> Self {
        Self::each(vec![matcher])
    }

    /// A searcher and its matcher.
    pub fn with_searcher(searcher: Searcher, order: Order) -> Self {
        let copies = vec![Arc::clone(searcher.matcher())];
        Self { copies, searcher: Some(searcher), order }
    }

    /// A matcher for each thread. The list is not empty.
    pub fn each(copies: Vec<Arc<dyn Matcher>>) -> Self {
        assert!(!copies.is_empty(), "at least one matcher");
        Self { copies, searcher: None, order: Order::AsFound }
    }

    /// The matcher of a single thread.
    pub fn matcher(&self) -> &dyn Matcher {
        &*self.copies[0]
    }

    /// The searcher, if matches are to be sorted.
    fn sorting(&self) -> Option<&Searcher> {
        self.searcher.as_ref().filter(|_| self.order == Order::Sorted)
    }

    fn fold<S: Tallied + Send>(&self, haystack: &[u8], threads: usize) -> Result<Tally, Refusal> {
        let copies: Vec<&dyn Matcher> = self.copies.iter().map(|m| &**m).collect();
        let sinks = parallel::fold_each(&copies, Haystack::Slice(haystack), threads, S::default);
        let sinks = sinks.map_err(|e| Refusal(e.to_string()))?;
        Ok(sinks.iter().map(Tallied::tally).fold(Tally::default(), Tally::plus))
    }
}

impl Built for CompiledEngine {
    fn scanner(&self) -> Result<Box<dyn Scanner + '_>, Refusal> {
        Ok(Box::new(EngineScanner { compiled: self, scratch: Scratch::new() }))
    }

    fn memory(&self) -> Option<Memory> {
        let footprint = self.matcher().footprint();
        Some(Memory { bytes: footprint.host + footprint.device, from: "footprint()" })
    }

    fn taken(&self) -> Option<String> {
        Some(engines_of(self.matcher()).join("+"))
    }

    fn scan_threads(
        &self,
        haystack: &[u8],
        _overlap: usize,
        threads: usize,
        work: Work,
    ) -> Result<Tally, Refusal> {
        if let Some(searcher) = self.sorting() {
            return Ok(sorted(searcher, haystack, work));
        }
        match work {
            Work::Count => self.fold::<Count>(haystack, threads),
            Work::Touch => self.fold::<Touch>(haystack, threads),
            Work::Fingerprint => self.fold::<Fingerprint>(haystack, threads),
        }
    }
}

/// The engines that scan for a matcher: itself, or those that `auto` chose.
pub fn engines_of(matcher: &dyn Matcher) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in matcher.parts().iter().filter(|part| part.role == Role::Scan) {
        if !names.iter().any(|name| name == part.engine) {
            names.push(part.engine.into());
        }
    }
    names
}

struct EngineScanner<'a> {
    compiled: &'a CompiledEngine,
    scratch: Scratch,
}

impl EngineScanner<'_> {
    fn run<S: Tallied>(&mut self, block: Block<'_>) -> Tally {
        let mut sink = S::default();
        // No sink here ever breaks.
        let _ = self.compiled.matcher().scan(block, &mut self.scratch, &mut sink);
        sink.tally()
    }
}

impl Scanner for EngineScanner<'_> {
    fn scan(&mut self, block: Block<'_>, work: Work) -> Result<Tally, Refusal> {
        if let Some(searcher) = self.compiled.sorting() {
            if block.overlap > 0 || block.offset > 0 {
                return Err(Refusal("Searcher::scan takes whole haystacks".into()));
            }
            return Ok(sorted(searcher, block.bytes, work));
        }
        Ok(match work {
            Work::Count => self.run::<Count>(block),
            Work::Touch => self.run::<Touch>(block),
            Work::Fingerprint => self.run::<Fingerprint>(block),
        })
    }

    fn scan_each(&mut self, haystacks: &[&[u8]], work: Work) -> Result<Tally, Refusal> {
        let Some(searcher) = &self.compiled.searcher else {
            let mut blocks = haystacks.iter().map(|h| Block::whole(h));
            return blocks.try_fold(Tally::default(), |t, b| Ok(t.plus(self.scan(b, work)?)));
        };
        Ok(match work {
            Work::Count => batch::<Count>(searcher, haystacks),
            Work::Touch => batch::<Touch>(searcher, haystacks),
            Work::Fingerprint => batch::<InOrder>(searcher, haystacks),
        })
    }
}

/// Scans a haystack through the front door of the library.
fn sorted(searcher: &Searcher, haystack: &[u8], work: Work) -> Tally {
    fn run<S: Tallied>(searcher: &Searcher, haystack: &[u8]) -> Tally {
        let mut sink = S::default();
        let _ = searcher.scan_into(haystack, &mut sink);
        sink.tally()
    }
    match work {
        Work::Count => run::<Count>(searcher, haystack),
        Work::Touch => run::<Touch>(searcher, haystack),
        Work::Fingerprint => run::<InOrder>(searcher, haystack),
    }
}

/// Scans many haystacks in one call, which gives the matches of each in order.
fn batch<S: Tallied>(searcher: &Searcher, haystacks: &[&[u8]]) -> Tally {
    let (mut sink, mut current) = (S::default(), 0);
    let _ = searcher.scan_batch(haystacks, |haystack, batch| {
        if haystack != std::mem::replace(&mut current, haystack) {
            sink.next_haystack();
        }
        sink.on_batch(batch)
    });
    sink.tally()
}

/// A sink that ends in a tally.
pub(super) trait Tallied: Sink + Default {
    fn tally(&self) -> Tally;

    /// What follows is from another haystack.
    fn next_haystack(&mut self) {}
}

impl Tallied for Count {
    fn tally(&self) -> Tally {
        Tally { count: self.matches, ..Tally::default() }
    }
}

impl Tallied for Fingerprint {
    fn tally(&self) -> Tally {
        Tally { count: self.matches, sum: self.sum, ..Tally::default() }
    }
}

/// Reads the end and the pattern of each match, as [`Work::Touch`] asks.
#[derive(Default)]
pub(super) struct Touch(Tally);

impl Sink for Touch {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        for &record in batch.records {
            let word = batch.end(record) ^ (u64::from(record.pattern) << 32);
            self.0.sum = self.0.sum.wrapping_add(word);
        }
        self.0.count += batch.records.len() as u64;
        ControlFlow::Continue(())
    }
}

impl Tallied for Touch {
    fn tally(&self) -> Tally {
        self.0
    }
}

/// A fingerprint of matches that have to come in canonical order.
#[derive(Default)]
pub(super) struct InOrder {
    fingerprint: Fingerprint,
    last: Option<StreamMatch>,
    out_of_order: u64,
}

impl Sink for InOrder {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        for found in batch.matches() {
            self.out_of_order += u64::from(self.last.is_some_and(|last| last >= found));
            self.last = Some(found);
        }
        self.fingerprint.on_batch(batch)
    }
}

impl Tallied for InOrder {
    fn tally(&self) -> Tally {
        Tally { out_of_order: self.out_of_order, ..self.fingerprint.tally() }
    }

    fn next_haystack(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::{PatternSet, Record};

    #[test]
    fn the_engines_that_auto_chose_are_engines_of_the_registry() {
        let words = (0..300_u32).map(|i| format!("word{i}"));
        let set = PatternSet::new(words.chain(["a".into(), "zq".into()])).unwrap();
        for spec in ["auto", "ac-dfa", "ac-nfa"] {
            let matcher = fyke::registry::compile(spec, &set, None).unwrap();
            let names = engines_of(&*matcher);
            assert!(!names.is_empty(), "{spec}");
            for name in names {
                assert!(name != "auto" && fyke::registry::find(&name).is_ok(), "{spec}: {name}");
            }
        }
    }

    #[test]
    fn matches_out_of_order_are_counted() {
        let set = PatternSet::new(["a", "b"]).unwrap();
        let tally = |ends: [u32; 3]| {
            let mut sink = InOrder::default();
            let records = ends.map(|end| Record { end, pattern: 0 });
            let records = &records[..];
            let batch = Batch { base: 0, records, ordered: true, single: false, set: &set };
            let _ = sink.on_batch(&batch);
            sink.tally()
        };
        assert_eq!((tally([1, 2, 3]).out_of_order, tally([1, 3, 2]).out_of_order), (0, 1));
        assert_eq!(tally([1, 2, 3]).sum, tally([3, 2, 1]).sum);
        assert_ne!(tally([1, 2, 3]), tally([3, 2, 1]), "so verification fails");
    }
}
