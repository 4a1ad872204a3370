//! The finder against a naive search, for every cut into pieces.

use super::*;
use crate::naive;
use proptest::prelude::*;

/// Searches an image in pieces of these sizes. The last size is repeated.
fn in_pieces(finder: &Finder, image: &[u8], sizes: &[usize]) -> Hits {
    let mut hits = finder.no_hits(image.len() as u64);
    let (mut scratch, mut piece_hits) = (FinderScratch::default(), PieceHits::default());
    let (mut at, mut piece) = (0, 0);
    while at < image.len() {
        let owned = sizes[piece.min(sizes.len() - 1)].min(image.len() - at);
        let end = image.len().min(at + owned + finder.look_ahead());
        piece_hits.restart(at as u64);
        let bytes = &image[at..end];
        finder.find(Piece { bytes, owned, offset: at as u64 }, &mut scratch, &mut piece_hits);
        piece_hits.append_to(&mut hits);
        (at, piece) = (at + owned, piece + 1);
    }
    hits
}

fn byte() -> impl Strategy<Value = u8> {
    prop::sample::select(b"abAB\0\xff?\n".to_vec())
}

fn bytes_needle() -> impl Strategy<Value = Needle> {
    let one = prop_oneof![4 => byte().prop_map(Some), 1 => Just(None)];
    let bytes = prop::collection::vec(one, 1..6);
    (bytes, any::<bool>()).prop_map(|(bytes, nocase)| Needle::Bytes { bytes, nocase })
}

const EXPRESSIONS: &[&str] = &[
    "ab",
    "a+b",
    "ab*",
    "[ab]{2,4}",
    "(a|ab)(b|bA)?",
    "a.b",
    "ab.*b",
    "a+",
    "B|Aa|aab",
    "\\x00+",
    "[^a]b",
    "aa(a|b)*",
    "(ab){2}",
];

fn needle() -> impl Strategy<Value = Needle> {
    let regex = (prop::sample::select(EXPRESSIONS), any::<bool>())
        .prop_map(|(pattern, nocase)| Needle::Regex { pattern: pattern.to_owned(), nocase });
    prop_oneof![5 => bytes_needle(), 1 => regex]
}

fn rules(needles: Vec<Needle>) -> RuleSet {
    let mut rules = RuleSet::default();
    for needle in needles {
        rules.intern(needle);
    }
    rules
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn finds_what_the_naive_search_finds(
        needles in prop::collection::vec(needle(), 0..12),
        image in prop::collection::vec(byte(), 0..120),
        sizes in prop::collection::vec(1_usize..40, 1..5),
    ) {
        let rules = rules(needles);
        let finder = Finder::new(&rules).unwrap();
        let expected = naive::find(&image, &rules);
        prop_assert_eq!(&in_pieces(&finder, &image, &[image.len().max(1)]), &expected);
        prop_assert_eq!(&in_pieces(&finder, &image, &sizes), &expected);
        let other = Finder::with_engine(&rules, "ac-dfa").unwrap();
        prop_assert_eq!(&in_pieces(&other, &image, &sizes), &expected);
    }
}

#[test]
fn every_cut_gives_the_same_hits() {
    let literal = |text: &str, nocase| Needle::Bytes {
        bytes: text.bytes().map(|b| (b != b'?').then_some(b)).collect(),
        nocase,
    };
    let regex = |text: &str| Needle::Regex { pattern: text.to_owned(), nocase: false };
    let rules = rules(vec![
        literal("ab", false),
        literal("AB?a", true),
        literal("??", false),
        literal("aaa", false),
        regex("ab.*b"),
        regex("a+"),
    ]);
    let finder = Finder::new(&rules).unwrap();
    let image = b"abcaaabAbxaabbaAaaaaabBbaab".repeat(3);
    let expected = naive::find(&image, &rules);
    assert!(expected.needles.iter().all(|needle| !needle.starts.is_empty()));
    for cut in 1..image.len() {
        assert_eq!(in_pieces(&finder, &image, &[cut, image.len()]), expected, "cut at {cut}");
        assert_eq!(in_pieces(&finder, &image, &[cut]), expected, "pieces of {cut}");
    }
}

#[test]
fn matches_of_expressions_end_at_the_limit() {
    let rules = rules(vec![Needle::Regex { pattern: "xy[a-z]*".to_owned(), nocase: false }]);
    let image = [b"xy".as_slice(), &[b'a'; 9000]].concat();
    let finder = Finder::new(&rules).unwrap();
    for size in [1, 4096, 5000, 10_000] {
        let hits = in_pieces(&finder, &image, &[size]);
        assert_eq!(hits.needles[0].starts, [0]);
        assert_eq!(hits.needles[0].len_of(0), Needle::MAX_REGEX_LEN as u64);
    }
}

#[test]
fn offsets_are_not_limited_to_32_bits() {
    let rules = rules(vec![Needle::Bytes {
        bytes: b"ab".iter().copied().map(Some).collect(),
        nocase: false,
    }]);
    let finder = Finder::new(&rules).unwrap();
    let (mut scratch, mut hits) = (FinderScratch::default(), PieceHits::default());
    let offset = 5 << 40;
    hits.restart(offset);
    finder.find(Piece { bytes: b"xab", owned: 3, offset }, &mut scratch, &mut hits);
    let mut all = finder.no_hits(offset + 3);
    hits.append_to(&mut all);
    assert_eq!(all.needles[0].starts, [offset + 1]);
}

#[test]
fn a_wrong_expression_is_named() {
    let rules = rules(vec![Needle::Regex { pattern: "a(".to_owned(), nocase: false }]);
    let error = Finder::new(&rules).unwrap_err().to_string();
    assert!(error.contains("/a(/"), "{error}");
}

#[test]
fn ten_thousand_rules_are_searched() {
    let needle = |n: u32| Needle::Bytes {
        bytes: [b"R".as_slice(), &n.to_be_bytes()].concat().into_iter().map(Some).collect(),
        nocase: false,
    };
    let set = RuleSet { needles: (0..20_000).map(needle).collect(), ..RuleSet::default() };
    let image: Vec<u8> =
        (0..20_000_u32).flat_map(|n| [b"R".as_slice(), &n.to_be_bytes()].concat()).collect();
    let hits = in_pieces(&Finder::new(&set).unwrap(), &image, &[7777]);
    assert!(hits.needles.iter().enumerate().all(|(n, found)| found.starts == [5 * n as u64]));
}
