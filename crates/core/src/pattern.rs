//! [`PatternSet`]: the patterns to find.
//!
//! A set is canonical. It holds equal patterns once, with all their ids, and numbers the *distinct
//! patterns* in bytewise order. This number is the **dense index**, which engines write to their
//! [`Record`](crate::Record)s. So duplicate rules cost an engine nothing, and the fingerprint of a
//! result does not depend on the order of the pattern file.

mod build;
mod stored;

pub use build::PatternSetBuilder;
pub use stored::{PatternTables, UnsoundSet};

use crate::error::PatternError;
use crate::sink::fnv1a;
use crate::table::Table;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The length limit of a pattern, in bytes.
pub const MAX_LEN: usize = 65_535;

/// The number that the caller gives a pattern. Several patterns may share an id, and the same
/// bytes may have several ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(transparent)]
pub struct PatternId(pub u32);

impl fmt::Display for PatternId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One distinct pattern of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern<'a> {
    /// Its dense index: its rank among the distinct patterns of the set, in bytewise order.
    pub index: u32,
    /// Its bytes, in ASCII lower case if `nocase`.
    pub bytes: &'a [u8],
    /// Whether ASCII letters match in either case.
    pub nocase: bool,
    /// Its ids, ascending, without duplicates.
    pub ids: &'a [PatternId],
}

impl Pattern<'_> {
    /// Whether the pattern matches `window`, which must have the length of the pattern.
    #[inline]
    pub fn is_match(&self, window: &[u8]) -> bool {
        if self.nocase { self.bytes.eq_ignore_ascii_case(window) } else { self.bytes == window }
    }
}

/// An immutable, canonical set of patterns. Cloning it is cheap.
///
/// With the feature `serde` it is a list of `{ pattern, ids, nocase }`. Text formats hold a pattern
/// as a string if it is UTF-8, and as a list of bytes if it is not.
///
/// ```
/// use fyke_core::{PatternId, PatternSet};
///
/// let mut builder = PatternSet::builder();
/// builder.push_with(PatternId(7), b"GET ", false)?;
/// builder.push_with(PatternId(9), b"Host", true)?; // "host", "HOST" ...
/// builder.push_with(PatternId(8), b"GET ", false)?; // the same bytes under a second id
/// let set = builder.build();
///
/// assert_eq!(set.len(), 2); // distinct patterns
/// assert_eq!(set.get(0).ids, [PatternId(7), PatternId(8)]);
/// assert_eq!(set.get(1).bytes, b"host");
/// # Ok::<(), fyke_core::PatternError>(())
/// ```
#[derive(Clone)]
pub struct PatternSet(Arc<Inner>);

/// Besides its bytes, a pattern takes four bytes for its start and four for each id. It takes four
/// more if any pattern has several ids, and one more if any ignores case.
struct Inner {
    /// The concatenated bytes of all distinct patterns, by dense index.
    bytes: Table<u8>,
    /// Where each pattern starts in `bytes`, and the end of the last.
    starts: Table<u32>,
    /// 1 for each pattern that ignores case. Empty if none does.
    nocase: Table<u8>,
    ids: Table<PatternId>,
    /// Where each pattern's ids start in `ids`, and the end of the last. Empty if each has one id.
    id_starts: Table<u32>,
    min_len: usize,
    max_len: usize,
    nocase_count: usize,
    span_shared: bool,
    /// Computed on first use, because it reads all bytes of the set.
    digest: OnceLock<u64>,
}

impl PatternSet {
    /// A set whose ids are the positions of the patterns: 0, 1, 2 ...
    ///
    /// # Errors
    /// A pattern is empty or longer than [`MAX_LEN`] bytes.
    pub fn new<I, P>(patterns: I) -> Result<PatternSet, PatternError>
    where
        I: IntoIterator<Item = P>,
        P: AsRef<[u8]>,
    {
        let mut builder = PatternSet::builder();
        for pattern in patterns {
            builder.push(pattern)?;
        }
        Ok(builder.build())
    }

