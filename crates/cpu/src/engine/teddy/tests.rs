use super::first::UNCOUNTED;
use super::shape::FilterShape;
use super::*;
use crate::simd::Isa;
use crate::testing::isas;
use fyke_core::{Batch, Collect, Count, Sink, StreamMatch, oracle};

/// The instruction sets of this machine, best first.
fn forms(set: &PatternSet) -> Vec<(Isa, Arc<dyn Matcher>)> {
    let compile = |isa: Isa| {
        let opt = Options::with_params(&format!("isa={}", isa.name())).unwrap();
        (isa, ENGINE.compile(set, &opt).unwrap())
    };
    isas(&ENGINE).into_iter().rev().map(compile).collect()
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        self.0 >> 33
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }

    /// Bytes of a small alphabet: letters of both cases, and bytes that coarse folding confuses
    /// with them.
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| b"abAB@`\0\xff"[self.below(8)]).collect()
    }
}

/// A set of patterns of many lengths, some with several ids, some ignoring case.
fn some_set(random: &mut Random, count: usize, lens: std::ops::Range<usize>) -> PatternSet {
    let mut builder = PatternSet::builder();
    for _ in 0..count {
        let len = lens.start + random.below(lens.len());
        let nocase = random.below(3) == 0;
        let pattern = random.bytes(len);
        for _ in 0..=random.below(3) / 2 {
            builder.nocase(nocase).push(&pattern).unwrap();
        }
    }
    builder.build()
}

/// Checks that every form finds and counts what the oracle does.
fn check(set: &PatternSet, block: Block<'_>) {
    let expected = oracle::find_owned(set, block);
    for (isa, matcher) in forms(set) {
        let what = || format!("{isa:?}, {} bytes, overlap {}", block.bytes.len(), block.overlap);
        check_one(&*matcher, block, &expected, &what);
    }
    for isa in isas(&ENGINE) {
        let opt = Options::with_params(&format!("isa={}", isa.name())).unwrap();
        let plan = TeddyPlan::new(set, &opt).unwrap();
        // With an infinite share of candidates, every block is scanned in tiles.
        let matcher =
            TeddyMatcher { pass: f32::INFINITY, ..TeddyMatcher::new(set, &plan).unwrap() };
        check_one(&matcher, block, &expected, &|| format!("{isa:?}, in tiles"));
    }
}

fn check_one(
    matcher: &dyn Matcher,
    block: Block<'_>,
    expected: &[StreamMatch],
    what: &dyn Fn() -> String,
) {
    let (mut all, mut count) = (Collect::default(), Count::default());
    let mut scratch = Scratch::new();
    assert!(matcher.scan(block, &mut scratch, &mut all).is_continue());
    assert!(matcher.scan(block, &mut scratch, &mut count).is_continue());
    assert!(all.sorted() == expected, "{}", what());
    assert_eq!(count.matches, expected.len() as u64, "{}", what());
}

#[test]
fn all_forms_find_the_same_at_every_length_and_overlap() {
    let mut random = Random(1);
    for (count, lens) in [(1, 1..2), (3, 1..4), (12, 1..3), (5, 3..5), (40, 3..12), (60, 1..40)] {
        let set = some_set(&mut random, count, lens);
        for len in (0..150).chain([191, 192, 193, 260]) {
            let haystack = random.bytes(len);
            let overlap = if len % 2 == 0 { 0 } else { random.below(len + 1) };
            check(&set, Block { bytes: &haystack, overlap, offset: 5 });
        }
    }
}

#[test]
fn short_patterns_of_more_ids_than_a_byte_counts_are_counted() {
    let ids = std::iter::repeat_n("ab", 300);
    let set = PatternSet::new(ids.chain(["b", "c", "bc", "ca"])).unwrap();
    let haystack = b"abcabbca".repeat(40);
    check(&set, Block { bytes: &haystack, overlap: 5, offset: 0 });
}

#[test]
fn tiles_are_no_seams() {
    let mut random = Random(2);
    for (count, lens) in [(1, 1..2), (2, 1..3), (10, 3..9), (20, 1..3), (30, 1..70)] {
        let set = some_set(&mut random, count, lens);
        let haystack = random.bytes(2 * scan::TILE + 77);
        check(&set, Block { bytes: &haystack, overlap: 3, offset: 0 });
    }
}

