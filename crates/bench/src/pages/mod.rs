//! The documents that are generated from the records: pages of tables, plots, and the headline
//! figures that other documents quote between markers.
//!
//! ```text
//! benchmarks/record/MACHINE/DATE-KIND.csv, the newest of each kind
//!   matrix       -> BENCHMARKS.md, plots/
//!   matrix-avx2  -> benchmarks/avx2.md, plots/avx2/
//!   matrix-zen5  -> benchmarks/zen5.md, plots/zen5/; a record of `matrix`, renamed by hand
//!   matrix-zen4  -> benchmarks/zen4.md, plots/zen4/; likewise
//!   matrix-zen3  -> benchmarks/zen3.md, plots/zen3/; likewise
//!   gpu, ladder  -> plots/gpu/
//!   all          -> README.md, between `<!-- figures:begin NAME -->` and `<!-- figures:end -->`
//! ```

pub mod cli;
pub mod figures;
pub mod markers;
mod page;
