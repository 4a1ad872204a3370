//! The finder against a naive search, for every cut into pieces.

use super::*;
use proptest::prelude::*;

/// Every hit of every needle, found by comparing at every offset.
fn naive(rules: &RuleSet, image: &[u8]) -> Hits {
    let needles = rules.needles.iter().map(|needle| match needle {
        Needle::Bytes { bytes, nocase } => {
            let starts = (0..image.len()).filter(|&at| is_at(bytes, *nocase, &image[at..]));
            let lengths = Lengths::Fixed(bytes.len() as u32);
            NeedleHits { starts: starts.map(|at| at as u64).collect(), lengths }
        }
        Needle::Regex { pattern, nocase } => {
            let at = (0..image.len()).filter_map(|at| {
                let end = image.len().min(at + Needle::MAX_REGEX_LEN);
                Some((at as u64, longest(pattern, *nocase, &image[at..end])?))
            });
            let (starts, lengths) = at.unzip();
            NeedleHits { starts, lengths: Lengths::Each(lengths) }
        }
    });
    Hits { image_len: image.len() as u64, needles: needles.collect() }
}

fn is_at(bytes: &[Option<u8>], nocase: bool, image: &[u8]) -> bool {
    let equal = |a: u8, b: u8| if nocase { a.eq_ignore_ascii_case(&b) } else { a == b };
    let fits = !bytes.is_empty() && bytes.len() <= image.len();
    fits && bytes.iter().zip(image).all(|(b, &i)| b.is_none_or(|b| equal(b, i)))
}

/// The longest prefix that the expression matches as a whole: tried from long to short.
fn longest(pattern: &str, nocase: bool, image: &[u8]) -> Option<u32> {
    use regex_automata::{Anchored, Input, nfa::thompson::pikevm::PikeVM, util::syntax};
    let whole = format!("(?:{pattern})\\z");
    let config = syntax::Config::new()
        .unicode(false)
        .utf8(false)
        .dot_matches_new_line(true)
        .case_insensitive(nocase);
    let nfa = regex_automata::nfa::thompson::Config::new().utf8(false);
    let vm = PikeVM::builder().syntax(config).thompson(nfa).build(&whole).unwrap();
    let mut cache = vm.create_cache();
    let matches = |len: &usize| {
        vm.is_match(&mut cache, Input::new(&image[..*len]).anchored(Anchored::Yes))
    };
    (1..=image.len()).rev().find({ let mut m = matches; move |len| m(len) }).map(|len| len as u32)
}

/// Searches an image in pieces that own so many bytes each, the last number repeated.
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
    "ab", "a+b", "ab*", "[ab]{2,4}", "(a|ab)(b|bA)?", "a.b", "ab.*b", "a*", "B|Aa|aab", "\\x00+",
    "[^a]b", "aa(a|b)*", "(ab){2}", "^ab",
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
        let expected = naive(&rules, &image);
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
        regex("a*"),
    ]);
    let finder = Finder::new(&rules).unwrap();
    let image = b"abcaaabAbxaabbaAaaaaabBbaab".repeat(3);
    let expected = naive(&rules, &image);
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
    let rules = rules(vec![Needle::Bytes { bytes: b"ab".iter().copied().map(Some).collect(), nocase: false }]);
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
    let mut set = RuleSet::default();
    set.needles = (0..20_000).map(needle).collect();
    let image: Vec<u8> = (0..20_000_u32).flat_map(|n| [b"R".as_slice(), &n.to_be_bytes()].concat()).collect();
    let hits = in_pieces(&Finder::new(&set).unwrap(), &image, &[7777]);
    assert!(hits.needles.iter().enumerate().all(|(n, found)| found.starts == [5 * n as u64]));
}
