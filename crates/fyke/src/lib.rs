//! fyke finds every occurrence of every pattern of a set in any amount of data.
//!
//! ```
//! use fyke::Searcher;
//!
//! let searcher = Searcher::new(["he", "she", "his", "hers"])?;
//! let found: Vec<_> = searcher.find_iter(b"ushers").map(|m| (m.pattern.0, m.start, m.end)).collect();
//! assert_eq!(found, [(1, 1, 4), (0, 2, 4), (3, 2, 6)]); // all of them, overlapping ones too
//! # Ok::<(), fyke::BuildError>(())
//! ```
//!
//! * [`Searcher`] is the front door: haystacks in memory, readers, files, streams.
//! * [`registry`] lists the engines; [`plan`] chooses one and explains why.
//! * Everything of [`fyke_core`] is here under its own name: [`PatternSet`], [`Match`], [`Sink`] ...
#![forbid(unsafe_code)]

mod batch;
pub mod plan;
pub mod registry;
mod searcher;

pub use fyke_automata::PairModel;
pub use fyke_core::*;
pub use fyke_cpu::parallel;
pub use fyke_gpu as gpu;
pub use searcher::{BuildError, FindIter, Searcher, SearcherBuilder};
