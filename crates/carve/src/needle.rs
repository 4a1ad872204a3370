//! Needles: what headers and footers look like.

/// The index of a needle in [`RuleSet::needles`](crate::RuleSet::needles).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NeedleId(pub u32);

/// A header or footer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Needle {
    /// Bytes, some of which may be wildcards.
    Bytes {
        /// One element per byte; `None` matches any byte.
        bytes: Vec<Option<u8>>,
        /// ASCII letters match in either case.
        nocase: bool,
    },
    /// A regular expression over bytes, as Scalpel 2 has between slashes. A match is the longest
    /// one that begins at its position, and has at most [`Needle::MAX_REGEX_LEN`] bytes.
    Regex {
        /// The expression, without its slashes.
        pattern: String,
        /// Letters match in either case.
        nocase: bool,
    },
}

impl Needle {
    /// The maximum number of bytes of a string. Scalpel has the same limit, unchecked.
    pub const MAX_LEN: usize = 4096;

    /// The maximum number of bytes that a match of a regular expression can have. A limit makes
    /// matches independent of buffers and threads.
    pub const MAX_REGEX_LEN: usize = 4096;

    /// The maximum length of a match.
    #[must_use]
    pub fn max_len(&self) -> usize {
        match self {
            Self::Bytes { bytes, .. } => bytes.len(),
            Self::Regex { .. } => Self::MAX_REGEX_LEN,
        }
    }
}
