//! Finds the first match, or the next few that do not overlap, without the lists of a scan and
//! without a [`Scratch`](fyke_core::Scratch). In a short haystack, or near the first match, their
//! setup would take longer than the search.

use fyke_core::{First, FirstMatch, Match, PatternSet};

/// The work limit of a call: this many lookups and comparisons, and one more per
/// `BYTES_A_COMPARISON` bytes of haystack, up to the limit of the search. A hostile haystack
/// exceeds it, and the caller uses its fallback. A guess: `hostile` and `calls` would show it.
const COMPARISONS: usize = 64;
pub(crate) const BYTES_A_COMPARISON: usize = 16;

/// The maximum number of matches that one call finds, since the caller may want no more. A guess:
/// `calls` would show it.
const SEVERAL: usize = 32;

/// Finds candidates in order, some at a time. A candidate is a position where a pattern's window
/// passed a filter.
pub(crate) trait CandidateSearch {
    fn set(&self) -> &PatternSet;

    fn haystack_len(&self) -> usize;

    /// How far after the start of its match a candidate may be.
    fn max_distance(&self) -> usize;

    /// Finds the next candidates, if there are any before `end`, and perhaps some after it. Returns
    /// a position after them: all candidates before it were found. After `None`, the search must
    /// end.
    fn next_before(&mut self, end: usize) -> Option<usize>;

    /// Calls `found` with the end and the pattern of each match of the last candidates. `to` is the
    /// position that was returned with them. Returns the number of lookups and comparisons. After
    /// more than `most` it may stop.
    fn confirm(&self, to: usize, most: usize, found: impl FnMut(usize, u32)) -> usize;
}

/// The position from which on no candidate leads to a better match than `best`.
#[inline]
pub(crate) fn end_of_better(first: First, best: Match, max_distance: usize) -> usize {
    let last_start = first.last_start(best);
    let end = last_start.map_or(0, |start| start.saturating_add(max_distance + 1));
    // A better match ends at or before `best`, and its candidate is before its end.
    if first == First::Standard { end.min(best.end) } else { end }
}

/// The work limit of a search that finds one match after another, up to a position. It may have a
/// few candidates per match, but not one at each position. A guess, as [`COMPARISONS`].
pub(crate) fn most_work(at: usize) -> usize {
    COMPARISONS + at
}

fn work_limit(haystack_len: usize) -> usize {
    COMPARISONS + haystack_len / BYTES_A_COMPARISON
}

#[inline(always)]
fn match_of(set: &PatternSet, end: usize, pattern: u32) -> Match {
    Match { pattern: set.ids(pattern)[0], start: end - set.pattern_len(pattern), end }
}

/// See [`Matcher::find_first`](fyke_core::Matcher::find_first). Gives up if no candidate before
/// `limit` leads to a match.
#[inline(always)]
pub(crate) fn find_first(
    mut search: impl CandidateSearch,
    first: First,
    limit: usize,
) -> FirstMatch {
    match search.next_before(limit) {
        Some(to) => best_from(&mut search, first, limit, to),
        None => no_match_before(&search, limit),
    }
}

/// The answer if no candidate before `limit` leads to a match.
#[inline(always)]
fn no_match_before(search: &impl CandidateSearch, limit: usize) -> FirstMatch {
    if limit < search.haystack_len() {
        FirstMatch::Unknown { from: limit.saturating_sub(search.max_distance()) }
    } else {
        FirstMatch::NotFound
    }
}

/// The best match of the last candidates, which are before `to`, and those after them. Not inlined:
/// most calls have no candidate, and need no room for it.
#[inline(never)]
fn best_from<S: CandidateSearch>(
    search: &mut S,
    first: First,
    limit: usize,
    mut to: usize,
) -> FirstMatch {
    let max_distance = search.max_distance();
    let mut most = work_limit(search.haystack_len().min(limit));
    let (mut best, mut confirmed): (Option<Match>, usize) = (None, 0);
    loop {
        let compared = search.confirm(to, most, |end, pattern| {
            let new = match_of(search.set(), end, pattern);
            if best.is_none_or(|best| first.is_better(new, best)) {
                best = Some(new);
            }
        });
        let end = best.map_or(limit, |best| end_of_better(first, best, max_distance));
        match most.checked_sub(1 + compared) {
            Some(left) => most = left,
            None if end == 0 => {}
            None => {
                let known = confirmed.saturating_sub(max_distance);
                return FirstMatch::Unknown { from: best.map_or(known, |m| m.start.min(known)) };
            }
        }
        confirmed = to;
        match (search.next_before(end), best) {
            (Some(next), _) => to = next,
            (None, Some(best)) => return FirstMatch::Found(best),
            (None, None) => return no_match_before(search, limit),
        }
    }
}

/// See [`Matcher::find_several`](fyke_core::Matcher::find_several).
pub(crate) fn find_several(
    mut search: impl CandidateSearch,
    first: First,
    found: &mut Vec<Match>,
) -> Option<bool> {
    let mut most = work_limit(search.haystack_len());
    let mut matches = InTurn {
        first,
        max_distance: search.max_distance(),
        from: 0,
        chosen: found.len(),
        best: None,
        room: SEVERAL,
        found,
    };
    while let Some(to) = search.next_before(usize::MAX) {
        let compared = search.confirm(to, most, |end, pattern| {
            matches.add(match_of(search.set(), end, pattern));
        });
        let Some(left) = most.checked_sub(1 + compared) else {
            matches.forget_others();
            return None;
        };
        most = left;
        if !matches.choose_before(to) {
            return Some(false);
        }
    }
    Some(matches.choose_before(usize::MAX))
}

