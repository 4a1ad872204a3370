//! Skips: the bytes that a scan can pass over while the automaton is in its root.
//!
//! In the root no match is in progress, so all bytes before the next possible start of a match can
//! be skipped. With one pattern this start is its next occurrence (`memmem`). With patterns that
//! have up to three first bytes, it is the next of these bytes (`memchr`). Where starts are
//! frequent, walks are faster; the scan detects it and alternates.

use fyke_core::PatternSet;
use memchr::memmem;

/// How to find the next position where a match may start.
pub(super) enum Skip {
    /// There are too many first bytes.
    Never,
    /// One pattern that respects case and is longer than one byte.
    Word(Box<memmem::Finder<'static>>),
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
}

impl Skip {
    pub(super) fn new(set: &PatternSet) -> Skip {
        if set.len() == 1 && set.nocase_count() == 0 && set.min_len() > 1 {
            return Skip::Word(Box::new(memmem::Finder::new(set.bytes(0)).into_owned()));
        }
        match first_bytes(set)[..] {
            [a] => Skip::One(a),
            [a, b] => Skip::Two(a, b),
            [a, b, c] => Skip::Three(a, b, c),
            _ => Skip::Never,
        }
    }

    pub(super) fn is_never(&self) -> bool {
        matches!(self, Skip::Never)
    }

    /// The position before which no match of a haystack begins: its length if there is none.
    #[inline]
    pub(super) fn first_start(&self, haystack: &[u8]) -> usize {
        match self {
            Skip::Word(finder) => finder.find(haystack).unwrap_or(haystack.len()),
            _ => self.skip(haystack),
        }
    }

    /// How many of these bytes a scan in the root can skip. If a single pattern does not occur, it
    /// may still start in the last `len - 1` bytes, so these are not skipped.
    #[inline]
    pub(super) fn skip(&self, bytes: &[u8]) -> usize {
        let start = match self {
            Skip::Never => Some(0),
            Skip::Word(finder) => {
                let partial = bytes.len().min(finder.needle().len() - 1);
                finder.find(bytes).or(Some(bytes.len() - partial))
            }
            Skip::One(a) => memchr::memchr(*a, bytes),
            Skip::Two(a, b) => memchr::memchr2(*a, *b, bytes),
            Skip::Three(a, b, c) => memchr::memchr3(*a, *b, *c, bytes),
        };
        start.unwrap_or(bytes.len())
    }
}

/// The first bytes of the patterns, in both cases where a pattern ignores case. Stops after four.
fn first_bytes(set: &PatternSet) -> Vec<u8> {
    let mut first = Vec::new();
    for p in set.iter() {
        let byte = p.bytes[0];
        let other = if p.nocase { byte.to_ascii_uppercase() } else { byte };
        for b in [byte, other] {
            if !first.contains(&b) {
                first.push(b);
            }
        }
        if first.len() > 3 {
            break;
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::PatternId;

    fn skip(patterns: &[(&str, bool)]) -> Skip {
        let mut b = PatternSet::builder();
        for (p, nocase) in patterns {
            b.push_with(PatternId(0), p, *nocase).unwrap();
        }
        Skip::new(&b.build())
    }

    #[test]
    fn the_last_bytes_may_be_the_start_of_the_one_pattern() {
        let word = skip(&[("abc", false)]);
        assert_eq!(word.skip(b"xxabcx"), 2);
        assert_eq!(word.skip(b"xxxxab"), 4);
        assert_eq!((word.skip(b"a"), word.skip(b"")), (0, 0));
    }

    #[test]
    fn starts_are_found_in_either_case() {
        assert!(matches!(skip(&[("ab", true)]), Skip::Two(b'a', b'A')));
        assert!(matches!(skip(&[("ab", true), ("1", true)]), Skip::Three(..)));
        assert!(skip(&[("ab", true), ("bc", true)]).is_never());
        assert!(matches!(skip(&[("a", false), ("ab", false)]), Skip::One(b'a')));
        assert!(skip(&[]).is_never());
        assert_eq!(skip(&[("ab", true)]).skip(b"xxAb"), 2);
    }
}
