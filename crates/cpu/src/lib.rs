//! CPU engines of fyke.
//!
//! * [`engine`] is the registry: one file an engine.
//! * [`build`] is what engines share at compile time: the trie with its failure links, byte classes.
//! * [`parallel`] runs any matcher over one large haystack on several threads.

pub mod build;
pub mod engine;
pub mod parallel;

pub use engine::ENGINES;
