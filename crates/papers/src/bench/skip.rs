//! Why a cell has no figure.

/// Why a cell has no figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The reason.
    pub why: String,
    /// Whether the engine found other matches than expected.
    pub wrong: bool,
}

impl Skip {
    /// A cell that cannot be measured.
    pub(super) fn because(why: impl Into<String>) -> Self {
        Self { why: why.into(), wrong: false }
    }
}
