//! Finds the first candidate, the first match, or the next few, without lists and records. On a
//! short haystack their setup would take longer than the search.

use super::TeddyMatcher;
use super::candidates::Candidates;
use super::confirm::Confirm;
use crate::simd::Dispatch;
use fyke_core::{First, Match};

/// The work limit of a call: this many comparisons, and one more per `BYTES_A_COMPARISON` bytes of
/// haystack. A hostile haystack exceeds it, and the caller uses its fallback. A guess: `hostile`
/// and `calls` would show it.
const COMPARISONS: usize = 64;
const BYTES_A_COMPARISON: usize = 16;

/// The maximum number of comparisons of a search for the first candidate (`replay`). The fallback's
/// switch does not count them, so they must be few.
pub(super) const UNCOUNTED: usize = 32;

/// The maximum number of matches that one call finds, since the caller may want no more. A guess:
/// `calls` would show it.
const SEVERAL: usize = 32;

/// The smallest haystack in which `find_first` by shuffles is faster than a transition table.
/// Measured on a Zen 5 with 20 to 64 words of the King James Bible, and on a Sapphire Rapids with
/// the 50 words of `calls`.
const MIN_LEN: usize = 20;

/// The same for up to [`FEW_PATTERNS`] patterns, which have few candidates. Measured with 5 words.
const MIN_LEN_OF_FEW: usize = 12;
const FEW_PATTERNS: usize = 8;

/// The same by pairs, and without vectors. Guesses between the lengths of `calls`, 16 and 53 bytes.
const MIN_LEN_OF_PAIRS: usize = 33;
const MIN_LEN_OF_SCALARS: usize = 25;

impl TeddyMatcher {
    /// See [`Matcher::find_first_min_len`](fyke_core::Matcher::find_first_min_len).
    pub(super) fn find_directly_min_len(&self) -> Option<usize> {
        let (Some((tables, _)), []) = (&self.filter, &*self.shorts) else { return None };
        Some(match tables.pairs {
            Some(_) => MIN_LEN_OF_PAIRS,
            None if self.dispatch == Dispatch::Scalar => MIN_LEN_OF_SCALARS,
            None if self.set.len() <= FEW_PATTERNS => MIN_LEN_OF_FEW,
            None => MIN_LEN,
        })
    }

    /// See [`Matcher::first_candidate`](fyke_core::Matcher::first_candidate).
    pub(super) fn find_candidate(&self, haystack: &[u8]) -> usize {
        let (Some((tables, confirm)), []) = (&self.filter, &*self.shorts) else { return 0 };
        let most = UNCOUNTED.min(haystack.len() / BYTES_A_COMPARISON);
        let mut candidates = self.candidates(tables, haystack, 0);
        let mut compared = 0;
        while let Some(at) = candidates.next() {
            let mut found = false;
            compared += 1 + confirm.matches_at(&self.set, haystack, at, |_, _| found = true);
            if found || compared > most {
                return at.saturating_sub(self.lead);
            }
        }
        haystack.len()
    }

    /// See [`Matcher::find_first`](fyke_core::Matcher::find_first).
    #[inline]
    pub(super) fn find_directly(&self, haystack: &[u8], first: First) -> Option<Option<Match>> {
        let (Some((tables, confirm)), []) = (&self.filter, &*self.shorts) else { return None };
        let mut candidates = self.candidates(tables, haystack, 0);
        match candidates.next() {
            Some(at) => self.best_from(confirm, haystack, first, at, &mut candidates),
            None => Some(None),
        }
    }

