//! Tests that every engine with a window calls from its own tests.

use super::*;
use crate::cost::CostOf;
use crate::cpu::bm_set;
use fyke_core::{Collect, Engine, Options, oracle};

/// A test cannot scan 4 GiB. With a smaller largest end the same code moves the base.
#[test]
fn ends_beyond_the_largest_are_counted_from_a_new_base() {
    let set = PatternSet::new(["ab", "b", "bcab"]).unwrap();
    let shifter = Shifter::new(&set, bm_set::window(&set).unwrap());
    let bytes = b"abcab".repeat(20);
    for (max_end, overlap) in [(1, 0), (2, 3), (7, 0), (99, 3), (100, 0)] {
        let block = Block { bytes: &bytes, overlap, offset: 5 };
        let mut got = Collect::default();
        let flow = shifter.slide(block, &mut Scratch::new(), &mut got, &mut Uncounted, max_end);
        assert!(flow.is_continue());
        assert_eq!(got.matches, oracle::find_owned(&set, block), "largest end {max_end}");
    }
}

fn check(engine: &dyn Engine, set: &PatternSet, haystack: &[u8], options: &str) {
    let options = Options::with_params(options).unwrap();
    let matcher = engine.compile(set, &options).unwrap();
    for block in [
        Block::whole(haystack),
        Block { bytes: haystack, overlap: haystack.len().min(set.overlap()), offset: 7 },
    ] {
        let mut got = Collect::default();
        assert!(matcher.scan(block, &mut Scratch::new(), &mut got).is_continue());
        assert!(got.matches == oracle::find_owned(set, block), "{set:?} {options:?}");
    }
}

/// Equal bytes, periods, patterns that are suffixes of others, a haystack that is one pattern.
pub(crate) fn equals_the_oracle_on_hostile_input(engine: &dyn Engine) {
    let long = [b"ab".repeat(32_767), b"c".to_vec()].concat();
    let deep: Vec<Vec<u8>> = (1..40).map(|n| [b"ba".repeat(n), vec![b'a'; n]].concat()).collect();
    let sets = [
        PatternSet::new([vec![b'a'; 300], vec![b'a'; 7], b"baaaaaa".to_vec()]).unwrap(),
        PatternSet::new(["abab", "babab", "ababc", "abac", "bcab"]).unwrap(),
        PatternSet::new(["cac", "acbacc", "cba", "bbaca", "cbaca"]).unwrap(),
        PatternSet::new(deep).unwrap(),
        PatternSet::new([long.as_slice(), b"bac", b"abcab"]).unwrap(),
    ];
    let haystacks = [
        vec![b'a'; 700],
        b"ab".repeat(400),
        b"cbacacbaccbbacacac".repeat(30),
        b"bababaaaabbabaababaaa".repeat(20),
        [b"ab".as_slice(), &long, b"abcab"].concat(),
    ];
    for variant in engine.info().variants {
        for set in &sets {
            haystacks.iter().for_each(|haystack| check(engine, set, haystack, variant));
        }
    }
}

/// Patterns of one byte: the window has one byte and moves by one.
pub(crate) fn takes_patterns_of_one_byte(engine: &dyn Engine) {
    let all: Vec<Vec<u8>> = (0..=255).map(|b| vec![b]).collect();
    for set in [PatternSet::new(&all).unwrap(), PatternSet::new(["a", "ba", "cba"]).unwrap()] {
        check(engine, &set, b"cbabacaa\xff\0cba", "");
        check(engine, &set, b"", "");
    }
}

/// Ten random patterns of eight bytes in random bytes without a match: the engine reads fewer than
/// a third of the bytes.
pub(crate) fn most_bytes_are_never_read(engine: &dyn Engine) {
    let mut seed = 1_u64;
    let mut random = |count: usize| -> Vec<u8> {
        let mut next = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 56) as u8
        };
        (0..count).map(|_| next()).collect()
    };
    let set = PatternSet::new((0..10).map(|_| random(8))).unwrap();
    let haystack = random(100_000);
    for variant in engine.info().variants {
        let matcher = engine.compile(&set, &Options::with_params(variant).unwrap()).unwrap();
        let cost = matcher.cost(Block::whole(&haystack)).unwrap();
        assert!((12_500..33_333).contains(&cost.comparisons), "{variant}: {cost:?}");
    }
}

pub(crate) fn the_memory_limit_is_checked_before_building(
    engine: &dyn Engine,
    memory_for: impl Fn(&PatternSet) -> u64,
) {
    let mut builder = PatternSet::builder();
    for (bytes, nocase) in [("abcdefgh", false), ("fgh", true), ("Gh1", false)] {
        builder.push_with(fyke_core::PatternId(0), bytes, nocase).unwrap();
    }
    let set = builder.build();
    let need = memory_for(&set);
    let compile = |limit| engine.compile(&set, &Options::default().limited_to(limit));
    let refusal = compile(need - 1).err().unwrap();
    assert!(matches!(refusal, fyke_core::Refusal::TooBig { need: n, .. } if n == need));
    assert!(compile(need).unwrap().footprint().host <= need);
}
