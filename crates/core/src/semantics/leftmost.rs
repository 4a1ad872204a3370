//! Leftmost semantics: of all occurrences those that do not overlap, chosen from the left.

use super::Reader;
use crate::error::{StateError, StateErrorKind};
use crate::pattern::PatternSet;

/// The best candidate of each start, until no better one can come.
///
/// Matches arrive by end. A match with start `s` ends at `s + max_len` at the latest, so once a later end is seen,
/// the candidates of the first start are complete, and so are all before it. Starts that are not complete lie
/// within `max_len` bytes, so a ring of so many places holds them, each at its own.
#[derive(Clone, Debug)]
pub(super) struct Leftmost {
    /// The candidate of start `s`, at `s` modulo their number, which is a power of two.
    ring: Vec<Candidate>,
    /// Which places of the ring hold one, a bit each.
    held: Vec<u64>,
    /// How many do.
    live: usize,
    /// No candidate starts before this.
    front: u64,
    /// Where the last match that was taken ended; nothing that starts before it is wanted.
    bound: u64,
    max_len: u64,
}

/// A match whose start is known from where it lies.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    len: u32,
    /// Dense index.
    pattern: u32,
}

impl Leftmost {
    pub(super) fn new(set: &PatternSet) -> Self {
        let max_len = set.max_len();
        let places = max_len.next_power_of_two().max(64);
        Self {
            ring: vec![Candidate::default(); places],
            held: vec![0; places / 64],
            live: 0,
            front: 0,
            bound: 0,
            max_len: max_len as u64,
        }
    }

    /// Goes back to the start of a haystack, touching what is held.
    pub(super) fn clear(&mut self) {
        self.drop_before(u64::MAX);
        (self.front, self.bound) = (0, 0);
    }

    /// Notes a candidate if it is better than what its start has.
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

    /// Takes out, as (end, pattern), what is decided when all matches that end before `now` are known.
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

    /// Puts a candidate at a start that has none.
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

    /// The first start that has a candidate. There has to be one.
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
    pub(super) fn decode(
        set: &PatternSet,
        offset: u64,
        from: &mut Reader<'_>,
    ) -> Result<Self, StateError> {
        let mut it = Leftmost::new(set);
        it.bound = from.u64()?;
        if it.bound > offset {
            return Err(StateError(StateErrorKind::Damaged));
        }
        let mut next = it.bound;
        for _ in 0..from.u64()? {
            let (start, end, pattern) = (from.u64()?, from.u64()?, from.u32()?);
            let known = (pattern as usize) < set.len();
            let len = known.then(|| set.pattern_len(pattern) as u64);
            // The ring holds starts less than `max_len` apart.
            let in_reach = it.live == 0 || start < it.front.saturating_add(it.max_len);
            let in_order = next <= start && end <= offset;
            if !in_order || !in_reach || len.is_none() || end.checked_sub(start) != len {
                return Err(StateError(StateErrorKind::Damaged));
            }
            next = start + 1;
            it.hold(start, Candidate { len: (end - start) as u32, pattern });
        }
        Ok(it)
    }
}
