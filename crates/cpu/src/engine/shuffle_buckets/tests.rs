use super::*;
use fyke_core::{Collect, Count, oracle};

/// The forms that this machine can run, best first.
fn forms(set: &PatternSet) -> Vec<(Isa, Arc<dyn Matcher>)> {
    let compile = |isa: Isa| {
        let opt = Options::with_params(&format!("isa={}", isa.name())).unwrap();
        (isa, ENGINE.compile(set, &opt).unwrap())
    };
    Isa::ALL.into_iter().rev().filter(|isa| isa.available()).map(compile).collect()
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

    /// Bytes of a small alphabet: letters of both cases, and what folding might take for them.
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| b"abAB@`\0\xff"[self.below(8)]).collect()
    }
}

/// A set of patterns of many lengths, some under several ids, some in either case.
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

/// Every form finds and counts what the oracle does.
fn check(set: &PatternSet, block: Block<'_>) {
    let expected = oracle::find_owned(set, block);
    for (isa, matcher) in forms(set) {
        let (mut all, mut count) = (Collect::default(), Count::default());
        let mut scratch = Scratch::new();
        assert!(matcher.scan(block, &mut scratch, &mut all).is_continue());
        assert!(matcher.scan(block, &mut scratch, &mut count).is_continue());
        let what = || format!("{isa:?}, {} bytes, lead {}", block.bytes.len(), block.lead);
        assert!(all.sorted() == expected, "{}", what());
        assert_eq!(count.matches, expected.len() as u64, "{}", what());
    }
}

#[test]
fn all_forms_find_the_same_at_every_length_and_lead() {
    let mut random = Random(1);
    for (count, lens) in [(1, 1..2), (3, 1..4), (12, 1..3), (5, 3..5), (40, 3..12), (60, 1..40)] {
        let set = some_set(&mut random, count, lens);
        for len in (0..150).chain([191, 192, 193, 260]) {
            let haystack = random.bytes(len);
            let lead = if len % 2 == 0 { 0 } else { random.below(len + 1) };
            check(&set, Block { bytes: &haystack, lead, offset: 5 });
        }
    }
}

#[test]
fn tiles_are_no_seams() {
    let mut random = Random(2);
    for (count, lens) in [(10, 3..9), (20, 1..3), (30, 1..70)] {
        let set = some_set(&mut random, count, lens);
        let haystack = random.bytes(2 * scan::TILE + 77);
        check(&set, Block { bytes: &haystack, lead: 3, offset: 0 });
    }
}

#[test]
fn every_shape_of_a_filter_is_exact() {
    let mut random = Random(3);
    let mut shapes = std::collections::BTreeSet::new();
    for count in [1, 4, 30, 60, 100, 150, 250, 400, 700] {
        // Random bytes in place of the small alphabet: the more patterns, the more buckets.
        let mut builder = PatternSet::builder();
        for _ in 0..count {
            let len = 4 + random.below(8);
            let pattern: Vec<u8> = (0..len).map(|_| b'a' + random.below(26) as u8).collect();
            builder.push(&pattern).unwrap();
        }
        let set = builder.build();
        let mut haystack: Vec<u8> = (0..3000).map(|_| b'a' + random.below(26) as u8).collect();
        for (i, p) in set.iter().enumerate().take(100) {
            haystack[29 * i..29 * i + p.bytes.len()].copy_from_slice(p.bytes);
        }
        check(&set, Block::whole(&haystack));
        let filter = Plan::new(&set, &Options::default()).unwrap().filter.unwrap();
        shapes.insert((filter.offsets, filter.sets));
    }
    assert!(shapes.len() > 3, "{shapes:?}");
}

#[test]
fn candidates_are_counted() {
    let set = PatternSet::new(["needle"]).unwrap();
    let matcher = ENGINE.compile(&set, &Options::default()).unwrap();
    let mut scratch = Scratch::new();
    let mut count = Count::default();
    let _ = matcher.scan(Block::whole(&b"needle ".repeat(10)), &mut scratch, &mut count);
    assert_eq!((scratch.spent(), count.matches), (10, 10));
}
