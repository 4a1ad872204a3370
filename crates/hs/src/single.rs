//! [`Single`]: a database of one literal. Suricata compiles tens of thousands of them at its start,
//! so it is small and built in a microsecond.

use crate::report::Reporter;
use crate::rules::{Rule, Terms};
use fyke_core::Block;
use memchr::arch::all::packedpair::Pair;
use std::ops::ControlFlow;

/// Positions that are looked at together. The compiler makes vector instructions of them.
const LANES: usize = 32;

/// One literal.
pub(crate) struct Single {
    terms: Terms,
    /// In lower case if letters match in either case.
    bytes: Box<[u8]>,
    nocase: bool,
    /// Two rare bytes.
    rare: [Rare; 2],
}

/// A byte of the literal that is rare in most data.
#[derive(Clone, Copy)]
struct Rare {
    at: u8,
    byte: u8,
    /// The bit that folds a letter of the haystack to lower case; 0 if case matters, or if this
    /// byte is no letter.
    fold: u8,
}

impl Rare {
    #[inline(always)]
    fn is(self, byte: u8) -> bool {
        byte | self.fold == self.byte
    }
}

impl Single {
    /// The longest literal. A search may compare all of it at every position, so longer ones are
    /// left to `Multi`.
    pub(crate) const MAX_LEN: usize = 256;

    /// Prepares a literal of at most [`MAX_LEN`](Self::MAX_LEN) bytes.
    pub(crate) fn new(rule: Rule) -> Self {
        let (mut bytes, terms) = (rule.literal.bytes, rule.terms);
        let nocase = rule.literal.nocase && bytes.iter().any(u8::is_ascii_alphabetic);
        if nocase {
            bytes.make_ascii_lowercase();
        }
        let pair = Pair::new(&bytes).map_or([0, 0], |pair| [pair.index1(), pair.index2()]);
        let rare = pair.map(|at| {
            let byte = bytes[usize::from(at)];
            let fold = if nocase && byte.is_ascii_alphabetic() { 0x20 } else { 0 };
            Rare { at, byte, fold }
        });
        Self { terms, bytes: bytes.into(), nocase, rare }
    }

    /// The literal. A caseless one is in lower case.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether letters match in either case.
    pub(crate) fn nocase(&self) -> bool {
        self.nocase
    }

