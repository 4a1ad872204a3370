//! [`Part`]: one engine of a compiled set, as a value. Benchmarks, `explain` and tests read parts;
//! people read [`Matcher::describe`].

use crate::engine::{Footprint, Matcher};
use std::fmt;

/// One engine of a compiled set. There are several parts if several engines share the set, or if a
/// filter has a fallback.
///
/// It displays as the specification that selects it: `qgram-filter:isa=avx2,stride=2,joined=no`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The engine's name.
    pub engine: &'static str,
    /// When it scans.
    pub role: Role,
    /// The number of distinct patterns it looks for.
    pub patterns: usize,
    /// The memory of its tables.
    pub footprint: Footprint,
    /// The options that select this form of the engine: `isa=avx2,stride=2`. Empty if it has one
    /// form.
    pub options: String,
}

/// When a part scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Always.
    Scan,
    /// Where a filter has too many candidates.
    Fallback,
    /// In blocks of a few bytes.
    SmallBlocks,
}

impl Part {
    /// The part of a matcher that consists of one engine.
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

    /// The specifications of the parts with [`Role::Scan`]:
    /// `teddy:isa=avx2+ac-dfa:form=dense,walks=8`.
    pub fn specs(parts: &[Part]) -> String {
        let scans = parts.iter().filter(|part| part.role == Role::Scan);
        scans.map(Part::to_string).collect::<Vec<_>>().join("+")
    }

    /// The engine names of the parts with [`Role::Scan`]: `teddy+ac-dfa`.
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
