//! Replacing the matches of the `find` calls.

use super::Searcher;
use fyke_core::{Match, PatternId};

impl Searcher {
    /// Replaces every match of [`find_iter`](Self::find_iter). A match of the pattern with id `i`
    /// becomes `replacements[i]`.
    ///
    /// # Panics
    /// The id of a match has no replacement, or a match begins or ends within a character,
    /// which only patterns that are not UTF-8 can do.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["fox", "brown", "quick"])?;
    /// let changed = searcher.replace_all("The quick brown fox.", &["sloth", "grey", "slow"]);
    /// assert_eq!(changed, "The slow grey sloth.");
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn replace_all<R: AsRef<str>>(&self, haystack: &str, replacements: &[R]) -> String {
        let mut to = String::with_capacity(haystack.len());
        self.replace_all_with(haystack, &mut to, |m, _, to| {
            to.push_str(replacement(replacements, m.pattern).as_ref());
            true
        });
        to
    }

    /// As [`replace_all`](Self::replace_all), for bytes.
    ///
    /// # Panics
    /// The id of a match has no replacement.
    pub fn replace_all_bytes<R: AsRef<[u8]>>(
        &self,
        haystack: &[u8],
        replacements: &[R],
    ) -> Vec<u8> {
        let mut to = Vec::with_capacity(haystack.len());
        self.replace_all_with_bytes(haystack, &mut to, |m, _, to| {
            to.extend_from_slice(replacement(replacements, m.pattern).as_ref());
            true
        });
        to
    }

    /// Appends the haystack to `to`, with each match of [`find_iter`](Self::find_iter) replaced.
    /// `replace` gets the match and its text, and appends the replacement. Once it returns false,
    /// the rest of the haystack is appended as it is.
    ///
    /// # Panics
    /// A match begins or ends within a character, which only patterns that are not UTF-8 can do.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["cat", "dog"])?;
    /// let mut loud = String::new();
    /// searcher.replace_all_with("a cat, a dog", &mut loud, |_, text, to| {
    ///     to.push_str(&text.to_uppercase());
    ///     true
    /// });
    /// assert_eq!(loud, "a CAT, a DOG");
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn replace_all_with(
        &self,
        haystack: &str,
        to: &mut String,
        mut replace: impl FnMut(&Match, &str, &mut String) -> bool,
    ) {
        let mut done = 0;
        for m in self.find_iter(haystack) {
            to.push_str(&haystack[done..m.start]);
            done = m.end;
            if !replace(&m, &haystack[m.range()], to) {
                break;
            }
        }
        to.push_str(&haystack[done..]);
    }

    /// As [`replace_all_with`](Self::replace_all_with), for bytes.
    pub fn replace_all_with_bytes(
        &self,
        haystack: &[u8],
        to: &mut Vec<u8>,
        mut replace: impl FnMut(&Match, &[u8], &mut Vec<u8>) -> bool,
    ) {
        let mut done = 0;
        for m in self.find_iter(haystack) {
            to.extend_from_slice(&haystack[done..m.start]);
            done = m.end;
            if !replace(&m, &haystack[m.range()], to) {
                break;
            }
        }
        to.extend_from_slice(&haystack[done..]);
    }
}

/// The replacement for the pattern with an id.
pub(super) fn replacement<R>(replacements: &[R], id: PatternId) -> &R {
    replacements.get(id.0 as usize).unwrap_or_else(|| {
        panic!("no replacement for the pattern with id {}: there are {}", id.0, replacements.len())
    })
}