    /// The best match at `at` or one of the other candidates. Not inlined: most calls have no
    /// candidate, and need no room for it.
    #[inline(never)]
    fn best_from(
        &self,
        confirm: &Confirm,
        haystack: &[u8],
        first: First,
        mut at: usize,
        candidates: &mut Candidates<'_>,
    ) -> Option<Option<Match>> {
        let most = COMPARISONS + haystack.len() / BYTES_A_COMPARISON;
        let (mut best, mut compared): (Option<Match>, _) = (None, 0);
        loop {
            compared += 1 + confirm.matches_at(&self.set, haystack, at, |end, pattern| {
                let start = end - self.set.pattern_len(pattern);
                let new = Match { pattern: self.set.ids(pattern)[0], start, end };
                if best.is_none_or(|best| first.is_better(new, best)) {
                    best = Some(new);
                }
            });
            if compared > most {
                return None;
            }
            // A better match starts at or before `last_start`, and its window at most `lead` bytes
            // after its start.
            let end = best.map_or(usize::MAX, |best| {
                first.last_start(best).map_or(0, |start| start + self.lead + 1)
            });
            match candidates.next_before(end) {
                Some(next) => at = next,
                None => return Some(best),
            }
        }
    }
}

/// Matches that do not overlap, found in one pass over the candidates.
struct InTurn<'a> {
    matcher: &'a TeddyMatcher,
    confirm: &'a Confirm,
    haystack: &'a [u8],
    first: First,
    found: &'a mut Vec<Match>,
    /// The best match that begins at or after `from`, the end of the last one found.
    best: Option<Match>,
    from: usize,
    /// The greatest start of a match that lost against the best one. If it is not before the end of
    /// the best match, the two do not overlap, and the lost match must be found again.
    lost: usize,
    /// Whether a match was lost that way, so that the candidates from `from` on are verified again.
    again: bool,
    /// Matches and comparisons left until the limits.
    room: usize,
    budget: usize,
}

impl TeddyMatcher {
    /// See [`Matcher::find_several`](fyke_core::Matcher::find_several).
    pub(super) fn find_in_turn(
        &self,
        haystack: &[u8],
        first: First,
        found: &mut Vec<Match>,
    ) -> Option<bool> {
        let (Some((tables, confirm)), []) = (&self.filter, &*self.shorts) else { return None };
        let mut pass = InTurn {
            matcher: self,
            confirm,
            haystack,
            first,
            found,
            best: None,
            from: 0,
            lost: 0,
            again: false,
            room: SEVERAL,
            budget: COMPARISONS + haystack.len() / BYTES_A_COMPARISON,
        };
        loop {
            pass.again = false;
            let from = pass.from / tables.step() * tables.step();
            let mut candidates = self.candidates(tables, haystack, from);
            while let Some(at) = candidates.next()
                && pass.see(at)
            {}
            if pass.budget == 0 {
                return None;
            }
            if pass.room > 0 && !pass.again {
                pass.settle();
            }
            if pass.room == 0 {
                return Some(false);
            }
            if !pass.again {
                return Some(true);
            }
        }
    }
}

impl InTurn<'_> {
    /// Verifies a candidate. Returns false to end the pass.
    #[inline]
    fn see(&mut self, at: usize) -> bool {
        if let Some(best) = self.best
            && self.first.last_start(best).is_none_or(|start| at > start + self.matcher.lead)
        {
            self.settle();
            if self.again || self.room == 0 {
                return false;
            }
        }
        let InTurn { matcher, confirm, haystack, first, from, .. } = *self;
        let (best, lost) = (&mut self.best, &mut self.lost);
        let compared = confirm.matches_at(&matcher.set, haystack, at, |end, pattern| {
            let start = end - matcher.set.pattern_len(pattern);
            let new = Match { pattern: matcher.set.ids(pattern)[0], start, end };
            if start < from {
                return;
            }
            match *best {
                Some(old) if !first.is_better(new, old) => *lost = start.max(*lost),
                old => {
                    *lost = old.map_or(*lost, |old| old.start.max(*lost));
                    *best = Some(new);
                }
            }
        });
        self.budget = self.budget.saturating_sub(1 + compared);
        self.budget > 0
    }

    /// Appends the best match to the results. The next one begins at its end or later.
    #[inline]
    fn settle(&mut self) {
        let Some(best) = self.best.take() else { return };
        self.found.push(best);
        self.from = best.end;
        self.room -= 1;
        self.again = std::mem::take(&mut self.lost) >= best.end;
    }
}
