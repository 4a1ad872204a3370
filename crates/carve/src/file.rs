//! Carved files: what pairing headers with footers gives.

/// A file that was found: one row of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarvedFile {
    /// Files are numbered from 0, over all rules and images.
    pub number: u64,
    /// The index of the rule in [`RuleSet::rules`](crate::RuleSet::rules).
    pub rule: usize,
    /// Where the file begins in the image.
    pub start: u64,
    /// Its length in bytes, at least 1.
    pub len: u64,
    /// Whether the file was cut at the rule's limit or at the image's end, so that its real end is
    /// unknown.
    pub chopped: bool,
    /// What a validator of its format says.
    pub valid: Validity,
}

/// What a validator says about a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Validity {
    /// The structure of the file is complete and right.
    Yes,
    /// The structure is damaged, or ends too soon.
    No,
    /// No validator knows the format, or none was asked.
    #[default]
    Unknown,
}
