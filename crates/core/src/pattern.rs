//! Pattern sets: what to look for.
//!
//! A set is canonical. Equal byte strings are held once, however many ids name them, and the
//! *distinct patterns* are numbered by their rank in bytewise order. That rank, the **dense index**,
//! is what engines write into their [`Record`](crate::Record)s: duplicated rules cost an engine
//! nothing, and a fingerprint of a result does not depend on the order of a pattern file.

use crate::error::PatternError;
use crate::sink::fnv1a;
use std::fmt;
use std::sync::Arc;

/// The longest pattern a set takes, in bytes.
pub const MAX_LEN: usize = 65_535;

/// A name that the caller gives to a pattern. Several patterns may share one id, and the same bytes
/// may stand under several ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PatternId(pub u32);

impl fmt::Display for PatternId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One distinct pattern of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern<'a> {
    /// Its dense index: the rank among the distinct patterns of the set, in bytewise order.
    pub index: u32,
    /// Its bytes; folded to ASCII lower case if `nocase`.
    pub bytes: &'a [u8],
    /// Whether ASCII letters match in either case.
    pub nocase: bool,
    /// The ids it was added under, ascending, none twice.
    pub ids: &'a [PatternId],
}

impl Pattern<'_> {
    /// Whether the pattern is equal to `window`, which has to be as long as the pattern.
    #[inline]
    pub fn is_match(&self, window: &[u8]) -> bool {
        if self.nocase { self.bytes.eq_ignore_ascii_case(window) } else { self.bytes == window }
    }
}

/// An immutable, canonical set of patterns; cheap to clone.
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

#[derive(Default)]
struct Inner {
    /// The bytes of all distinct patterns, one after the other, in dense order.
    bytes: Vec<u8>,
    /// Where each pattern starts in `bytes`, and one past the end.
    starts: Vec<u32>,
    nocase: Vec<bool>,
    ids: Vec<PatternId>,
    /// Where each pattern's ids start in `ids`, and one past the end.
    id_starts: Vec<u32>,
    min_len: usize,
    max_len: usize,
    nocase_count: usize,
    span_shared: bool,
    digest: u64,
}

impl PatternSet {
    /// Makes a set whose ids are the positions of the patterns: 0, 1, 2 ...
    ///
    /// # Errors
    /// A pattern is empty or longer than [`MAX_LEN`].
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

    /// Starts an empty set.
    pub fn builder() -> PatternSetBuilder {
        PatternSetBuilder::default()
    }

    /// The number of distinct patterns.
    pub fn len(&self) -> usize {
        self.0.nocase.len()
    }

    /// Whether there is no pattern at all. Such a set matches nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of (id, pattern) pairs: at least [`len`](Self::len).
    pub fn id_count(&self) -> usize {
        self.0.ids.len()
    }

    /// The distinct pattern of a dense index.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[inline]
    pub fn get(&self, index: u32) -> Pattern<'_> {
        Pattern {
            index,
            bytes: self.bytes(index),
            nocase: self.0.nocase[index as usize],
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

    /// The ids of a distinct pattern, ascending.
    #[inline]
    pub fn ids(&self, index: u32) -> &[PatternId] {
        let i = index as usize;
        &self.0.ids[self.0.id_starts[i] as usize..self.0.id_starts[i + 1] as usize]
    }

    /// The distinct patterns in dense order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Pattern<'_>> + '_ {
        (0..self.len()).map(|i| self.get(i as u32))
    }

    /// Bytes of the shortest pattern; 0 if the set is empty.
    pub fn min_len(&self) -> usize {
        self.0.min_len
    }

    /// Bytes of the longest pattern; 0 if the set is empty.
    pub fn max_len(&self) -> usize {
        self.0.max_len
    }

    /// The same patterns under the same ids, all ignoring ASCII case.
    pub fn to_nocase(&self) -> PatternSet {
        let mut builder = PatternSet::builder();
        for p in self.iter() {
            for &id in p.ids {
                builder.push_with(id, p.bytes, true).expect("no longer or more than in this set");
            }
        }
        builder.build()
    }

    /// The history a block has to carry: `max_len - 1` bytes, 0 if the set is empty.
    pub fn lead(&self) -> usize {
        self.0.max_len.saturating_sub(1)
    }

    /// Bytes of all distinct patterns together.
    pub fn total_bytes(&self) -> usize {
        self.0.bytes.len()
    }

    /// How many distinct patterns ignore ASCII case.
    pub fn nocase_count(&self) -> usize {
        self.0.nocase_count
    }

    /// Whether two distinct patterns can match the same bytes (`"ab"` beside `"Ab"` in either case).
    pub fn has_shared_spans(&self) -> bool {
        self.0.span_shared
    }

    /// A 64-bit digest of the patterns, flags and ids; a saved state names its set by it.
    pub fn digest(&self) -> u64 {
        self.0.digest
    }

