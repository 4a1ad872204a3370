//! Finds the first match directly: no lists, no records. A call on a short haystack is over in the
//! time that these take to set up.

use super::TeddyMatcher;
use super::stage1;
use fyke_core::{First, Match};

/// Comparisons that any haystack may take, and bytes for each further one. A hostile haystack
/// takes more: the caller has a fallback for it. A guess: `hostile` and `calls` would show it.
const COMPARISONS: usize = 64;
const BYTES_A_COMPARISON: usize = 16;

impl TeddyMatcher {
    /// See [`Matcher::find_first`](fyke_core::Matcher::find_first).
    #[inline]
    pub(super) fn find_directly(&self, haystack: &[u8], first: First) -> Option<Option<Match>> {
        let (Some((tables, confirm)), []) = (&self.filter, &*self.shorts) else { return None };
        let most = COMPARISONS + haystack.len() / BYTES_A_COMPARISON;
        let (mut best, mut compared) = (None, 0);
        let mut see = |at: usize| {
            compared += 1 + confirm.matches_at(&self.set, haystack, at, |end, pattern| {
                let start = end - self.set.pattern_len(pattern);
                let new = Match { pattern: self.set.ids(pattern)[0], start, end };
                if best.is_none_or(|best| first.is_better(new, best)) {
                    best = Some(new);
                }
            });
            if compared > most {
                return 0;
            }
            // The window of a match begins at most `lead` bytes behind the match.
            match best {
                Some(best) => first.last_start(best).map_or(0, |start| start + self.lead + 1),
                None => usize::MAX,
            }
        };
        stage1::seek(self.dispatch, tables, haystack, &mut see);
        (compared <= most).then_some(best)
    }
}
