//! What a search writes to.

use fyke::engine::Scratch;
use regex_automata::hybrid::dfa::Cache;

/// The working memory of searches: one per thread. Any finder may use any scratch, but it serves
/// one finder fastest.
#[derive(Default)]
pub struct FinderScratch {
    pub(super) matcher: Scratch,
    /// For each regular expression, where it may match.
    pub(super) candidates: Vec<Vec<u32>>,
    /// For each regular expression, the states that were built, with the expression they are of.
    pub(super) caches: Vec<Option<(u64, Cache)>>,
}

impl FinderScratch {
    pub(super) fn begin(&mut self, regexes: usize) {
        self.candidates.iter_mut().for_each(Vec::clear);
        self.candidates.resize_with(regexes, Vec::new);
        self.caches.resize_with(regexes, || None);
    }
}

impl std::fmt::Debug for FinderScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FinderScratch").finish_non_exhaustive()
    }
}