    /// What it reports.
    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Bytes on the heap.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.len()
    }

    /// Reports the matches that a block owns.
    pub(crate) fn scan(&self, block: Block<'_>, reporter: &mut Reporter<'_>) -> ControlFlow<()> {
        // Matches that end within the overlap belong to an earlier block.
        let from = (block.overlap + 1).saturating_sub(self.bytes.len());
        let Some(haystack) = block.bytes.get(from..) else { return ControlFlow::Continue(()) };
        self.occurrences(haystack, |at| {
            let start = block.offset + (from + at) as u64;
            reporter.only(&self.terms, (start, start + self.bytes.len() as u64))
        })
    }

    /// Calls `each` with the position of every occurrence, in order.
    fn occurrences(
        &self,
        haystack: &[u8],
        mut each: impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(starts) = (haystack.len() + 1).checked_sub(self.bytes.len()) else {
            return ControlFlow::Continue(());
        };
        let [one, two] = self.rare;
        // The rare bytes of an occurrence that begins at `i` are `a[i]` and `b[i]`.
        let part = |rare: Rare| &haystack[usize::from(rare.at)..usize::from(rare.at) + starts];
        let (a, b) = (part(one), part(two));
        let ((a_chunks, a_rest), (b_chunks, b_rest)) =
            (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
        for (chunk, (a, b)) in a_chunks.iter().zip(b_chunks).enumerate() {
            if has_candidate(one, two, a, b) {
                self.confirm(haystack, chunk * LANES, a, b, &mut each)?;
            }
        }
        if has_candidate(one, two, &padded(a_rest), &padded(b_rest)) {
            self.confirm(haystack, a_chunks.len() * LANES, a_rest, b_rest, &mut each)?;
        }
        ControlFlow::Continue(())
    }

    /// Calls `each` with the occurrences that begin in the `a.len()` positions from `from` on. `a`
    /// and `b` are the bytes of the haystack where these would have their rare bytes.
    fn confirm(
        &self,
        haystack: &[u8],
        from: usize,
        a: &[u8],
        b: &[u8],
        each: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let [one, two] = self.rare;
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            if one.is(x) && two.is(y) && self.is_at(haystack, from + i) {
                each(from + i)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether the literal is at a position.
    fn is_at(&self, haystack: &[u8], at: usize) -> bool {
        let found = &haystack[at..at + self.bytes.len()];
        if self.nocase { found.eq_ignore_ascii_case(&self.bytes) } else { *found == *self.bytes }
    }
}

/// Whether any position has both rare bytes.
#[inline(always)]
fn has_candidate(one: Rare, two: Rare, a: &[u8; LANES], b: &[u8; LANES]) -> bool {
    let mut hits = [0u8; LANES];
    for i in 0..LANES {
        hits[i] = u8::from(one.is(a[i])) & u8::from(two.is(b[i]));
    }
    let (words, _) = hits.as_chunks::<8>();
    words.iter().fold(0, |any, &word| any | u64::from_ne_bytes(word)) != 0
}

/// Fewer bytes than a chunk, with zeros after them.
#[inline(always)]
fn padded(rest: &[u8]) -> [u8; LANES] {
    let mut chunk = [0; LANES];
    chunk[..rest.len()].copy_from_slice(rest);
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::FLAG_CASELESS;
    use crate::rules::tests::rule;

    fn all(text: &str, flags: u32, haystack: &[u8]) -> Vec<usize> {
        let mut found = Vec::new();
        let _ = Single::new(rule(text, flags, 0)).occurrences(haystack, |at| {
            found.push(at);
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn all_occurrences_are_found() {
        assert_eq!(all("aa", 0, b"aaaa"), [0, 1, 2]);
        assert_eq!(all("aA", FLAG_CASELESS, b"aAaA"), [0, 1, 2]);
        assert_eq!(all("a", 0, b"banana"), [1, 3, 5]);
        assert_eq!(all("Na", FLAG_CASELESS, b"baNAna"), [2, 4]);
        assert_eq!(all(r"1\x2f", FLAG_CASELESS, b"11/1/"), [1, 3]);
        assert_eq!(all("abc", FLAG_CASELESS, b"ab"), [0; 0]);
        assert_eq!(all("abc", 0, b""), [0; 0]);
        assert_eq!(all(r"\x00\x00", 0, b"\0\0\0"), [0, 1]);
    }

    #[test]
    fn literals_agree_with_a_naive_search() {
        let haystack: Vec<u8> =
            (0..4000u32).map(|i| b"aAbBzZ-"[(i * i / 7 % 7) as usize]).collect();
        for text in ["a", "zb", "-a", "aAb", "zzz", "b-Z", "bzazb"] {
            let naive: Vec<usize> = haystack
                .windows(text.len())
                .enumerate()
                .filter(|(_, w)| w.eq_ignore_ascii_case(text.as_bytes()))
                .map(|(at, _)| at)
                .collect();
            assert_eq!(all(text, FLAG_CASELESS, &haystack), naive, "{text}");
            let windows = haystack.windows(text.len()).enumerate();
            let exact: Vec<usize> =
                windows.filter(|(_, w)| *w == text.as_bytes()).map(|(at, _)| at).collect();
            assert_eq!(all(text, 0, &haystack), exact, "{text}");
        }
    }

    /// Suricata compiles some 75,000 of them. The limit leaves room for what `malloc` adds.
    #[test]
    fn a_database_is_small() {
        let database = size_of::<crate::database::Database>();
        let single = Single::new(rule("some literal", 0, 0));
        let heap = single.memory() - single.bytes().len();
        assert!(database + heap <= 200 - 3 * 16, "{database} + {heap}");
    }
}