    /// A builder, for ids of your own and patterns that ignore case.
    pub fn builder() -> PatternSetBuilder {
        PatternSetBuilder::default()
    }

    /// The number of distinct patterns.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set has no pattern. Such a set matches nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of (id, pattern) pairs: at least [`len`](Self::len).
    pub fn id_count(&self) -> usize {
        self.0.ids.len()
    }

    /// The distinct pattern with a dense index.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[inline]
    pub fn get(&self, index: u32) -> Pattern<'_> {
        Pattern {
            index,
            bytes: self.bytes(index),
            nocase: self.0.is_nocase(index as usize),
            ids: self.ids(index),
        }
    }

    /// The bytes of a distinct pattern.
    #[inline]
    pub fn bytes(&self, index: u32) -> &[u8] {
        let i = index as usize;
        &self.0.bytes[self.0.starts[i] as usize..self.0.starts[i + 1] as usize]
    }

    /// The length of a distinct pattern, in bytes.
    #[inline]
    pub fn pattern_len(&self, index: u32) -> usize {
        let i = index as usize;
        (self.0.starts[i + 1] - self.0.starts[i]) as usize
    }

    /// Where each distinct pattern starts in the concatenated bytes, and the end of the last. It
    /// makes loops over the lengths of many patterns fast.
    pub fn starts(&self) -> &[u32] {
        &self.0.starts
    }

    /// The ids of a distinct pattern, ascending.
    #[inline]
    pub fn ids(&self, index: u32) -> &[PatternId] {
        let i = index as usize;
        let (ids, starts) = (&self.0.ids, &self.0.id_starts);
        if starts.is_empty() {
            return &ids[i..=i];
        }
        &ids[starts[i] as usize..starts[i + 1] as usize]
    }

    /// The distinct patterns, by dense index.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Pattern<'_>> + '_ {
        (0..self.len()).map(|i| self.get(i as u32))
    }

    /// The length of the shortest pattern in bytes; 0 if the set is empty.
    pub fn min_len(&self) -> usize {
        self.0.min_len
    }

    /// The length of the longest pattern in bytes; 0 if the set is empty.
    pub fn max_len(&self) -> usize {
        self.0.max_len
    }

    /// The same patterns under the same ids, all ignoring ASCII case.
    pub fn to_nocase(&self) -> PatternSet {
        let mut builder = PatternSet::builder();
        builder.reserve(self.id_count(), self.total_bytes());
        for p in self.iter() {
            for &id in p.ids {
                builder.push_with(id, p.bytes, true).expect("no longer or more than in this set");
            }
        }
        builder.build()
    }

    /// The overlap that a block needs: `max_len - 1` bytes; 0 if the set is empty.
    pub fn overlap(&self) -> usize {
        self.0.max_len.saturating_sub(1)
    }

    /// The total length of all distinct patterns in bytes.
    pub fn total_bytes(&self) -> usize {
        self.0.bytes.len()
    }

    /// The number of distinct patterns that ignore ASCII case.
    pub fn nocase_count(&self) -> usize {
        self.0.nocase_count
    }

    /// Whether two distinct patterns can match the same bytes, as `"Ab"` and a `nocase` `"ab"` do.
    pub fn has_shared_spans(&self) -> bool {
        self.0.span_shared
    }

    /// A 64-bit digest of patterns, flags and ids. A saved stream state names its set by it.
    pub fn digest(&self) -> u64 {
        *self.0.digest.get_or_init(|| self.0.compute_digest())
    }

    /// The memory of the set in bytes.
    pub fn memory(&self) -> u64 {
        let s = &*self.0;
        (s.bytes.len() + s.nocase.len() + 4 * (s.starts.len() + s.ids.len() + s.id_starts.len()))
            as u64
    }
}

impl fmt::Debug for PatternSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PatternSet")
            .field("patterns", &self.len())
            .field("ids", &self.id_count())
            .field("lengths", &(self.min_len()..=self.max_len()))
            .field("nocase", &self.nocase_count())
            .finish()
    }
}

