//! All forms against the oracle, on sets that are hard for this engine.

use super::ENGINE;
use super::scan::SEARCHED;
use crate::simd::Isa;
use crate::testing::isas;
use fyke_core::sink::{Collect, Count};
use fyke_core::{
    Block, Engine, Matcher, Options, PatternId, PatternSet, Refusal, Scratch, Sink, StreamMatch,
    oracle,
};

/// The forms of this machine.
fn forms() -> impl Iterator<Item = String> {
    let gathers = |isa: Isa| match isa {
        Isa::Scalar | Isa::Simd128 | Isa::Neon => &["auto"][..],
        _ => &["vector", "scalar"],
    };
    let named = move |isa: Isa| {
        gathers(isa).iter().map(move |gathers| format!("isa={},gathers={gathers}", isa.name()))
    };
    isas(&ENGINE).into_iter().flat_map(named)
}

/// Deterministic pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn bytes(&mut self, len: usize, alphabet: &[u8]) -> Vec<u8> {
        (0..len).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }
}

/// Scans whole and in pieces, for matches and for counts, in all forms of this machine.
fn check(set: &PatternSet, haystack: &[u8], windows: &[&str]) {
    let expected = oracle::find_all(set, haystack);
    for form in forms() {
        for windows in windows {
            let options = Options::with_params(&format!("{form},{windows}")).unwrap();
            let matcher = match ENGINE.compile(set, &options) {
                Err(Refusal::TooShort { have, .. }) if *windows == "stride=4" && have < 7 => {
                    continue;
                }
                compiled => compiled.unwrap(),
            };
            let mut scratch = Scratch::new();
            for size in [usize::MAX, 100, 7] {
                if haystack.len() > 10_000 && size < 100 {
                    continue;
                }
                let (mut found, mut count) = (Collect::default(), Count::default());
                for block in Block::whole(haystack).pieces(size, set.overlap()) {
                    for sink in [&mut found as &mut dyn Sink, &mut count] {
                        assert!(matcher.scan(block, &mut scratch, sink).is_continue());
                    }
                }
                let found: Vec<StreamMatch> = found.sorted();
                assert_eq!(found, expected, "{form} {windows} {size}: {}", matcher.describe());
                assert_eq!(count.matches, expected.len() as u64);
            }
        }
    }
}

fn set(patterns: &[(Vec<u8>, bool)]) -> PatternSet {
    let mut builder = PatternSet::builder();
    for (i, (bytes, nocase)) in patterns.iter().enumerate() {
        builder.push_with(PatternId(i as u32 % 50), bytes, *nocase).unwrap();
    }
    builder.build()
}

#[test]
fn forms_equal_the_oracle_on_random_sets() {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    for round in 0..24 {
        let alphabet: &[u8] = [&b"ab"[..], b"aAbB@`", b"\0\xff\x20 ", b"abcdefgh"][round % 4];
        let (min, span) = ([4, 5, 8, 9][round / 4 % 4], [1, 4, 80][round % 3]);
        let patterns: Vec<_> = (0..1 + numbers.below(100))
            .map(|_| {
                let len = min + numbers.below(span);
                (numbers.bytes(len, alphabet), round % 5 > 2 && numbers.below(2) == 0)
            })
            .collect();
        let mut haystack = numbers.bytes(600, alphabet);
        for _ in 0..20 {
            haystack.extend_from_slice(&patterns[numbers.below(patterns.len())].0);
        }
        check(
            &set(&patterns),
            &haystack,
            &["", "stride=1", "stride=2", "stride=4", "joined=no", "joined=yes"],
        );
    }
}

#[test]
fn matches_over_the_seams_of_tiles_are_found() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let patterns: Vec<_> =
        (0..40).map(|i| (numbers.bytes(5 + i % 9, b"abc"), i % 4 == 0)).collect();
    let haystack = numbers.bytes(40_000, b"abcA");
    check(&set(&patterns), &haystack, &["", "stride=1", "stride=2"]);
}

