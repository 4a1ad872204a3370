//! Leftmost semantics: selects non-overlapping matches, from the left.

use super::Reader;
use crate::error::{StateError, StateErrorKind};
use crate::pattern::PatternSet;

/// The best candidate for each start, until no better one can come.
///
/// Matches arrive ordered by end. A match that starts at `s` ends at `s + max_len` or before. So
/// once a later end is seen, the candidate for `s` is final. The starts that are not final lie
/// within `max_len` bytes, so a ring buffer of `max_len` slots or more holds them.
///
/// A *candidate* here is a match that may be selected, not a position that passed a filter.
#[derive(Clone, Debug, Default)]
pub(super) struct Leftmost {
    /// The candidate for start `s` is at `s` modulo the length, a power of two.
    ring: Vec<Candidate>,
    /// One bit for each slot of the ring: whether it holds a candidate.
    held: Vec<u64>,
    /// The number of candidates.
    live: usize,
    /// No candidate starts before this.
    front: u64,
    /// The end of the last selected match: no match that starts before it is selected.
    bound: u64,
    max_len: u64,
}

/// A match whose start follows from its slot in the ring.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    len: u32,
    /// Dense index.
    pattern: u32,
}

impl Leftmost {
    /// Makes room for a set. There must be no candidates.
    pub(super) fn fit(&mut self, set: &PatternSet) {
        let max_len = set.max_len();
        let places = max_len.next_power_of_two().max(64);
        if self.ring.len() < places {
            self.ring.resize(places, Candidate::default());
            self.held.resize(places / 64, 0);
        }
        self.max_len = max_len as u64;
    }

    /// Bytes that it holds.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.ring) + size_of_val(&*self.held)
    }

    /// Returns to the start of a haystack, in time proportional to the candidates.
    pub(super) fn clear(&mut self) {
        self.drop_before(u64::MAX);
        (self.front, self.bound) = (0, 0);
    }

    /// Keeps a match if it is better than the candidate for its start.
    #[inline]
    pub(super) fn offer(&mut self, set: &PatternSet, end: u64, pattern: u32, longest: bool) {
        let len = set.pattern_len(pattern) as u32;
        let start = end - u64::from(len);
        if start < self.bound {
            return;
        }
        let new = Candidate { len, pattern };
        let Some(old) = self.at(start) else { return self.hold(start, new) };
        let better = if longest && old.len != len {
            len > old.len
        } else {
            set.ids(pattern)[0] < set.ids(old.pattern)[0]
        };
        if better {
            let place = self.place(start);
            self.ring[place] = new;
        }
    }

    /// Removes the candidates that are decided, given that all matches that end before `now` are
    /// known. Appends the end and the pattern of the selected ones to `to`.
    #[inline]
    pub(super) fn settle(&mut self, now: u64, to: &mut Vec<(u64, u32)>) {
        while self.live > 0 && self.front.saturating_add(self.max_len) < now {
            let start = self.first();
            if start.saturating_add(self.max_len) >= now {
                return;
            }
            let found = self.take(start);
            self.bound = start + u64::from(found.len);
            to.push((self.bound, found.pattern));
            self.drop_before(self.bound);
        }
    }

    fn place(&self, start: u64) -> usize {
        start as usize & (self.ring.len() - 1)
    }

    fn at(&self, start: u64) -> Option<Candidate> {
        let place = self.place(start);
        (self.held[place / 64] >> (place % 64) & 1 != 0).then(|| self.ring[place])
    }

    /// Adds a candidate for a start that has none.
    fn hold(&mut self, start: u64, candidate: Candidate) {
        let place = self.place(start);
        self.ring[place] = candidate;
        self.held[place / 64] |= 1 << (place % 64);
        self.front = if self.live == 0 { start } else { self.front.min(start) };
        self.live += 1;
    }

    fn take(&mut self, start: u64) -> Candidate {
        let place = self.place(start);
        self.held[place / 64] &= !(1 << (place % 64));
        self.live -= 1;
        self.ring[place]
    }

    /// The first start that has a candidate. There must be one.
    fn first(&mut self) -> u64 {
        loop {
            let place = self.place(self.front);
            let word = self.held[place / 64] >> (place % 64);
            if word != 0 {
                self.front += u64::from(word.trailing_zeros());
                return self.front;
            }
            self.front += 64 - place as u64 % 64;
        }
    }

    fn drop_before(&mut self, bound: u64) {
        while self.live > 0 && self.front < bound {
            let start = self.first();
            if start < bound {
                self.take(start);
            }
        }
    }

    pub(super) fn encode(&self, to: &mut Vec<u8>) {
        to.extend(self.bound.to_le_bytes());
        to.extend((self.live as u64).to_le_bytes());
        let mut rest = self.clone();
        while rest.live > 0 {
            let start = rest.first();
            let Candidate { len, pattern } = rest.take(start);
            to.extend(start.to_le_bytes());
            to.extend((start + u64::from(len)).to_le_bytes());
            to.extend(pattern.to_le_bytes());
        }
    }

    /// Reads what [`encode`](Self::encode) wrote, for a stream that was fed `offset` bytes.
    pub(super) fn load(
        &mut self,
        set: &PatternSet,
        offset: u64,
        from: &mut Reader<'_>,
    ) -> Result<(), StateError> {
        self.bound = from.u64()?;
        if self.bound > offset {
            return Err(StateError(StateErrorKind::Damaged));
        }
        let mut next = self.bound;
        for _ in 0..from.u64()? {
            let (start, end, pattern) = (from.u64()?, from.u64()?, from.u32()?);
            let known = (pattern as usize) < set.len();
            let len = known.then(|| set.pattern_len(pattern) as u64);
            // The ring holds starts less than `max_len` apart.
            let in_reach = self.live == 0 || start < self.front.saturating_add(self.max_len);
            let in_order = next <= start && end <= offset;
            if !in_order || !in_reach || len.is_none() || end.checked_sub(start) != len {
                return Err(StateError(StateErrorKind::Damaged));
            }
            next = start + 1;
            self.hold(start, Candidate { len: (end - start) as u32, pattern });
        }
        Ok(())
    }
}
