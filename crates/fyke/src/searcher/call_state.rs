//! What one call of a searcher writes to. A searcher keeps it for later calls.

use crate::pack::{PackBuffer, PackScratch};
use fyke_core::{PatternSet, Scratch, Semantics, SemanticsFilter};

/// What one call writes to.
pub(crate) struct CallState {
    /// Follows the pieces of one haystack; must be told to forget before the next one.
    pub(crate) scratch: Scratch,
    /// Made by the first call that needs it.
    filter: Option<SemanticsFilter>,
    pub(crate) pack: PackBuffer,
    pub(crate) pack_scratch: PackScratch,
}

/// The parts of a [`CallState`] that a scan uses, borrowed apart.
pub(crate) struct CallParts<'a> {
    pub(crate) scratch: &'a mut Scratch,
    /// At the start of a haystack.
    pub(crate) filter: &'a mut SemanticsFilter,
    pub(crate) pack: &'a mut PackBuffer,
    pub(crate) pack_scratch: &'a mut PackScratch,
}

impl Default for CallState {
    fn default() -> Self {
        let (scratch, filter) = (Scratch::following(), None);
        let (pack, pack_scratch) = (PackBuffer::default(), PackScratch::default());
        Self { scratch, filter, pack, pack_scratch }
    }
}

impl CallState {
    /// All parts, with the filter of a searcher at the start of a haystack. A state serves one
    /// searcher, so semantics and set are the same at every call.
    pub(crate) fn parts(&mut self, semantics: Semantics, set: &PatternSet) -> CallParts<'_> {
        let filter = self.filter.get_or_insert_with(|| SemanticsFilter::new(semantics, set));
        filter.restart();
        let (scratch, pack) = (&mut self.scratch, &mut self.pack);
        CallParts { scratch, filter, pack, pack_scratch: &mut self.pack_scratch }
    }
}
