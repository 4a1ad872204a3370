//! CPU engines of fyke.
//!
//! * [`engine`] is the registry: one file an engine.
//! * [`build`] is what engines share at compile time: the trie with its failure links, byte classes.
//! * [`simd`] is what they share at run time: vector operations for each processor.
//! * [`parallel`] runs any matcher over one large haystack on several threads.

pub mod build;
pub mod engine;
pub mod parallel;
pub mod simd;

pub use engine::ENGINES;
