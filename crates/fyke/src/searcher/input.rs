//! What a `find` call searches: a haystack, a span of it, and whether matches are anchored.

use std::ops::{Bound, Range, RangeBounds};

/// The input of the `find` calls: a haystack, the span to search, and whether a match must begin
/// where the search begins.
///
/// A string or bytes convert to an input of the whole haystack.
///
/// ```
/// use fyke::{Input, Searcher};
///
/// let searcher = Searcher::new(["foo", "bar"])?;
/// let text = "foo bar foo";
/// let second = searcher.find(Input::new(text).span(1..)).unwrap();
/// assert_eq!(second.range(), 4..7); // positions count from the start of the haystack
/// assert!(searcher.find(Input::new(text).span(1..).anchored(true)).is_none());
/// # Ok::<(), fyke::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Input<'h> {
    haystack: &'h [u8],
    span: Range<usize>,
    anchored: bool,
}

impl<'h> Input<'h> {
    /// A whole haystack, not anchored.
    #[inline]
    pub fn new<H: AsRef<[u8]> + ?Sized>(haystack: &'h H) -> Self {
        let haystack = haystack.as_ref();
        Input { haystack, span: 0..haystack.len(), anchored: false }
    }

    /// Searches only `haystack[span]`: a match lies within the span. Positions count from the start
    /// of the haystack.
    ///
    /// # Panics
    /// The span does not lie in the haystack.
    pub fn span(mut self, span: impl RangeBounds<usize>) -> Self {
        // A bound that overflows saturates, so the assertion below refuses it.
        let start = match span.start_bound() {
            Bound::Included(&at) => at,
            Bound::Excluded(&at) => at.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match span.end_bound() {
            Bound::Included(&at) => at.saturating_add(1),
            Bound::Excluded(&at) => at,
            Bound::Unbounded => self.haystack.len(),
        };
        let len = self.haystack.len();
        assert!(start <= end && end <= len, "span {start}..{end} of a haystack of {len} bytes");
        self.span = start..end;
        self
    }

    /// Whether matches are anchored: the first one must begin at the start of the span, and each
    /// further match of an iterator at the end of the one before. The default is false.
    pub fn anchored(mut self, yes: bool) -> Self {
        self.anchored = yes;
        self
    }

    /// The whole haystack.
    pub fn haystack(&self) -> &'h [u8] {
        self.haystack
    }

    /// The span to search.
    pub fn get_span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Whether matches are anchored.
    #[inline]
    pub fn is_anchored(&self) -> bool {
        self.anchored
    }

    /// The bytes of the span.
    #[inline]
    pub(super) fn bytes(&self) -> &'h [u8] {
        &self.haystack[self.span.clone()]
    }

    /// Where the span starts.
    #[inline]
    pub(super) fn start(&self) -> usize {
        self.span.start
    }
}

impl<'h, H: AsRef<[u8]> + ?Sized> From<&'h H> for Input<'h> {
    #[inline]
    fn from(haystack: &'h H) -> Self {
        Input::new(haystack)
    }
}
