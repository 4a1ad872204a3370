//! The types and traits that all crates of fyke share. fyke finds every occurrence of every pattern
//! of a set.
//!
//! ```text
//! rules -> PatternSet -> Engine -> Draft -> Matcher -> Blocks from a Source -> Batches -> Sink
//! ```
//!
//! * [`PatternSet`] holds the patterns: any byte strings, each with ids that the caller chose.
//! * [`Engine`] is an algorithm; each one is a `static`. Its [`Draft`] of a set knows the expected
//!   cost and compiles to a [`Matcher`]. [`Part`] says what was compiled.
//! * [`Block`] is a piece of a haystack. It carries up to `max_len - 1` bytes of history, its
//!   *overlap*, and **owns exactly the matches whose end lies after the overlap**. Streams,
//!   threads and devices follow this one rule, so no match is lost or reported twice.
//! * [`Batch`] is a slice of 8-byte [`Record`]s, so a dense result costs no call per match.
//! * [`Sink`] takes the batches. The canonical result is *all occurrences, ordered by (end, start,
//!   pattern)*. [`Semantics`] select from it: all, once, non-overlapping.
//! * [`Driver`] scans a haystack block by block, sorts, and applies the semantics.
//! * [`Stream`] scans a haystack that arrives in chunks. Its state can be saved and restored.
//! * [`oracle`] defines the correct result: it compares every pattern at every position.
//! * [`Table`](table::Table) is a constant slice of numbers, in memory of its own or in a mapped
//!   file.
//!
//! docs/glossary.md in the repository explains every term.
//!
//! The feature `serde` adds Serialize and Deserialize. Without it this crate has no dependencies.
//! Only the module `table` has unsafe code.
#![deny(unsafe_code)]

pub mod block;
pub mod draft;
pub mod driver;
pub mod engine;
pub mod error;
mod first;
pub mod matches;
pub mod oracle;
pub mod packed;
pub mod part;
pub mod pattern;
pub mod scratch;
pub mod semantics;
#[cfg(feature = "serde")]
mod serialize;
pub mod sink;
pub mod sorter;
pub mod source;
pub mod stored;
pub mod stream;
pub mod table;
pub mod wire;

pub use block::Block;
pub use draft::{Draft, Forecast, check_memory};
pub use driver::{Cursor, Driver};
pub use engine::{Device, Engine, Family, Footprint, Growth, Info, Matcher, Memory, Options};
pub use error::{PatternError, Refusal, StateError};
pub use first::{First, FirstMatch, NextFirst, NextLimits};
pub use matches::{Batch, Match, Record, StreamMatch};
pub use packed::PackedHaystacks;
pub use part::{Part, Role};
pub use pattern::{Pattern, PatternId, PatternSet, PatternSetBuilder, PatternTables};
pub use scratch::{Emitter, MatcherId, Scratch};
pub use semantics::{Semantics, SemanticsFilter};
pub use sink::{Collect, Count, Exists, Fingerprint, ForEach, Sink};
pub use sorter::{SortBuffer, Sorter};
pub use source::{SliceSource, Source};
pub use stream::Stream;
