//! The vocabulary of fyke, a library that finds every occurrence of every pattern of a set.
//!
//! One line says how the parts fit together:
//!
//! ```text
//! rules -> PatternSet -> Engine::compile -> Arc<dyn Matcher> -> Blocks from a Source -> Batches -> Sink
//! ```
//!
//! * [`PatternSet`] holds the patterns: any byte strings, each with ids that the caller chose.
//! * [`Engine`] is a factory, one `static` per algorithm; [`Matcher`] is what it compiles a set to.
//! * [`Block`] is a piece of a haystack. It carries up to `max_len - 1` bytes of history, its
//!   *overlap*, and **owns exactly the matches whose end lies after the overlap**. That one rule makes
//!   streams, threads and devices agree: no match twice, none lost, nothing to wait for.
//! * [`Batch`] is a slice of 8-byte [`Record`]s, so that a dense result costs no call per match.
//! * [`Sink`] takes the batches. Counting, existence, once, leftmost: all are sinks over the one
//!   canonical result, *all occurrences, ordered by (end, start, pattern)*.
//! * [`Stream`] feeds a haystack in chunks of any size, and its state can be saved and restored.
//! * [`oracle`] is the definition of right: compare every pattern at every position.
//!
//! This crate has no dependencies and no unsafe code.
#![forbid(unsafe_code)]

pub mod block;
pub mod draft;
pub mod engine;
pub mod error;
pub mod matches;
pub mod oracle;
pub mod part;
pub mod pattern;
pub mod scratch;
pub mod semantics;
pub mod sink;
pub mod source;
pub mod stream;

pub use block::Block;
pub use draft::{Draft, Forecast, check_memory};
pub use engine::{Device, Engine, Family, Footprint, Growth, Info, Matcher, Memory, Options};
pub use error::{PatternError, Refusal, StateError};
pub use matches::{Batch, Match, Record};
pub use part::{Part, Role};
pub use pattern::{Pattern, PatternId, PatternSet, PatternSetBuilder};
pub use scratch::{Emitter, MatcherId, Scratch};
pub use semantics::{Filter, Semantics};
pub use sink::{Collect, Count, Exists, Fingerprint, ForEach, Sink, Sorter};
pub use source::{SliceSource, Source};
pub use stream::Stream;
