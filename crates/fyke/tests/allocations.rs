//! After a first call, calls in memory do not allocate; and a thread gives back what an unusual
//! call needed.

#[path = "support/counting_allocator.rs"]
mod counting_allocator;

use counting_allocator::{CountingAllocator, allocations, held};
use fyke::{MatchKind, PatternId, PatternSet, Searcher, Semantics, registry};
use fyke_testkit::random::{SplitMix, text};
use std::ops::ControlFlow;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Most bytes that a thread may keep from call to call.
const MOST_HELD: isize = 8 << 20;

/// Random words of 5 to 14 bytes, of which a haystack of a larger alphabet has few.
fn set(patterns: usize) -> PatternSet {
    let mut numbers = SplitMix::new(patterns as u64);
    let mut set = PatternSet::builder();
    for id in 0..patterns {
        let word = text(26, 5 + numbers.below(10) as usize, id as u64);
        set.push_with(PatternId(id as u32), word, id % 3 == 0).unwrap();
    }
    set.build()
}

/// A random text with a pattern every few hundred bytes.
fn haystack(set: &PatternSet, len: usize) -> String {
    let mut bytes = text(26, len, 77);
    let mut numbers = SplitMix::new(1);
    let mut at = 3;
    while at + 20 < len {
        let word = set.bytes(numbers.below(set.len() as u64) as u32);
        bytes[at..at + word.len()].copy_from_slice(word);
        at += 100 + numbers.below(400) as usize;
    }
    String::from_utf8(bytes).unwrap()
}

fn searcher(
    engine: &str,
    set: &PatternSet,
    semantics: Semantics,
    kind: MatchKind,
) -> Option<Searcher> {
    let builder = Searcher::builder().engine(engine).semantics(semantics).match_kind(kind);
    // Otherwise the table would be compiled in some later call.
    builder.short_haystacks(true).build(set).ok()
}

/// Calls before allocations are counted. Buffers that are swapped grow for a few calls.
const WARM_UP: usize = 6;

/// Warms up, then expects that a call allocates nothing.
fn quiet(what: &str, searcher: &Searcher, mut call: impl FnMut()) -> u64 {
    (0..WARM_UP).for_each(|_| call());
    let before = allocations();
    call();
    let made = allocations() - before;
    assert_eq!(made, 0, "allocations of {what}, {searcher:?}");
    1
}

/// Every call in memory, with functions that do not allocate. Returns the number of calls checked.
fn every_call(searcher: &Searcher, text: &str) -> u64 {
    let pieces: Vec<&[u8]> = text.as_bytes().chunks(1500).collect();
    let ends: Vec<usize> = (1..=pieces.len()).map(|i| text.len().min(1500 * i)).collect();
    let mut counts = Vec::with_capacity(pieces.len());
    let mut packed_counts = Vec::with_capacity(pieces.len());
    let mut to = String::with_capacity(2 * text.len() + 100);
    let mut bytes = Vec::with_capacity(2 * text.len() + 100);
    let mut sum = 0;
    let mut checked = 0;
    let mut check = |what, call: &mut dyn FnMut()| checked += quiet(what, searcher, call);
    check("is_match", &mut || sum += usize::from(searcher.is_match(text)));
    check("find", &mut || sum += searcher.find(text).map_or(0, |m| m.end));
    check("earliest", &mut || sum += searcher.earliest(text).map_or(0, |m| m.end));
    check("find_iter", &mut || sum += searcher.find_iter(text).count());
    check("find_overlapping_iter", &mut || sum += searcher.find_overlapping_iter(text).count());
    check("count", &mut || sum += searcher.count(text) as usize);
    check("scan", &mut || searcher.scan(text, |m| sum += m.start));
    check("once", &mut || searcher.once(text, |m| sum += m.start));
    check("scan_batch", &mut || {
        let _ = searcher.scan_batch(&pieces, |i, _| {
            sum += i;
            ControlFlow::Continue(())
        });
    });
    check("scan_packed", &mut || {
        let _ = searcher.scan_packed(text.as_bytes(), &ends, |i, _| {
            sum += i;
            ControlFlow::Continue(())
        });
    });
    check("count_batch", &mut || searcher.count_batch(&pieces, &mut counts));
    check("count_packed", &mut || {
        searcher.count_packed(text.as_bytes(), &ends, &mut packed_counts);
    });
    check("replace_all_with", &mut || {
        to.clear();
        searcher.replace_all_with(text, &mut to, |_, _, to| {
            to.push('x');
            true
        });
    });
    check("replace_all_with_bytes", &mut || {
        bytes.clear();
        searcher.replace_all_with_bytes(text.as_bytes(), &mut bytes, |_, _, to| {
            to.push(b'x');
            true
        });
    });
    assert!(sum > 0 || text.len() < 100, "nothing was found");
    checked
}

