//! fyke finds every occurrence of every pattern of a set in any amount of data.
//!
//! ```
//! use fyke::Searcher;
//!
//! let searcher = Searcher::new(["he", "she", "his", "hers"])?;
//! let mut found = Vec::new();
//! searcher.scan("ushers", |m| found.push((m.pattern.0, m.range())));
//! assert_eq!(found, [(1, 1..4), (0, 2..4), (3, 2..6)]); // all of them, overlapping ones too
//! # Ok::<(), fyke::BuildError>(())
//! ```
//!
//! * [`Searcher`] has two families of calls. `find`, `find_iter`, `replace_all` and the like report
//!   matches that do not overlap, as the crate `aho-corasick` does. `scan`, `count` and the like
//!   report all matches, overlapping ones too. They scan memory, readers, files, streams and
//!   batches of small haystacks.
//! * [`GroupSearcher`] searches each haystack of a batch for one of many sets.
//! * [`SearcherBuilder`] selects engine, match kind, semantics, threads and memory limit.
//! * [`registry`] lists the engines; [`plan`] chooses one and explains why.
//! * The items of [`fyke_core`] are re-exported: [`PatternSet`], [`Semantics`], [`Match`],
//!   [`Sink`] and others.
//!
//! | feature, off by default | adds |
//! |---|---|
//! | `gpu` | GPU engines for CUDA and OpenCL, the planner's choice of a GPU, and `fyke::gpu` |
//! | `rules` | `fyke::rules`: reads pattern files: lines, hex, Snort, Suricata and YARA rules |
//! | `compression` | `fyke::container`: reads bzip2, gzip, lz4, lzma, xz, zip and zstd |
//! | `database` | `fyke::database`: a compiled set as a file, checked and mapped into memory |
//! | `serde` | Serialize and Deserialize for pattern sets, ids, matches, semantics and options |
//!
//! Matches come in canonical order: by end, then start, then id. A [`Refusal`] is the answer of an
//! engine that cannot take a set, for example because of the memory limit. After a searcher is
//! built, scanning memory cannot fail.
//!
//! Only the module that maps a database into memory has unsafe code.
#![deny(unsafe_code)]

mod batch;
#[cfg(feature = "database")]
pub mod database;
mod groups;
mod pack;
pub mod plan;
pub mod registry;
mod searcher;

pub use fyke_core::{
    Batch, Collect, Count, Device, Exists, Fingerprint, Footprint, ForEach, Info, Match, Matcher,
    Options, Part, Pattern, PatternError, PatternId, PatternSet, PatternSetBuilder, Record,
    Refusal, Role, Semantics, Sink, StateError, Stream, StreamMatch,
};
/// What an engine of your own needs, for [`registry::add`].
pub mod engine {
    pub use fyke_core::{
        Block, Draft, Emitter, Engine, Family, First, FirstMatch, Forecast, Growth, MatcherId,
        Memory, NextFirst, NextLimits, PackedHaystacks, Scratch,
    };
}
#[cfg(feature = "gpu")]
pub use fyke_gpu as gpu;
#[cfg(feature = "compression")]
pub use fyke_io::container;
#[cfg(feature = "rules")]
pub use fyke_io::rules;
pub use groups::GroupSearcher;
pub use searcher::{
    BuildError, EngineName, FindIter, Input, MatchKind, Proceed, Searcher, SearcherBuilder,
    StreamFindIter,
};

/// The example of the package's page, compiled so that it stays true.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
