//! The data of benchmarks: corpora, pattern sets, and golden rows.

pub mod collect;
pub mod corpora;
pub mod generate;
pub mod golden;
pub mod packed;
pub mod patterns;
pub mod place;
pub mod replay;
pub mod sources;
pub mod store;
pub mod sum;

pub use place::Place;
pub use store::{Extent, Prepared, Store};
pub use sum::sha256;
