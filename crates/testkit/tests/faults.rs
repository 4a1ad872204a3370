//! Tests of the kit: it must find the fault of every faulty engine, and accept a correct engine
//! that reports matches in no order. A check that misses its fault is useless.

use fyke_core::{
    Block, Device, Emitter, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet,
    Refusal, Scratch, Sink, oracle,
};
use fyke_testkit::conformance::check_case;
use fyke_testkit::expand::WAYS;
use fyke_testkit::subject::one_thread;
use fyke_testkit::{Subject, Suite, vectors};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The fault of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// None: the matches come in reverse, in batches marked as unordered.
    NoOrder,
    ClaimsOrder,
    DropsTheLast,
    ReportsTwice,
    ForgetsTheOverlap,
    ReportsTheOverlap,
    WrapsPositions,
    HeedsCase,
    IgnoresBreak,
    BreaksByItself,
    TakesNoMemory,
    ReadsAheadOfSixteen,
    RefusesShort,
    LacksAnInstruction,
    RefusesItsOption,
}

/// Vectors taken from each file, because the engines here are slow.
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

    /// Ends and dense indices as the oracle finds them, with the fault applied.
    fn find(&self, block: Block<'_>) -> Vec<(u32, u32)> {
        let overlap = match self.0 {
            Fault::ReportsTheOverlap => 0,
            _ => block.overlap,
        };
        let from = if self.0 == Fault::ForgetsTheOverlap { overlap } else { 0 };
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

    /// The matches of the oracle as records: by end, then the longest first.
    fn occurrences(&self, block: Block<'_>) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for end in block.overlap + 1..=block.bytes.len() {
            let first = found.len();
            for p in self.1.iter().filter(|p| p.bytes.len() <= end) {
                let window = &block.bytes[end - p.bytes.len()..end];
                if p.bytes == window || self.0 != Fault::HeedsCase && p.is_match(window) {
                    found.push((block.offset as u32 + end as u32, p.index));
                }
            }
            found[first..].sort_by_key(|&(_, p)| std::cmp::Reverse(self.1.pattern_len(p)));
        }
        found
    }
}

fn suite(fault: Fault) -> Suite {
    Suite::new(vec![Box::leak(Box::new(Faulty(fault)))], one_thread).requiring(&[])
}

/// The complaints of the kit about an engine, on the files of short vectors.
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
fn found(fault: Fault, part: &str) {
    let all = complaints(&suite(fault));
    assert!(all.iter().any(|c| c.contains(part)), "{fault:?} gives only {:?}", all.first());
}

#[test]
fn an_unordered_engine_passes_through_sorter_streams_and_threads() {
    assert_eq!(complaints(&suite(Fault::NoOrder)), Vec::<String>::new());
}

#[test]
fn every_fault_is_found() {
    found(Fault::ClaimsOrder, "claims to be ordered");
    found(Fault::DropsTheLast, "missing 1");
    found(Fault::ReportsTwice, "extra 1");
    found(Fault::ForgetsTheOverlap, "ranges: ");
    found(Fault::ReportsTheOverlap, "out of bounds");
    found(Fault::WrapsPositions, "far: ");
    found(Fault::HeedsCase, "whole: ");
    found(Fault::IgnoresBreak, "stopped: ");
    found(Fault::BreaksByItself, "but the sink did not break");
    found(Fault::TakesNoMemory, "reports no memory");
    found(Fault::ReadsAheadOfSixteen, "shifted: ");
    found(Fault::RefusesItsOption, "refused, but must not");
}

#[test]
fn limits_of_an_algorithm_are_counted_refusals() {
    let suite = suite(Fault::RefusesShort).requiring(&["faulty"]);
    assert_eq!(complaints(&suite), Vec::<String>::new());
    let shown = suite.tally.to_string();
    assert!(shown.contains("needs patterns of 3 bytes or more, the shortest has 1"), "{shown}");
}

#[test]
fn a_missing_instruction_set_is_a_failure_only_if_required() {
    let free = suite(Fault::LacksAnInstruction);
    assert!(complaints(&free).is_empty() && free.tally.to_string().contains("no vbmi"));
    assert_eq!(free.tally.checks_of("faulty"), 0);

    let required = suite(Fault::LacksAnInstruction).requiring(&["faulty", "gone"]);
    assert!(complaints(&required)[0].contains("refused, but must not"));
    assert_eq!(required.unchecked(), ["faulty", "gone"]);
    assert!(required.unmet()[0].contains("gone"));
}

/// The search above must agree with the oracle, or the faults would not be the only differences.
#[test]
fn the_search_without_fault_is_the_oracle() {
    let set = PatternSet::new(["he", "she", "hers"]).unwrap();
    let found = Compiled(Fault::NoOrder, set.clone()).occurrences(Block::whole(b"ushers"));
    let ends: Vec<u64> = found.iter().map(|f| u64::from(f.0)).collect();
    assert_eq!(ends, oracle::find_all(&set, b"ushers").iter().map(|m| m.end).collect::<Vec<_>>());
}
