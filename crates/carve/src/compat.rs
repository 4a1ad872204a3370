//! Compatibility: whose bugs a carve reproduces.

/// Whose bugs a carve reproduces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compat {
    /// Nobody's.
    #[default]
    None,
    /// Those of Scalpel 1.60, so that rows are equal.
    Scalpel160,
}
