//! Proptest strategies for sets and haystacks that are likely to expose mistakes.
//!
//! Random patterns almost never occur in random bytes. Here alphabets are small, patterns are
//! derived from each other and haystacks from the patterns, so nearly every case has matches, near
//! misses, overlaps and failure links that do not lead to the root.

use crate::case::{Case, Entry};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The bytes of patterns: two letters, both cases, neighbors of letters, high bytes.
const ALPHABETS: &[&[u8]] = &[
    b"ab",
    b"abAB",
    b"acgt",
    b"\x00\xff",
    b"@`[{aAzZ",
    b"a\x80\xc4\xe4",
    b"abcdefghijklmnopqrstuvwxyz",
];
/// The maximum number of patterns of a set.
const PATTERNS: usize = 12;

type Alphabet = &'static [u8];

/// A set and a haystack of up to `parts` pieces, with the expected matches.
pub fn case(parts: usize) -> impl Strategy<Value = Case> {
    select(ALPHABETS).prop_flat_map(entries).prop_flat_map(move |(alphabet, entries)| {
        (Just(entries), vec(piece(alphabet), 0..parts)).prop_map(|(entries, pieces)| {
            let haystack = pieces.into_iter().flat_map(|p| p.bytes(&entries)).collect();
            Case::new(entries, haystack).expect("generated patterns are neither empty nor too long")
        })
    })
}

/// Chunk sizes, used in turn and repeated. 0 is an empty chunk.
pub fn chunking() -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![3 => 0..4usize, 3 => 4..80usize, 1 => 80..2000usize];
    vec(size, 1..8)
        .prop_filter("some chunk must not be empty", |sizes| sizes.iter().any(|&s| s > 0))
}

/// Cuts a haystack into chunks of the given sizes.
pub fn cut<'a>(mut rest: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    for &size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, tail) = rest.split_at(size.min(rest.len()));
        chunks.push(chunk);
        rest = tail;
    }
    chunks
}

fn entries(alphabet: Alphabet) -> impl Strategy<Value = (Alphabet, Vec<Entry>)> {
    let nocase = select(&[[false; 2], [true; 2], [false, true]]);
    let one = (bytes(alphabet), derivation(), any::<bool>(), id());
    (nocase, vec(one, 0..PATTERNS)).prop_map(move |(nocase, parts)| {
        let mut all: Vec<Entry> = Vec::new();
        for (fresh, derivation, flag, id) in parts {
            let bytes = derivation.apply(fresh, &all);
            let id = id.unwrap_or(all.len() as u32);
            all.push(Entry { bytes, nocase: nocase[usize::from(flag)], id });
        }
        (alphabet, all)
    })
}

/// Ids: mostly positions, some from a small range so that they collide, some anywhere.
fn id() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![6 => Just(None), 2 => (0..4u32).prop_map(Some), 1 => any::<u32>().prop_map(Some)]
}

fn bytes(alphabet: Alphabet) -> impl Strategy<Value = Vec<u8>> {
    let short = vec(select(alphabet), 1..5);
    let long = vec(select(alphabet), 5..40);
    let run = (select(alphabet), 1..20usize).prop_map(|(b, n)| vec![b; n]);
    prop_oneof![5 => short, 2 => long, 1 => run]
}

/// How a pattern is derived from an earlier one.
#[derive(Clone, Debug)]
enum Derivation {
    Fresh,
    Same(Index),
    Prefix(Index, Index),
    Suffix(Index, Index),
    Before(Index),
    After(Index),
}

fn derivation() -> impl Strategy<Value = Derivation> {
    let index = any::<Index>;
    prop_oneof![
        4 => Just(Derivation::Fresh),
        1 => index().prop_map(Derivation::Same),
        2 => (index(), index()).prop_map(|(of, len)| Derivation::Prefix(of, len)),
        2 => (index(), index()).prop_map(|(of, len)| Derivation::Suffix(of, len)),
        1 => index().prop_map(Derivation::Before),
        1 => index().prop_map(Derivation::After),
    ]
}

impl Derivation {
    fn apply(self, fresh: Vec<u8>, all: &[Entry]) -> Vec<u8> {
        let old = |i: Index| i.get(all).bytes.as_slice();
        match self {
            _ if all.is_empty() => fresh,
            Derivation::Fresh => fresh,
            Derivation::Same(i) => old(i).to_vec(),
            Derivation::Prefix(i, len) => old(i)[..=len.index(old(i).len())].to_vec(),
            Derivation::Suffix(i, len) => old(i)[len.index(old(i).len())..].to_vec(),
            Derivation::Before(i) => [&fresh, old(i)].concat(),
            Derivation::After(i) => [old(i), &fresh].concat(),
        }
    }
}

/// A piece of a haystack.
#[derive(Clone, Debug)]
enum Piece {
    Pattern(Index),
    UpperCase(Index),
    Prefix(Index, Index),
    Suffix(Index, Index),
    Noise(Vec<u8>),
    Filler(u8, usize),
}

fn piece(alphabet: Alphabet) -> impl Strategy<Value = Piece> {
    let index = any::<Index>;
    prop_oneof![
        4 => index().prop_map(Piece::Pattern),
        1 => index().prop_map(Piece::UpperCase),
        2 => (index(), index()).prop_map(|(of, len)| Piece::Prefix(of, len)),
        2 => (index(), index()).prop_map(|(of, len)| Piece::Suffix(of, len)),
        2 => vec(select(alphabet), 0..20).prop_map(Piece::Noise),
        1 => (any::<u8>(), 0..70usize).prop_map(|(b, n)| Piece::Filler(b, n)),
    ]
}

impl Piece {
    fn bytes(self, entries: &[Entry]) -> Vec<u8> {
        let old = |i: Index| i.get(entries).bytes.as_slice();
        match self {
            Piece::Noise(bytes) => bytes,
            Piece::Filler(byte, n) => vec![byte; n],
            _ if entries.is_empty() => Vec::new(),
            Piece::Pattern(i) => old(i).to_vec(),
            Piece::UpperCase(i) => old(i).to_ascii_uppercase(),
            Piece::Prefix(i, len) => old(i)[..len.index(old(i).len())].to_vec(),
            Piece::Suffix(i, len) => old(i)[len.index(old(i).len())..].to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    /// Cases without matches would let every engine pass.
    #[test]
    fn most_cases_have_matches_and_some_have_shared_spans() {
        let mut runner = TestRunner::deterministic();
        let cases: Vec<Case> =
            (0..300).map(|_| case(20).new_tree(&mut runner).unwrap().current()).collect();
        let count = |f: &dyn Fn(&Case) -> bool| cases.iter().filter(|c| f(c)).count();
        let counts = [
            count(&|c| c.expected.len() > 10),
            count(&|c| c.set.has_shared_spans()),
            count(&|c| c.set.id_count() > c.set.len()),
            count(&|c| c.entries.is_empty()),
        ];
        assert!(counts[0] > 150 && counts[1..].iter().all(|&n| n > 10), "{counts:?}");
    }

    #[test]
    fn chunks_add_up_to_the_haystack() {
        assert_eq!(cut(b"abcdefg", &[2, 0, 3]), [&b"ab"[..], b"", b"cde", b"fg"]);
    }
}