#[test]
fn every_shape_of_a_filter_is_exact() {
    let mut random = Random(3);
    let set = some_set(&mut random, 50, 3..20);
    let haystack = random.bytes(3000);
    let block = Block::whole(&haystack);
    let expected = oracle::find_owned(&set, block);
    for isa in isas(&ENGINE) {
        for &shape in shape::shapes(isa) {
            let matcher = TeddyMatcher::new(&set, &TeddyPlan::shaped(&set, shape, isa)).unwrap();
            check_one(&matcher, block, &expected, &|| format!("{shape:?}, {isa:?}"));
        }
    }
}

/// Checks that every shape finds what the oracle does, and returns the number of matches.
fn check_shapes(
    set: &PatternSet,
    haystack: &[u8],
    is_ascii: impl Fn(FilterShape) -> bool,
) -> usize {
    let block = Block::whole(haystack);
    let expected = oracle::find_owned(set, block);
    for isa in isas(&ENGINE) {
        for &shape in shape::shapes(isa) {
            let plan = TeddyPlan::shaped(set, shape, isa);
            let ascii = plan.filter.as_ref().is_some_and(|filter| filter.ascii);
            assert_eq!(ascii, isa == Isa::Avx2 && is_ascii(shape), "{shape:?}, {isa:?}");
            let matcher = TeddyMatcher::new(set, &plan).unwrap();
            check_one(&matcher, block, &expected, &|| format!("{shape:?}, {isa:?}"));
        }
    }
    expected.len()
}

#[test]
fn every_shape_is_exact_for_ascii_patterns() {
    let mut random = Random(4);
    let mut builder = PatternSet::builder();
    for _ in 0..50 {
        let len = 6 + random.below(14);
        let mut pattern = random.bytes(len);
        pattern.iter_mut().for_each(|byte| *byte &= 0x7f);
        builder.nocase(random.below(3) == 0).push(&pattern).unwrap();
    }
    let set = builder.build();
    let mut haystack: Vec<u8> = set.iter().flat_map(|p| p.bytes.repeat(3)).collect();
    haystack.iter_mut().step_by(31).for_each(|byte| *byte ^= 0x80);
    haystack.iter_mut().step_by(7).for_each(|byte| byte.make_ascii_uppercase());
    assert!(check_shapes(&set, &haystack, |_| true) > 50);
    // A window that is longer than its pattern accepts any byte after it.
    let set = PatternSet::new(["needle", "pin"]).unwrap();
    let found = check_shapes(&set, b"pin\xff\xff\xffneedle", |shape| shape.offsets <= 3);
    assert_eq!(found, 2);
}

/// Haystacks of up to two vectors are filtered in several ways.
#[test]
fn every_shape_finds_a_pattern_anywhere_in_a_short_haystack() {
    let set = PatternSet::new(["needle", "pinpin"]).unwrap();
    for isa in isas(&ENGINE) {
        for &shape in shape::shapes(isa) {
            let matcher = TeddyMatcher::new(&set, &TeddyPlan::shaped(&set, shape, isa)).unwrap();
            for (len, at) in (6..140).flat_map(|len| (0..=len - 6).map(move |at| (len, at))) {
                let mut haystack = vec![0; len];
                haystack[at..at + 6].copy_from_slice(b"needle");
                let block = Block::whole(&haystack);
                let expected = oracle::find_owned(&set, block);
                assert_eq!(expected.len(), 1);
                check_one(&matcher, block, &expected, &|| {
                    format!("{shape:?}, {isa:?}, {len}, {at}")
                });
            }
        }
    }
}

/// The two bytes of a pair lie in different vectors, tiles and blocks.
#[test]
fn a_pair_is_found_across_seams() {
    for (pattern, nocase) in [("ab Qa~Z", true), ("AB qa~z", false)] {
        let mut builder = PatternSet::builder();
        builder.nocase(nocase).push(pattern).unwrap();
        let set = builder.build();
        let mut random = Random(4);
        let mut haystack = random.bytes(2 * scan::TILE + 300);
        let mut at = 0;
        while at + 7 < haystack.len() {
            haystack[at..at + 7].copy_from_slice(b"AB qa~z");
            at += 7 + random.below(20);
        }
        for from in 0..70 {
            check(&set, Block { bytes: &haystack[from..], overlap: from % 9, offset: 0 });
            check(&set, Block::whole(&haystack[from..][..600 + from]));
            check(&set, Block::whole(&haystack[from..][..200 + from]));
            check(&set, Block::whole(&haystack[from..][..from]));
        }
    }
}

