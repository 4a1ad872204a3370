//! The first match of a longer haystack: four interleaved walks, each over its own part.
//!
//! As in [`bulk_walk`](super::bulk_walk), a walk but the first guesses its row, and the guess is
//! checked against the row after the part before it. The walks stop together at the first step that
//! reaches a match. Then each part up to that match is finished by one walk.
//!
//! Four walks win where the first match is some hundred bytes away. One walk finds a nearer match
//! sooner, so it reads the first [`NEAR`] bytes. After a wrong guess, one walk reads the rest of
//! the four parts.

use super::bulk_walk::{LEAST_PART, PARTS};
use super::{FindTable, Stop};

/// The number of bytes that one walk reads before four walk. Measured with 500 to 2,000 words of
/// the King James Bible, against 48; no benchmark shows it alone.
const NEAR: usize = 32;

/// The maximum number of bytes of a part. Not measured: a guess.
const PART: usize = 32;

const _: () = assert!(LEAST_PART <= PART);

impl FindTable {
    /// Walks from the root to the first match.
    #[inline(always)]
    pub(super) fn walk_to_first(&self, haystack: &[u8], at: usize) -> Stop {
        let near = &haystack[..haystack.len().min(at + NEAR)];
        let stop = self.walk(near, at, 0, self.pending);
        if stop.row >= self.pending || near.len() == haystack.len() {
            return stop;
        }
        self.walk_on_to_first(haystack, stop)
    }

    /// The same after `stop`, where no match is pending.
    #[inline(never)]
    fn walk_on_to_first(&self, haystack: &[u8], mut stop: Stop) -> Stop {
        while stop.row < self.pending {
            let part = ((haystack.len() - stop.end) / PARTS).min(PART);
            if part < LEAST_PART {
                return self.walk(haystack, stop.end, stop.row, self.pending);
            }
            stop = self.walk_parts_to_first(haystack, stop, part);
        }
        stop
    }

    /// Walks over the next parts, at most to the first match.
    #[inline]
    fn walk_parts_to_first(&self, haystack: &[u8], mut stop: Stop, part: usize) -> Stop {
        let begin = |i: usize| stop.end + i * part;
        let parts: [&[u8]; PARTS] = std::array::from_fn(|i| &haystack[begin(i)..][..part]);
        let mut a = stop.row;
        let (mut b, mut c, mut d) = self.guess_rows(&haystack[stop.end..], part);
        let guessed = [a, b, c, d];
        let mut from = guessed;
        let [w, x, y, z] = parts;
        let mut read = 0;
        for (((&w, &x), &y), &z) in w.iter().zip(x).zip(y).zip(z) {
            from = [a, b, c, d];
            (a, b, c, d) = (self.next(a, w), self.next(b, x), self.next(c, y), self.next(d, z));
            read += 1;
            if a.max(b).max(c.max(d)) >= self.pending {
                break;
            }
        }
        let rows = [a, b, c, d];
        let ends: [usize; PARTS] = std::array::from_fn(|i| begin(i) + part);
        for (i, end) in ends.into_iter().enumerate() {
            // The guess was wrong.
            if stop.row != guessed[i] {
                return self.walk(&haystack[..ends[PARTS - 1]], stop.end, stop.row, self.pending);
            }
            stop = Stop { end: stop.end + read, from: from[i], row: rows[i] };
            if stop.row < self.pending && read < part {
                stop = self.walk(&haystack[..end], stop.end, stop.row, self.pending);
            }
            if stop.row >= self.pending {
                return stop;
            }
        }
        stop
    }
}