    /// Bytes of memory that the set itself holds.
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

/// Collects patterns for a [`PatternSet`].
#[derive(Default, Clone, Debug)]
pub struct PatternSetBuilder {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    nocase: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u32,
    len: u16,
    nocase: bool,
    id: PatternId,
}

impl PatternSetBuilder {
    /// Whether patterns added from now on by [`push`](Self::push) ignore ASCII case.
    pub fn nocase(&mut self, yes: bool) -> &mut Self {
        self.nocase = yes;
        self
    }

    /// Adds a pattern under the next id: the number of patterns added before it.
    ///
    /// # Errors
    /// The pattern is empty or longer than [`MAX_LEN`], or the set is full.
    pub fn push<P: AsRef<[u8]>>(&mut self, pattern: P) -> Result<&mut Self, PatternError> {
        let id = PatternId(self.entries.len() as u32);
        self.push_with(id, pattern, self.nocase)
    }

    /// Adds a pattern under an id of the caller's choice; `nocase` lets ASCII letters match in either case.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_with<P: AsRef<[u8]>>(
        &mut self,
        id: PatternId,
        pattern: P,
        nocase: bool,
    ) -> Result<&mut Self, PatternError> {
        let pattern = pattern.as_ref();
        let position = self.entries.len();
        if pattern.is_empty() {
            return Err(PatternError::empty(position));
        }
        let len = u16::try_from(pattern.len())
            .map_err(|_| PatternError::too_long(position, pattern.len()))?;
        if position >= u32::MAX as usize {
            return Err(PatternError::too_many(position));
        }
        let start = u32::try_from(self.bytes.len() + pattern.len())
            .map_err(|_| PatternError::too_many_bytes(position))?
            - u32::from(len);
        // A flag without a letter to act on says nothing: dropping it makes equal patterns equal.
        let nocase = nocase && pattern.iter().any(u8::is_ascii_alphabetic);
        self.bytes.extend_from_slice(pattern);
        if nocase {
            self.bytes[start as usize..].make_ascii_lowercase();
        }
        self.entries.push(Entry { start, len, nocase, id });
        Ok(self)
    }

    /// How many patterns were added, duplicates included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no pattern was added.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sorts, merges equal patterns, and freezes the set.
    pub fn build(mut self) -> PatternSet {
        let bytes = std::mem::take(&mut self.bytes);
        let text = |e: &Entry| &bytes[e.start as usize..e.start as usize + usize::from(e.len)];
        self.entries.sort_unstable_by(|a, b| {
            text(a).cmp(text(b)).then(a.nocase.cmp(&b.nocase)).then(a.id.cmp(&b.id))
        });
        let mut set = Inner { starts: vec![0], id_starts: vec![0], ..Inner::default() };
        let same = |a: &Entry, b: &Entry| a.nocase == b.nocase && text(a) == text(b);
        for group in self.entries.chunk_by(same) {
            set.bytes.extend_from_slice(text(&group[0]));
            set.starts.push(set.bytes.len() as u32);
            set.nocase.push(group[0].nocase);
            for pair in group.chunk_by(|a, b| a.id == b.id) {
                set.ids.push(pair[0].id);
            }
            set.id_starts.push(set.ids.len() as u32);
        }
        set.measure();
        PatternSet(Arc::new(set))
    }
}

impl Inner {
    /// Fills in what is derived from the patterns: lengths, flags, digest.
    fn measure(&mut self) {
        let lens = || self.starts.windows(2).map(|w| (w[1] - w[0]) as usize);
        (self.min_len, self.max_len) = (lens().min().unwrap_or(0), lens().max().unwrap_or(0));
        self.nocase_count = self.nocase.iter().filter(|&&n| n).count();
        self.span_shared = self.any_shared_span();
        self.digest = self.compute_digest();
    }

    fn pattern(&self, i: usize) -> &[u8] {
        &self.bytes[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Two distinct patterns match the same bytes only if one ignores case and the other folds to it.
    fn any_shared_span(&self) -> bool {
        if self.nocase_count == 0 || self.nocase_count == self.nocase.len() {
            return false;
        }
        let folded: std::collections::HashSet<&[u8]> =
            (0..self.nocase.len()).filter(|&i| self.nocase[i]).map(|i| self.pattern(i)).collect();
        (0..self.nocase.len())
            .any(|i| !self.nocase[i] && folded.contains(&self.pattern(i).to_ascii_lowercase()[..]))
    }

    fn compute_digest(&self) -> u64 {
        let mut h = fnv1a(&self.bytes, crate::sink::FNV_BASIS);
        for start in self.starts.iter().chain(&self.id_starts) {
            h = fnv1a(&start.to_le_bytes(), h);
        }
        for id in &self.ids {
            h = fnv1a(&id.0.to_le_bytes(), h);
        }
        self.nocase.iter().fold(h, |h, &n| fnv1a(&[u8::from(n)], h))
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