/// The filter finds short patterns at the end of a haystack and among zeros. Zeros are hard, since
/// they also pad the bytes beyond the end.
#[test]
fn short_patterns_may_be_candidates() {
    let patterns: [&[u8]; 5] = [b"\xf7\xe9", b"\xc3\x13", b"\x13\0", b"\xf7\xe9\xc3", b"needle"];
    let set = PatternSet::new(patterns).unwrap();
    let mut random = Random(5);
    for isa in isas(&ENGINE) {
        for &shape in shape::shapes(isa) {
            let matcher = TeddyMatcher::new(&set, &TeddyPlan::shaped(&set, shape, isa)).unwrap();
            assert!(matcher.shorts.is_empty());
            for len in (0..140).step_by(3).chain([scan::TILE - 1, scan::TILE + 1]) {
                let bytes: Vec<u8> =
                    (0..len).map(|_| b"\xf7\xe9\xc3\x13\0"[random.below(5)]).collect();
                let block = Block { bytes: &bytes, overlap: random.below(len + 1) / 2, offset: 0 };
                let expected = oracle::find_owned(&set, block);
                check_one(&matcher, block, &expected, &|| format!("{shape}, {isa:?}, {len}"));
            }
        }
    }
}

/// Plans with pair tables.
fn paired_plans(set: &PatternSet) -> Vec<TeddyPlan> {
    let isas = isas(&ENGINE).into_iter().filter(|&isa| isa != Isa::Scalar);
    let look_ups = |isa: Isa| if isa.gathers() { &["scalar", "vector"][..] } else { &["scalar"] };
    let forms = isas.flat_map(|isa| look_ups(isa).iter().map(move |kind| (isa, kind)));
    let forms = forms.flat_map(|form| pairs::PairShape::ALL.map(|shape| (shape, form)));
    let plan = |(shape, (isa, kind))| {
        let options = Options::with_params(&format!("gathers={kind}")).unwrap();
        TeddyPlan::with_pairs(set, &options, shape, isa)
    };
    forms.map(plan).collect()
}

/// Matchers with pair tables.
fn paired(set: &PatternSet) -> Vec<TeddyMatcher> {
    paired_plans(set).iter().map(|plan| TeddyMatcher::new(set, plan).unwrap()).collect()
}

#[test]
fn pair_tables_find_what_the_oracle_finds() {
    let mut random = Random(6);
    for (count, lens) in [(1, 1..2), (3, 1..4), (12, 2..4), (40, 3..12), (200, 4..5), (60, 1..40)] {
        let set = some_set(&mut random, count, lens);
        for matcher in paired(&set) {
            for len in (0..150).chain([191, 192, 193, 260, scan::TILE - 1, scan::TILE + 70]) {
                // At even and at odd addresses.
                let skipped = random.below(3);
                let bytes = &random.bytes(skipped + len)[skipped..];
                let overlap = if len % 3 == 0 { 0 } else { random.below(len + 1) };
                let block = Block { bytes, overlap, offset: 5 };
                let expected = oracle::find_owned(&set, block);
                let what = || {
                    let described = matcher.describe();
                    format!("{described}, {len} bytes from {skipped}, overlap {overlap}")
                };
                check_one(&matcher, block, &expected, &what);
            }
        }
    }
}

#[test]
fn pair_tables_find_the_first_match() {
    let mut random = Random(7);
    let mut found = 0;
    for round in 0..40 {
        let set = some_set(&mut random, 4 + round, 3..9);
        for matcher in paired(&set) {
            let len = random.below(300);
            let haystack = random.bytes(len);
            let all = oracle::find_all(&set, &haystack).into_iter().map(Match::in_memory);
            for first in [First::Standard, First::LeftmostFirst, First::LeftmostLongest] {
                let better = |best, new| if first.is_better(new, best) { new } else { best };
                let expected = all.clone().reduce(better);
                let right = match matcher.find_first(&haystack, first) {
                    FirstMatch::Found(m) => expected == Some(m),
                    FirstMatch::NotFound => expected.is_none(),
                    FirstMatch::Unknown { .. } => continue,
                };
                assert!(right, "{haystack:?}");
                found += usize::from(expected.is_some());
            }
        }
    }
    // A CPU without vectors has no pair tables.
    let has_vectors = isas(&ENGINE).iter().any(|&isa| isa != Isa::Scalar);
    assert!(found > 50 || !has_vectors, "{found}");
}

