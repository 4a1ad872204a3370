//! The DuckDB extension of fyke: `LOAD 'fyke.duckdb_extension'`. docs/duckdb.md describes it.
//!
//! The functions are in `functions`, behind the feature `extension`, so that other builds of the
//! workspace do not compile quack-rs and libduckdb-sys. [`databases`] keeps the databases that
//! queries name. `unsafe` code is in `functions`: the entry point, and `functions/rows.rs`, which
//! reads and writes DuckDB's vectors.
//!
//! DuckDB calls a function with a chunk of up to 2,048 rows, on many threads at a time. The rows of
//! a chunk that name one database are searched in one call.

#![deny(unsafe_code)]

pub mod databases;
#[cfg(feature = "extension")]
#[allow(unsafe_code, reason = "DuckDB calls it through its C interface")]
mod functions;
