//! Subsets of a pattern set by length, which different engines may take.

use fyke_core::PatternSet;
use std::fmt;
use std::sync::Arc;

/// Which patterns of a set: all, or those under or from a length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patterns {
    /// All of them.
    All,
    /// Those with fewer bytes than this.
    Under(usize),
    /// Those with this many bytes or more.
    AtLeast(usize),
}

impl Patterns {
    fn contains(self, len: usize) -> bool {
        match self {
            Patterns::All => true,
            Patterns::Under(cut) => len < cut,
            Patterns::AtLeast(cut) => len >= cut,
        }
    }
}

impl fmt::Display for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Patterns::All => f.pad("all"),
            Patterns::Under(cut) => f.pad(&format!("under {cut} bytes")),
            Patterns::AtLeast(cut) => f.pad(&format!("of {cut} bytes and more")),
        }
    }
}

/// The lengths of some patterns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    /// The number of patterns.
    pub(super) patterns: usize,
    /// Bytes of the shortest pattern.
    pub(super) min_len: usize,
}

impl Lengths {
    pub(super) fn of(set: &PatternSet, which: Patterns) -> Lengths {
        if which == Patterns::All {
            return Lengths { patterns: set.len(), min_len: set.min_len() };
        }
        let lengths = set.iter().map(|p| p.bytes.len()).filter(|len| which.contains(*len));
        let (patterns, min_len) =
            lengths.fold((0, usize::MAX), |(count, min), len| (count + 1, min.min(len)));
        Lengths { patterns, min_len }
    }
}

/// Some patterns of a set, as a set.
#[derive(Clone)]
pub(super) struct Subset {
    pub(super) which: Patterns,
    pub(super) set: PatternSet,
    /// The dense index of each pattern in the whole set. `None` if this is the whole set.
    pub(super) indices: Option<Arc<[u32]>>,
}

impl Subset {
    pub(super) fn of(set: &PatternSet, which: Patterns) -> Subset {
        if which == Patterns::All {
            return Subset { which, set: set.clone(), indices: None };
        }
        let mut builder = PatternSet::builder();
        let mut indices = Vec::new();
        for p in set.iter().filter(|p| which.contains(p.bytes.len())) {
            indices.push(p.index);
            for &id in p.ids {
                let pushed = builder.push_with(id, p.bytes, p.nocase);
                pushed.expect("no longer and no more than in the set");
            }
        }
        Subset { which, set: builder.build(), indices: Some(indices.into()) }
    }
}