#[test]
fn calls_in_memory_do_not_allocate() {
    let mut checked = 0;
    for patterns in [1, 5, 50, 2000] {
        let set = set(patterns);
        for engine in ["auto", "ac-dfa", "ac-nfa", "ac-simd", "teddy", "qgram-filter"] {
            for (semantics, kind) in [
                (Semantics::All, MatchKind::Standard),
                (Semantics::LeftmostFirst, MatchKind::LeftmostFirst),
                (Semantics::Once, MatchKind::LeftmostLongest),
                (Semantics::Standard, MatchKind::Standard),
            ] {
                let Some(searcher) = searcher(engine, &set, semantics, kind) else { continue };
                // A short text is enough for engines that take long.
                let long = if engine == "auto" { 1 << 20 } else { 1 << 17 };
                for len in [16, 1 << 10, long] {
                    checked += every_call(&searcher, &haystack(&set, len));
                }
            }
        }
    }
    assert!(checked >= 3 * 14 * 4 * 4 * 3, "{checked} calls are too few");
    eprintln!("{checked} calls were checked");
}

/// Two patterns that differ in case alone end in the same span.
#[test]
fn patterns_that_share_spans_do_not_allocate_either() {
    let mut set = PatternSet::builder();
    for (word, nocase) in [("needle", false), ("NEEDLE", true), ("Needle", false)] {
        set.push_with(PatternId(set.len() as u32), word, nocase).unwrap();
    }
    let set = set.build();
    // As sparse as in the other tests: many candidates start a thread that compiles an automaton,
    // and the first call that uses it allocates.
    let text = haystack(&set, 1 << 13);
    for kind in [MatchKind::Standard, MatchKind::LeftmostLongest] {
        every_call(&searcher("auto", &set, Semantics::All, kind).unwrap(), &text);
    }
}

/// The bytes that this thread holds more after the call than before.
fn kept_by(call: impl FnOnce()) -> isize {
    let before = held();
    call();
    held() - before
}

#[test]
fn memory_of_a_dense_call_is_given_back() {
    let dense = "a".repeat(16 << 20);
    let set = PatternSet::new(["a", "aa", "aaa", "aaaaaaaa"]).unwrap();
    let mut checked = 0;
    for engine in registry::engines().iter().map(|e| e.info().name) {
        for kind in [MatchKind::Standard, MatchKind::LeftmostLongest] {
            if searcher(engine, &set, kind.semantics(), kind).is_none() {
                continue;
            }
            let len = if engine == "ac-dfa" { dense.len() } else { 1 << 19 };
            let haystack = &dense.as_bytes()[..len];
            let mut found = 0;
            // Dropped before the bytes are counted: on a GPU it keeps buffers of its own.
            let kept = kept_by(|| {
                let searcher = searcher(engine, &set, kind.semantics(), kind).unwrap();
                found = searcher.find_overlapping_iter(&haystack[..1 << 19]).count();
                found += searcher.find_iter(haystack).count();
                searcher.scan(haystack, |_| found += 1);
                let _ = searcher.scan_batch(haystack.chunks(60_000), |_, batch| {
                    found += batch.records.len();
                    ControlFlow::Continue(())
                });
            });
            assert!(found > haystack.len() / 4 && kept < MOST_HELD, "{engine} kept {kept} bytes");
            checked += 1;
        }
    }
    assert!(checked >= 6, "{checked} searchers are too few");
}
