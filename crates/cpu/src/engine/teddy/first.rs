//! Finds the first candidate, the first match, or the next few, without lists and records: see
//! [`first_match`].

use super::TeddyMatcher;
use super::candidates::Candidates;
use super::confirm::Confirm;
use crate::first_match::{self, BYTES_A_COMPARISON, CandidateSearch};
use crate::simd::Dispatch;
use fyke_core::{First, FirstMatch, Match, PatternSet};

/// The maximum number of comparisons of a search for the first candidate (`replay`). The fallback's
/// switch does not count them, so they must be few.
pub(super) const UNCOUNTED: usize = 32;

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
        let Some(mut search) = self.search(haystack) else { return 0 };
        let most = UNCOUNTED.min(haystack.len() / BYTES_A_COMPARISON);
        let mut compared = 0;
        while let Some(to) = search.next_before(usize::MAX) {
            let mut found = false;
            compared += 1 + search.confirm(to, most, |_, _| found = true);
            if found || compared > most {
                return (to - 1).saturating_sub(self.lead);
            }
        }
        haystack.len()
    }

    /// See [`Matcher::find_first`](fyke_core::Matcher::find_first).
    #[inline]
    pub(super) fn find_directly(&self, haystack: &[u8], first: First) -> FirstMatch {
        match self.search(haystack) {
            Some(search) => first_match::find_first(search, first, usize::MAX),
            None => FirstMatch::Unknown { from: 0 },
        }
    }

    /// See [`Matcher::find_several`](fyke_core::Matcher::find_several).
    pub(super) fn find_in_turn(
        &self,
        haystack: &[u8],
        first: First,
        found: &mut Vec<Match>,
    ) -> Option<bool> {
        first_match::find_several(self.search(haystack)?, first, found)
    }
}

/// The search of a haystack by a matcher without short patterns. It finds one candidate at a time.
struct Search<'a> {
    matcher: &'a TeddyMatcher,
    confirm: &'a Confirm,
    haystack: &'a [u8],
    candidates: Candidates<'a>,
}

impl TeddyMatcher {
    /// The search of a haystack. `None` if there are short patterns, which have no candidates.
    #[inline(always)]
    fn search<'a>(&'a self, haystack: &'a [u8]) -> Option<Search<'a>> {
        let (Some((tables, confirm)), []) = (&self.filter, &*self.shorts) else { return None };
        let candidates = self.candidates(tables, haystack, 0);
        Some(Search { matcher: self, confirm, haystack, candidates })
    }
}

impl CandidateSearch for Search<'_> {
    #[inline(always)]
    fn set(&self) -> &PatternSet {
        &self.matcher.set
    }

    #[inline(always)]
    fn haystack_len(&self) -> usize {
        self.haystack.len()
    }

    #[inline(always)]
    fn max_distance(&self) -> usize {
        self.matcher.lead
    }

    #[inline(always)]
    fn next_before(&mut self, end: usize) -> Option<usize> {
        self.candidates.next_before(end).map(|at| at + 1)
    }

    #[inline(always)]
    fn confirm(&self, to: usize, _most: usize, found: impl FnMut(usize, u32)) -> usize {
        self.confirm.matches_at(&self.matcher.set, self.haystack, to - 1, found)
    }
}
