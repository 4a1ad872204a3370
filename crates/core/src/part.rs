//! Parts: what a compiled set consists of, as values.

use crate::engine::{Footprint, Matcher};
use std::fmt;

/// One engine of a compiled set. A set that is cut among several engines has several parts, and so
/// has a filter with its fallback.
///
/// It displays as the specification that selects it: `qgram-filter:isa=avx2,stride=2,joined=no`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The engine's name.
    pub engine: &'static str,
    /// What it does for the set.
    pub role: Role,
    /// How many distinct patterns it looks for.
    pub patterns: usize,
    /// The memory of its tables.
    pub footprint: Footprint,
    /// The options that select this form of the engine: `isa=avx2,stride=2`. Empty if it has one form.
    pub options: String,
}

/// What a part does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It scans.
    Scan,
    /// It scans where a filter has too many candidates.
    Fallback,
    /// It scans blocks of a few bytes.
    SmallBlocks,
}

impl Part {
    /// The one part of a matcher that is not made of others.
    pub fn of<M: Matcher + ?Sized>(matcher: &M) -> Part {
        Part {
            engine: matcher.info().name,
            role: Role::Scan,
            patterns: matcher.set().len(),
            footprint: matcher.footprint(),
            options: matcher.options(),
        }
    }

    /// The same part in another role.
    pub fn with_role(self, role: Role) -> Part {
        Part { role, ..self }
    }

    /// The parts that scan, as one text: `teddy:isa=avx2+ac-dfa:form=dense,walks=8`.
    pub fn specs(parts: &[Part]) -> String {
        let scans = parts.iter().filter(|part| part.role == Role::Scan);
        scans.map(Part::to_string).collect::<Vec<_>>().join("+")
    }

    /// The names of the engines that scan, as one text: `teddy+ac-dfa`.
    pub fn names(parts: &[Part]) -> String {
        let scans = parts.iter().filter(|part| part.role == Role::Scan);
        scans.map(|part| part.engine).collect::<Vec<_>>().join("+")
    }
}

impl Role {
    /// `"scan"`, `"fallback"` or `"small blocks"`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Scan => "scan",
            Role::Fallback => "fallback",
            Role::SmallBlocks => "small blocks",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.options {
            "" => f.write_str(self.engine),
            options => write!(f, "{}:{options}", self.engine),
        }
    }
}