#[test]
fn the_middle_pair_of_a_window_rejects() {
    let set = PatternSet::new(["abcd", "wxyz"]).unwrap();
    for mut plan in paired_plans(&set) {
        plan.filter.as_mut().unwrap().windows.iter_mut().for_each(|w| w.bucket = 0);
        let matcher = TeddyMatcher::new(&set, &plan).unwrap();
        if matcher.step() == 1 {
            let (tables, _) = matcher.filter.as_ref().unwrap();
            let first = |bytes: &[u8]| matcher.candidates(tables, bytes, 0).next();
            // The first pair of one pattern, and the second pair of the other.
            assert_eq!(first(b"abyzxxxxxx"), None, "{}", matcher.describe());
            assert_eq!(first(b"xabcdxxxxx"), Some(1), "{}", matcher.describe());
        }
    }
}

#[test]
fn the_third_pair_of_a_window_rejects() {
    let set = PatternSet::new(["abcdef"]).unwrap();
    for matcher in paired(&set) {
        assert!(matcher.find_candidate(b"abcdef") < 6, "{}", matcher.describe());
        if matcher.step() == 2 {
            let (tables, _) = matcher.filter.as_ref().unwrap();
            let first = matcher.candidates(tables, b"abcdxxxxxx", 0).next();
            assert_eq!(first, None, "{}", matcher.describe());
        }
    }
}

/// A set of many patterns gets pair tables where there are vectors.
#[test]
fn many_patterns_are_found_by_pairs() {
    let mut random = Random(8);
    let patterns: Vec<Vec<u8>> =
        (0..2000).map(|_| (0..6).map(|_| random.below(256) as u8).collect()).collect();
    let set = PatternSet::new(&patterns).unwrap();
    for isa in isas(&ENGINE) {
        let opt = Options::with_params(&format!("isa={}", isa.name())).unwrap();
        match ENGINE.compile(&set, &opt) {
            Ok(matcher) => assert!(matcher.describe().starts_with("pairs of bytes"), "{isa:?}"),
            Err(_) => assert_eq!(isa, Isa::Scalar),
        }
    }
}

#[test]
fn candidates_are_counted() {
    let set = PatternSet::new(["needle", "pin"]).unwrap();
    let matcher = ENGINE.compile(&set, &Options::default()).unwrap();
    let mut scratch = Scratch::new();
    let mut count = Count::default();
    let _ = matcher.scan(Block::whole(&b"needle ".repeat(10)), &mut scratch, &mut count);
    // Each is looked up and compared.
    assert_eq!((scratch.spent(), count.matches), (20, 10));
}

/// Breaks at its first batch.
struct BreaksAtOnce(usize);

impl Sink for BreaksAtOnce {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        assert_eq!(self.0, 0, "it gets nothing after a break");
        self.0 += batch.records.len();
        ControlFlow::Break(())
    }

    fn wants_first(&self) -> bool {
        true
    }
}

#[test]
fn a_sink_that_breaks_gets_no_more_of_a_small_block() {
    let set = PatternSet::new(["a", "b", "cd", "needle"]).unwrap();
    for (isa, matcher) in forms(&set) {
        for haystack in ["xaxbxcd", "needle a b cd", "cd cd", "needle"] {
            let mut first = BreaksAtOnce(0);
            let block = Block::whole(haystack.as_bytes());
            let flow = matcher.scan(block, &mut Scratch::new(), &mut first);
            assert!(flow.is_break() && first.0 > 0, "{isa:?}: {haystack}");
        }
    }
}

#[test]
fn candidates_without_a_match_are_skipped_up_to_a_limit() {
    // Windows are not looked for so far after the start, so none has the digit.
    let text = |digit: u8| format!("haystack{}{digit}", " ".repeat(super::filter_plan::TRIED));
    let (set, none) = (PatternSet::new([0, 1, 2].map(text)).unwrap(), text(3));
    for (isa, matcher) in forms(&set) {
        let first = |text: &str| matcher.first_candidate(text.as_bytes());
        assert_eq!(first(&none.repeat(3)), 3 * none.len(), "{isa:?}");
        let start = first(&(none.repeat(3) + &text(2)));
        assert!((2 * none.len()..=3 * none.len()).contains(&start), "{isa:?}: {start}");
        // The comparisons of a hostile haystack must end early.
        assert!(first(&none.repeat(2 * UNCOUNTED)) < UNCOUNTED * none.len(), "{isa:?}");
    }
}
