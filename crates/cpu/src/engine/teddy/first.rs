//! Finds the first candidate, the first match, or the next few, without lists and records: see
//! [`first_match`].

use super::TeddyMatcher;
use super::candidates::Candidates;
use super::confirm::Confirm;
use crate::first_match::{self, BYTES_A_COMPARISON, CandidateSearch};
use crate::simd::Dispatch;
use fyke_core::{First, FirstMatch, Match, NextFirst, NextLimits, PatternSet};

/// The maximum number of comparisons of a search for the first candidate (`replay`). The fallback's
/// switch does not count them, so they must be few.
pub(super) const UNCOUNTED: usize = 32;

/// Where tests of 64 positions at a time are the fastest way. Measured with 20 to 80 words of 4 to
/// 7 letters and more of the King James Bible, in 128 to 1,024 bytes, on a Zen 3. `calls` has 5 and
/// 50 words of 4 letters and more.
const LIMITS: NextLimits =
    NextLimits { dense_gap: 100, max_len: 1 << 10, max_len_if_dense: 4 << 10 };

/// The number of bytes up to which they are the fastest way to the first match, if more than
/// [`FEW_PASS`] of all positions are expected to be candidates. Measured as [`LIMITS`].
const MOST_BY_WORDS: usize = 256;

/// The maximum lead of a matcher for a search match by match. With a larger one, a better match may
/// be far from the first one, and positions would be tested again and again. Not measured: a guess.
const MOST_LEAD: usize = 32;

/// The smallest haystack in which `find_first` by shuffles is faster than a transition table.
/// Measured on a Zen 5 with 20 to 64 words of the King James Bible, and on a Sapphire Rapids with
/// the 50 words of `calls`.
const MIN_LEN: usize = 20;

/// The same if at most [`FEW_PASS`] of all positions are expected to be candidates. Measured with 5
/// to 50 words of 4 and 5 letters and more of the King James Bible, on a Zen 3.
const MIN_LEN_OF_FEW: usize = 10;
const FEW_PASS: f32 = 0.008;

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
            None if self.pass <= FEW_PASS => MIN_LEN_OF_FEW,
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
        if haystack.len() > 64 {
            return self.find_in_more(haystack, first);
        }
        match self.find_candidates_in_short(haystack) {
            Some(0) => FirstMatch::NotFound,
            Some(candidates) => self.find_among(haystack, first, candidates),
            None => self.find_in_long(haystack, first),
        }
    }

    /// See [`Matcher::candidates_in_short`](fyke_core::Matcher::candidates_in_short).
    #[inline]
    pub(super) fn find_candidates_in_short(&self, haystack: &[u8]) -> Option<u64> {
        let (Some(find_word), Some((tables, _))) = (self.find_word, &self.filter) else {
            return None;
        };
        debug_assert!(haystack.len() <= 64);
        Some(find_word(self.dispatch, tables, haystack, 0))
    }

    /// The first match of a haystack of at most 64 bytes.
    #[inline(never)]
    fn find_among(&self, haystack: &[u8], first: First, candidates: u64) -> FirstMatch {
        self.find_in_words(haystack, first, &mut NextFirst::after_test(candidates, haystack.len()))
    }

    /// The first match of a haystack of more bytes.
    #[inline(never)]
    fn find_in_more(&self, haystack: &[u8], first: First) -> FirstMatch {
        let by_words = haystack.len() <= MOST_BY_WORDS && self.pass > FEW_PASS;
        if by_words && self.find_word.is_some() {
            return self.find_next_directly(haystack, first, &mut NextFirst::default());
        }
        self.find_in_long(haystack, first)
    }

    /// See [`Matcher::find_next_limits`](fyke_core::Matcher::find_next_limits).
    pub(super) fn limits_of_words(&self) -> Option<NextLimits> {
        let wins = self.find_word.is_some() && self.lead <= MOST_LEAD;
        wins.then_some(LIMITS)
    }

    #[inline(never)]
    fn find_in_long(&self, haystack: &[u8], first: First) -> FirstMatch {
        match self.search(haystack) {
            Some(search) => first_match::find_first(search, first, usize::MAX),
            None => FirstMatch::Unknown { from: 0 },
        }
    }

    /// See [`Matcher::find_next`](fyke_core::Matcher::find_next).
    #[inline]
    pub(super) fn find_next_directly(
        &self,
        haystack: &[u8],
        first: First,
        next: &mut NextFirst,
    ) -> FirstMatch {
        if self.find_word.is_none() {
            let found = self.find_in_long(&haystack[next.from..], first);
            return next.advance(found);
        }
        match next.candidates != 0 || self.load_word(haystack, usize::MAX, next) {
            true => self.find_in_words(haystack, first, next),
            false => FirstMatch::NotFound,
        }
    }

    /// The next match, by tests of 64 positions at a time.
    #[inline(never)]
    fn find_in_words(&self, haystack: &[u8], first: First, next: &mut NextFirst) -> FirstMatch {
        let Some((_, confirm)) = &self.filter else { return FirstMatch::NotFound };
        let mut best: Option<Match> = None;
        let (mut end, mut after_last) = (usize::MAX, 0);
        while next.candidates != 0 || self.load_word(haystack, end, next) {
            let at = next.word + next.candidates.trailing_zeros() as usize;
            if at >= end {
                break;
            }
            next.candidates &= next.candidates - 1;
            after_last = at + 1;
            let from = next.from;
            let compared = confirm.each_at(&self.set, haystack, at, |entry, match_end| {
                let m = entry.match_to(match_end);
                if m.start >= from && best.is_none_or(|best| first.is_better(m, best)) {
                    best = Some(m);
                }
            });
            if let Some(best) = best {
                end = first_match::end_of_better(first, best, self.lead);
            }
            next.work += 1 + compared.patterns + compared.bytes / BYTES_A_COMPARISON;
            if next.work > first_match::most_work(at) && end > 0 {
                return FirstMatch::Unknown { from: next.from };
            }
        }
        let Some(m) = best else { return FirstMatch::NotFound };
        next.from = m.end;
        if after_last > m.end {
            // Candidates after the match are used up.
            (next.candidates, next.tested) = (0, m.end);
        }
        FirstMatch::Found(m)
    }

    /// Tests the next positions before `end`. False if none is a candidate.
    #[inline]
    fn load_word(&self, haystack: &[u8], end: usize, next: &mut NextFirst) -> bool {
        let (Some(find_word), Some((tables, _))) = (self.find_word, &self.filter) else {
            return false;
        };
        while next.candidates == 0 {
            let at = next.tested.max(next.from);
            if at >= end.min(haystack.len()) {
                return false;
            }
            next.candidates = find_word(self.dispatch, tables, haystack, at);
            (next.word, next.tested) = (at, at + 64);
        }
        true
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
