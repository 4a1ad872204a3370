//! CPU engines of fyke.
//!
//! * [`engine`] is the registry: one file an engine.
//! * [`bitmap`] is what the compressed unoptimised automata share.
//! * [`build`] is what engines share at compile time: the trie with its failure links, byte classes, gram statistics.
//! * [`forecast`] is what engines expect a set to cost.
//! * [`simd`] is what they share at run time: vector operations for each processor.
//! * [`walk`] scans with any automaton that is walked a byte at a time, [`shift`] with any window that leaps
//!   over bytes; [`count`] counts what a scan does.
//! * [`passes`] scans with any search for one pattern, a pass for each.
//! * [`parallel`] runs any matcher over one large haystack on several threads.

pub mod bitmap;
pub mod build;
pub mod count;
pub mod engine;
pub mod forecast;
pub mod parallel;
pub mod passes;
pub mod shift;
pub mod simd;
pub mod walk;

pub use engine::ENGINES;
pub use forecast::Forecast;
