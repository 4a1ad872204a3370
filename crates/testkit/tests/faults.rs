//! Does the kit see what it is there to see? Engines with a known fault each, and one that is right but
//! delivers in no order, run over the vectors. A check that lets its fault pass is no check.

use fyke_core::{
    Block, Device, Emitter, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet,
    Refusal, Scratch, Sink, Sorter, oracle,
};
use fyke_testkit::conformance::check_case;
use fyke_testkit::expand::WAYS;
use fyke_testkit::{Subject, Suite, vectors};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What is wrong with an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Nothing; but matches come last first, and it says so.
    NoOrder,
    ClaimsOrder,
    DropsTheLast,
    ReportsTwice,
    ForgetsTheLead,
    ReportsTheLead,
    WrapsPositions,
    MindsCase,
    IgnoresBreak,
    BreaksByItself,
    TakesNoMemory,
    ReadsAheadOfSixteen,
    RefusesShort,
    LacksAnInstruction,
    RefusesItsOption,
}

/// Vectors taken of each file: the engines here are slow.
const VECTORS: usize = 6;

struct Faulty(Fault);
struct Compiled(Fault, PatternSet);

static INFO: Info = Info {
    name: "faulty",
    device: Device::Cpu,
    family: Family::Oracle,
    growth: Growth::PerPattern,
    about: "wrong on purpose",
    source: "-",
    variants: &[""],
};

impl Engine for Faulty {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, _: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        match self.0 {
            Fault::RefusesShort if set.min_len() < 3 => {
                Err(Refusal::TooShort { min: 3, have: set.min_len() })
            }
            Fault::LacksAnInstruction => Err(Refusal::NoIsa("vbmi")),
            Fault::RefusesItsOption => Err(Refusal::BadOption("form".into())),
            fault => Ok(Arc::new(Compiled(fault, set.clone()))),
        }
    }
}

impl Matcher for Compiled {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn set(&self) -> &PatternSet {
        &self.1
    }

    fn scan(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let ordered = self.0 != Fault::NoOrder;
        let mut out = Emitter::new(&self.1, sink, scratch.records(), self.base(block), ordered);
        for position in self.find(block).chunk_by(|a, b| a.0 == b.0) {
            position.iter().for_each(|&(end, pattern)| out.push(end, pattern));
            let flow = out.flush();
            if flow.is_break() && self.0 != Fault::IgnoresBreak {
                return flow;
            }
        }
        if self.0 == Fault::BreaksByItself {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: u64::from(self.0 != Fault::TakesNoMemory), device: 0 }
    }
}

impl Compiled {
    fn base(&self, block: Block<'_>) -> u64 {
        if self.0 == Fault::WrapsPositions { u64::from(block.offset as u32) } else { block.offset }
    }

    /// Ends and dense indices, by the oracle, with the fault worked in.
    fn find(&self, block: Block<'_>) -> Vec<(u32, u32)> {
        let overlap = match self.0 {
            Fault::ReportsTheLead => 0,
            _ => block.overlap,
        };
        let from = if self.0 == Fault::ForgetsTheLead { overlap } else { 0 };
        let block =
            Block { bytes: &block.bytes[from..], overlap: overlap - from, offset: from as u64 };
        let mut found = self.occurrences(block);
        match self.0 {
            Fault::NoOrder | Fault::ClaimsOrder => found.reverse(),
            Fault::DropsTheLast => drop(found.pop()),
            Fault::ReportsTwice => found.extend(found.last().copied()),
            Fault::ReadsAheadOfSixteen => found.retain(|(end, _)| end % 16 != 0),
            _ => {}
        }
        found
    }

    /// What the oracle finds, as records: by end, then longest first.
    fn occurrences(&self, block: Block<'_>) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for end in block.overlap + 1..=block.bytes.len() {
            let first = found.len();
            for p in self.1.iter().filter(|p| p.bytes.len() <= end) {
                let window = &block.bytes[end - p.bytes.len()..end];
                if p.bytes == window || self.0 != Fault::MindsCase && p.is_match(window) {
                    found.push((block.offset as u32 + end as u32, p.index));
                }
            }
            found[first..].sort_by_key(|&(_, p)| std::cmp::Reverse(self.1.pattern_len(p)));
        }
        found
    }
}