/// Chooses matches that do not overlap, each the best one after the last.
struct InTurn<'a> {
    first: First,
    max_distance: usize,
    /// The end of the last match that was chosen.
    from: usize,
    /// The matches that were chosen come first. Matches that may yet be chosen follow, in any
    /// order.
    found: &'a mut Vec<Match>,
    chosen: usize,
    /// The index of the best match that may be chosen.
    best: Option<usize>,
    /// The number of matches left until the limit.
    room: usize,
}

impl InTurn<'_> {
    #[inline(always)]
    fn add(&mut self, new: Match) {
        if new.start >= self.from {
            self.found.push(new);
            self.compare(self.found.len() - 1);
        }
    }

    /// Makes the match at an index the best one if it is better.
    #[inline(always)]
    fn compare(&mut self, new: usize) {
        let is_better = |best: usize| self.first.is_better(self.found[new], self.found[best]);
        if self.best.is_none_or(is_better) {
            self.best = Some(new);
        }
    }

    /// Chooses the best matches, after all candidates before `confirmed` were confirmed. False at
    /// the limit.
    #[inline]
    fn choose_before(&mut self, confirmed: usize) -> bool {
        while let Some(best) = self.best
            && confirmed >= end_of_better(self.first, self.found[best], self.max_distance)
        {
            self.choose(best);
            if self.room == 0 {
                self.forget_others();
                return false;
            }
        }
        true
    }

    /// Chooses the best match, and drops those that begin before its end.
    fn choose(&mut self, best: usize) {
        self.found.swap(self.chosen, best);
        self.from = self.found[self.chosen].end;
        self.chosen += 1;
        self.room -= 1;
        self.best = None;
        let mut kept = self.chosen;
        for i in self.chosen..self.found.len() {
            if self.found[i].start >= self.from {
                self.found.swap(kept, i);
                self.compare(kept);
                kept += 1;
            }
        }
        self.found.truncate(kept);
    }

    /// Drops the matches that were not chosen.
    fn forget_others(&mut self) {
        self.found.truncate(self.chosen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::PatternId;

    /// Candidates that are found together: the position after them, their matches by end and
    /// pattern, and the number of comparisons.
    type Part = (usize, Vec<(usize, u32)>, usize);

    /// A search whose candidates are given.
    struct Given {
        set: PatternSet,
        all: Vec<Part>,
        next: usize,
    }

    impl Given {
        fn new(all: &[Part]) -> Given {
            let set = PatternSet::new(["a", "aaaaaa"]).unwrap();
            Given { set, all: all.to_vec(), next: 0 }
        }
    }

    impl CandidateSearch for Given {
        fn set(&self) -> &PatternSet {
            &self.set
        }

        fn haystack_len(&self) -> usize {
            100
        }

        fn max_distance(&self) -> usize {
            5
        }

        fn next_before(&mut self, end: usize) -> Option<usize> {
            let (to, ..) = self.all.get(self.next)?;
            self.next += 1;
            (to - 1 < end).then_some(*to)
        }

        fn confirm(&self, to: usize, _most: usize, mut found: impl FnMut(usize, u32)) -> usize {
            let (_, matches, compared) = self.all.iter().find(|part| part.0 == to).unwrap();
            matches.iter().for_each(|&(end, pattern)| found(end, pattern));
            *compared
        }
    }

    #[test]
    fn a_search_that_gives_up_says_where_the_first_match_may_begin() {
        let unknown = |all: &[Part], first| match find_first(Given::new(all), first, usize::MAX) {
            FirstMatch::Unknown { from } => Some(from),
            _ => None,
        };
        let leftmost = First::LeftmostLongest;
        // Only some of the last candidates' matches may be known.
        assert_eq!(unknown(&[(20, vec![], 1000)], leftmost), Some(0));
        let second = |matches| [(20, vec![], 1), (30, matches, 1000)];
        assert_eq!(unknown(&second(vec![]), leftmost), Some(15));
        assert_eq!(unknown(&second(vec![(29, 0)]), leftmost), Some(15));
        assert_eq!(unknown(&second(vec![(20, 1)]), leftmost), Some(14));
        assert_eq!(unknown(&second(vec![(29, 0)]), First::Any), None);
    }

    #[test]
    fn a_limit_ends_the_search() {
        let of = |all: &[Part], limit| find_first(Given::new(all), First::Standard, limit);
        let unknown = FirstMatch::Unknown { from: 45 };
        assert_eq!(of(&[(51, vec![(51, 0)], 1)], 50), unknown);
        assert_eq!(of(&[(20, vec![], 1), (51, vec![(51, 0)], 1)], 50), unknown);
        assert_eq!(of(&[(20, vec![], 1)], 100), FirstMatch::NotFound);
        let found = Match { pattern: PatternId(0), start: 50, end: 51 };
        assert_eq!(of(&[(51, vec![(51, 0)], 1)], 51), FirstMatch::Found(found));
    }
}