#[test]
fn short_haystacks_are_searched_for_their_first_candidate() {
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let lens = [(4, 1), (5, 4), (7, 1), (8, 40), (9, 1)];
    let shapes = ["stride=1", "stride=2,joined=no", "stride=2,joined=yes", "stride=4"];
    for ((min, span), shape) in lens.into_iter().flat_map(|len| shapes.map(|shape| (len, shape))) {
        let patterns: Vec<_> =
            (0..20).map(|i| (numbers.bytes(min + i % span, b"abcXY\0"), i % 3 == 0)).collect();
        let set = set(&patterns);
        for form in forms() {
            let options = Options::with_params(&format!("{form},{shape}")).unwrap();
            let Ok(matcher) = ENGINE.compile(&set, &options) else { continue };
            for len in (0..300).step_by(7).chain([1000, SEARCHED, SEARCHED + 1]) {
                let mut haystack = vec![b'.'; len];
                let is_searched = !form.starts_with("isa=scalar") && len <= SEARCHED;
                let without = matcher.first_candidate(&haystack);
                assert_eq!(without, if is_searched { len } else { 0 }, "{form} {shape}");
                let (pattern, _) = &patterns[numbers.below(patterns.len())];
                let Some(most) = len.checked_sub(pattern.len()) else { continue };
                for start in [0, 1, most / 2, most.saturating_sub(1), most].map(|at| at.min(most)) {
                    haystack.fill(b'.');
                    haystack[start..start + pattern.len()].copy_from_slice(pattern);
                    let first = matcher.first_candidate(&haystack);
                    assert!(first <= start, "{form} {shape}: {first} of {len} is after {start}");
                    assert!(!is_searched || first + set.max_len() > start);
                    check_block(&*matcher, &haystack, start / 2);
                }
            }
        }
    }
}

/// Scans a haystack as one block, and as one with an overlap.
fn check_block(matcher: &dyn Matcher, haystack: &[u8], overlap: usize) {
    for overlap in [0, overlap] {
        let block = Block { bytes: haystack, overlap, offset: 0 };
        let mut found = Collect::default();
        assert!(matcher.scan(block, &mut Scratch::new(), &mut found).is_continue());
        let expected = oracle::find_owned(matcher.set(), block);
        assert_eq!(found.sorted(), expected, "{}, overlap {overlap}", matcher.describe());
    }
}

#[test]
fn many_patterns_with_the_same_windows_are_all_found() {
    let runs: Vec<_> = (4..60).map(|len| (vec![b'a'; len], false)).collect();
    check(&set(&runs), &[b'a'; 200], &["stride=1"]);
    let runs: Vec<_> = (7..60).map(|len| (vec![b'a'; len], len % 2 == 0)).collect();
    check(&set(&runs), b"aAaaaaaaaaaaaaaAAAAaaaaaaaaaaaaaaaaaaaaaaaaa", &["stride=2", "stride=4"]);
    // One short window with more texts around it than a bucket has entries.
    let around: Vec<_> = (0..200u8).map(|b| ([b"xyzw", &[b; 4][..]].concat(), false)).collect();
    let haystack: Vec<u8> = around.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
    check(&set(&around), &haystack, &["stride=1", "stride=2", "stride=4"]);
}

#[test]
fn dense_matches_are_handed_over_in_time() {
    let patterns: Vec<_> = (0..40).map(|len| (vec![b'a'; 8 + len], false)).collect();
    let set = set(&patterns);
    let haystack = vec![b'a'; 20_000];
    let expected: usize = patterns.iter().map(|(bytes, _)| haystack.len() + 1 - bytes.len()).sum();
    for form in forms() {
        let matcher = ENGINE.compile(&set, &Options::with_params(&form).unwrap()).unwrap();
        let mut found = Collect::default();
        let mut scratch = Scratch::new();
        assert!(matcher.scan(Block::whole(&haystack), &mut scratch, &mut found).is_continue());
        assert_eq!(found.matches.len(), expected);
        assert!(scratch.spent() >= expected as u64, "what is compared is counted");
    }
}

#[test]
fn long_patterns_are_compared_to_their_end() {
    let mut long = vec![b'q'; 65_535];
    long[40] = b'x';
    let mut other = long.clone();
    other[65_534] = b'x';
    let mut haystack = vec![b'.'; 30];
    haystack.extend_from_slice(&long);
    haystack.push(b'.');
    check(&set(&[(long, false), (other, false)]), &haystack, &[""]);
}

#[test]
fn a_matcher_tells_how_it_gathers() {
    let set = set(&[(b"pattern".to_vec(), false)]);
    for form in forms().filter(|form| !form.ends_with("auto")) {
        let matcher = ENGINE.compile(&set, &Options::with_params(&form).unwrap()).unwrap();
        assert!(matcher.options().starts_with(&form), "{form}: {}", matcher.options());
    }
    let options = Options::with_params("gathers=none").unwrap();
    assert!(matches!(ENGINE.compile(&set, &options), Err(Refusal::BadOption(_))));
}