fn one_thread(matcher: &dyn Matcher, haystack: &[u8], _: usize, sink: &mut dyn Sink) {
    let mut sorted = Sorter::new(sink);
    if matcher.scan(Block::whole(haystack), &mut Scratch::new(), &mut sorted).is_continue() {
        let _ = sorted.finish();
    }
}

fn suite(fault: Fault) -> Suite {
    Suite::new(vec![Box::leak(Box::new(Faulty(fault)))], one_thread).requiring(&[])
}

/// What the kit says about an engine, over the files of short vectors.
fn complaints(suite: &Suite) -> Vec<String> {
    let subject: Subject = suite.subjects()[0];
    let mut files = vectors::load(&vectors::folder()).unwrap();
    files.retain(|f| ["basics", "nocase", "ids"].contains(&f.stem.as_str()));
    files.iter_mut().for_each(|f| f.vectors.truncate(VECTORS));
    let cases = files.iter().flat_map(|f| &f.vectors);
    cases
        .flat_map(|v| check_case(suite, subject, &v.case, WAYS, 1))
        .filter_map(Result::err)
        .collect()
}

#[track_caller]
fn blamed(fault: Fault, part: &str) {
    let all = complaints(&suite(fault));
    assert!(all.iter().any(|c| c.contains(part)), "{fault:?} gives only {:?}", all.first());
}

#[test]
fn an_engine_without_order_is_right_through_sorter_streams_and_threads() {
    assert_eq!(complaints(&suite(Fault::NoOrder)), Vec::<String>::new());
}

#[test]
fn every_fault_is_blamed() {
    blamed(Fault::ClaimsOrder, "calls itself ordered");
    blamed(Fault::DropsTheLast, "missing 1");
    blamed(Fault::ReportsTwice, "too many 1");
    blamed(Fault::ForgetsTheLead, "ranges: ");
    blamed(Fault::ReportsTheLead, "out of bounds");
    blamed(Fault::WrapsPositions, "far: ");
    blamed(Fault::MindsCase, "whole: ");
    blamed(Fault::IgnoresBreak, "stopped: ");
    blamed(Fault::BreaksByItself, "which it did not");
    blamed(Fault::TakesNoMemory, "claims to take no memory");
    blamed(Fault::ReadsAheadOfSixteen, "shifted: ");
    blamed(Fault::RefusesItsOption, "refused, but must not");
}

#[test]
fn limits_of_an_algorithm_are_refusals_and_counted() {
    let suite = suite(Fault::RefusesShort).requiring(&["faulty"]);
    assert_eq!(complaints(&suite), Vec::<String>::new());
    let shown = suite.tally.to_string();
    assert!(
        shown.contains("the shortest pattern has 1 bytes, this engine needs 3 or more"),
        "{shown}"
    );
}

#[test]
fn what_the_machine_lacks_is_a_failure_only_if_required() {
    let free = suite(Fault::LacksAnInstruction);
    assert!(complaints(&free).is_empty() && free.tally.to_string().contains("no vbmi"));
    assert_eq!(free.tally.checks_of("faulty"), 0);

    let required = suite(Fault::LacksAnInstruction).requiring(&["faulty", "gone"]);
    assert!(complaints(&required)[0].contains("refused, but must not"));
    assert_eq!(required.unchecked(), ["faulty", "gone"]);
    assert!(required.unmet()[0].contains("gone"));
}

/// The oracle itself is used here, so that a change to it does not go unseen.
#[test]
fn the_faultless_search_is_the_oracle() {
    let set = PatternSet::new(["he", "she", "hers"]).unwrap();
    let found = Compiled(Fault::NoOrder, set.clone()).occurrences(Block::whole(b"ushers"));
    let ends: Vec<u64> = found.iter().map(|f| u64::from(f.0)).collect();
    assert_eq!(ends, oracle::find_all(&set, b"ushers").iter().map(|m| m.end).collect::<Vec<_>>());
}
