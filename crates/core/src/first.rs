//! [`First`]: which match counts as the first one. [`FirstMatch`]: the result of a search for it.

use crate::{Match, Semantics};
use std::cmp::Reverse;

/// The match that is asked for: see [`Matcher::find_first`](crate::Matcher::find_first).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Any match: the question is whether there is one.
    Any,
    /// The match that ends first; of those, the longest.
    Standard,
    /// The match that starts first; of those, the one with the lowest id.
    LeftmostFirst,
    /// The match that starts first; of those, the longest.
    LeftmostLongest,
}

/// The result of [`Matcher::find_first`](crate::Matcher::find_first).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstMatch {
    /// The first match.
    Found(Match),
    /// There is no match.
    NotFound,
    /// The engine gave up. No match that may be the first one begins before `from`.
    Unknown {
        /// A position in the haystack.
        from: usize,
    },
}

/// A search of one haystack for one match after another: see
/// [`Matcher::find_next`](crate::Matcher::find_next).
#[derive(Clone, Copy, Debug, Default)]
pub struct NextFirst {
    /// The next match begins here or later.
    pub from: usize,
    /// What the engine remembers: a bit for each candidate of the 64 positions from `word` on.
    pub candidates: u64,
    /// The first position of these.
    pub word: usize,
    /// The first position that the engine has not tested.
    pub tested: usize,
    /// How many lookups and comparisons there were.
    pub work: usize,
}

impl NextFirst {
    /// A search of a haystack of `len` bytes, at most 64, with the candidates of
    /// [`Matcher::candidates_in_short`](crate::Matcher::candidates_in_short).
    #[inline]
    pub fn after_test(candidates: u64, len: usize) -> NextFirst {
        debug_assert!(len <= 64, "a bit for each of {len} positions");
        NextFirst { candidates, tested: len, ..NextFirst::default() }
    }

    /// Whether the engine has no candidate left in a haystack of `len` bytes, so that there are no
    /// more matches. False if it remembers none.
    #[inline]
    pub fn is_at_end(&self, len: usize) -> bool {
        self.candidates == 0 && self.tested >= len
    }

    /// Goes on after the first match of the bytes from [`from`](Self::from) on. Returns it as a
    /// match of the haystack.
    #[inline]
    pub fn advance(&mut self, found: FirstMatch) -> FirstMatch {
        let found = found.moved(self.from);
        if let FirstMatch::Found(m) = found {
            self.from = m.end;
        }
        found
    }
}

/// Where [`Matcher::find_next`](crate::Matcher::find_next) is the fastest way.
#[derive(Clone, Copy, Debug)]
pub struct NextLimits {
    /// Matches are dense below this average distance between them, in bytes. There, `find_next` is
    /// the fastest way to a first match near the beginning of a haystack of any length.
    pub dense_gap: usize,
    /// The number of bytes up to which `find_next` is the fastest way to all matches.
    pub max_len: usize,
    /// The same where matches are dense.
    pub max_len_if_dense: usize,
}

impl FirstMatch {
    /// The same in a haystack that has `by` bytes before this one.
    #[inline]
    #[must_use]
    pub fn moved(self, by: usize) -> FirstMatch {
        match self {
            FirstMatch::Found(m) => {
                FirstMatch::Found(Match { start: by + m.start, end: by + m.end, ..m })
            }
            FirstMatch::NotFound => FirstMatch::NotFound,
            FirstMatch::Unknown { from } => FirstMatch::Unknown { from: by + from },
        }
    }
}

impl First {
    /// The first match that the semantics report. `all` and `once` begin with the match that ends
    /// first, as `standard` does.
    #[must_use]
    pub fn of(semantics: Semantics) -> First {
        match semantics {
            Semantics::LeftmostFirst => First::LeftmostFirst,
            Semantics::LeftmostLongest => First::LeftmostLongest,
            _ => First::Standard,
        }
    }

    /// Whether `new` comes before the best match so far.
    #[inline]
    #[must_use]
    pub fn is_better<P: Copy + Ord>(self, new: Match<P>, best: Match<P>) -> bool {
        match self {
            First::Any => false,
            First::Standard => new < best,
            First::LeftmostFirst => {
                // Two patterns may have the same id.
                let rank = |m: Match<P>| (m.start, m.pattern, m.end);
                rank(new) < rank(best)
            }
            First::LeftmostLongest => {
                let rank = |m: Match<P>| (m.start, Reverse(m.end), m.pattern);
                rank(new) < rank(best)
            }
        }
    }

    /// The last position at which a better match than `best` may begin. `None` if no match is
    /// better.
    #[inline]
    #[must_use]
    pub fn last_start(self, best: Match) -> Option<usize> {
        match self {
            First::Any => None,
            First::Standard => Some(best.end),
            First::LeftmostFirst | First::LeftmostLongest => Some(best.start),
        }
    }
}
