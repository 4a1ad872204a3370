//! Compiled tables as a database keeps them: [`StoredPart`] when it is saved, [`LoadedPart`] when
//! it is loaded.
//!
//! An engine numbers the layouts of its tables. A change of the tables, or of the hashes that index
//! them, needs a new number. A reader that does not know a layout compiles from the patterns.

use crate::pattern::PatternSet;
use crate::table::Table;

/// Compiled tables of some patterns of a set, to be saved.
#[derive(Clone, Debug)]
pub struct StoredPart<'a> {
    /// The engine's name.
    pub engine: &'static str,
    /// The layout of the tables; 0 if there are none, because this engine compiles when it is
    /// loaded.
    pub layout: u32,
    /// What the tables need besides, as numbers.
    pub numbers: Vec<u64>,
    /// The tables.
    pub tables: Vec<&'a [u8]>,
    /// The patterns.
    pub set: &'a PatternSet,
    /// The dense index of each pattern in the whole set. Empty if this is the whole set.
    pub indices: &'a [u32],
    /// What the planner adds.
    pub plan: Vec<u8>,
}

/// Compiled tables that were loaded. Their checksums are right, but their content is not checked:
/// the engine checks all that its scans rely on.
#[derive(Debug)]
pub struct LoadedPart {
    /// The engine's name.
    pub engine: String,
    /// The layout of the tables; 0 if there are none.
    pub layout: u32,
    /// What the tables need besides, as numbers.
    pub numbers: Vec<u64>,
    /// The tables.
    pub tables: Vec<Table<u8>>,
    /// The patterns.
    pub set: PatternSet,
    /// The dense index of each pattern in the whole set. Empty if this is the whole set.
    pub indices: Table<u32>,
    /// What the planner adds.
    pub plan: Vec<u8>,
}

/// Why tables cannot be used: which rule they break.
pub type UnsoundTables = &'static str;