impl Inner {
    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline]
    fn is_nocase(&self, i: usize) -> bool {
        !self.nocase.is_empty() && self.nocase[i] != 0
    }

    fn pattern(&self, i: usize) -> &[u8] {
        &self.bytes[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Two distinct patterns match the same bytes only if one ignores case, the other does not, and
    /// both have the same lower case.
    fn any_shared_span(&self) -> bool {
        if self.nocase_count == 0 || self.nocase_count == self.nocase.len() {
            return false;
        }
        let folded: std::collections::HashSet<&[u8]> = (0..self.nocase.len())
            .filter(|&i| self.is_nocase(i))
            .map(|i| self.pattern(i))
            .collect();
        (0..self.nocase.len()).any(|i| {
            !self.is_nocase(i) && folded.contains(&self.pattern(i).to_ascii_lowercase()[..])
        })
    }

    /// The digest of all lists. Lists that are left out are hashed as if they were there: saved
    /// states contain the digest, so it must not depend on the form in memory.
    fn compute_digest(&self) -> u64 {
        let number = |h, n: u32| fnv1a(&n.to_le_bytes(), h);
        let mut h = fnv1a(&self.bytes, crate::sink::FNV_BASIS);
        h = self.starts.iter().fold(h, |h, &start| number(h, start));
        h = match &self.id_starts[..] {
            [] => (0..self.starts.len()).fold(h, |h, i| number(h, i as u32)),
            starts => starts.iter().fold(h, |h, &start| number(h, start)),
        };
        h = self.ids.iter().fold(h, |h, id| number(h, id.0));
        (0..self.len()).fold(h, |h, i| fnv1a(&[u8::from(self.is_nocase(i))], h))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_patterns_are_merged_and_ranked_bytewise() {
        let set = PatternSet::new(["b", "a", "b", "\u{ff}", "B"]).unwrap();
        let all: Vec<_> = set.iter().map(|p| (p.bytes.to_vec(), p.ids.to_vec())).collect();
        assert_eq!(all[0].0, b"B");
        assert_eq!(all[1].0, b"a");
        assert_eq!(all[2], (b"b".to_vec(), vec![PatternId(0), PatternId(2)]));
        assert_eq!((set.len(), set.id_count(), set.min_len(), set.max_len()), (4, 5, 1, 2));
    }

    #[test]
    fn the_same_pair_of_id_and_pattern_counts_once() {
        let mut b = PatternSet::builder();
        b.push_with(PatternId(3), "x", false).unwrap().push_with(PatternId(3), "x", false).unwrap();
        assert_eq!(b.build().id_count(), 1);
    }

    #[test]
    fn a_nocase_flag_without_letters_is_dropped() {
        let mut b = PatternSet::builder();
        b.push_with(PatternId(1), "12", true)
            .unwrap()
            .push_with(PatternId(2), "12", false)
            .unwrap();
        let set = b.build();
        assert_eq!((set.len(), set.nocase_count()), (1, 0));
    }

    #[test]
    fn shared_spans_are_seen() {
        let mut b = PatternSet::builder();
        b.push_with(PatternId(1), "aB", false)
            .unwrap()
            .push_with(PatternId(2), "AB", true)
            .unwrap();
        assert!(b.build().has_shared_spans());
    }

    #[test]
    fn bad_patterns_are_named() {
        let e = PatternSet::new(["a", ""]).unwrap_err();
        assert_eq!((e.position(), e.is_empty_pattern()), (1, true));
        let e = PatternSet::new([vec![0u8; MAX_LEN + 1]]).unwrap_err();
        assert!(e.to_string().contains("65536 bytes"), "{e}");
        assert!(PatternSet::new([vec![0u8; MAX_LEN]]).is_ok());
    }

    #[test]
    fn the_digest_tells_sets_apart() {
        let digest = |p: &[&str]| PatternSet::new(p).unwrap().digest();
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_eq!(digest(&["ab"]), digest(&["ab"]));
    }
}
