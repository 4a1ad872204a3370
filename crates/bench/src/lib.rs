//! Benchmarks: fyke's engines and other matchers on the same patterns and data.
//!
//! ```text
//! definitions/*.toml -> cells -> build -> VERIFY -> time in turn -> statistics -> record -> pages
//! ```
//!
//! `benchmarks/README.md` describes the method and its bias. `fyke bench` runs [`cli`], `fyke bench
//! cpu` the [`matrix`], `fyke bench gpu` the rows of [`gpu`], and `fyke bench hs` the libraries of
//! [`hs`]. All write one form of [`record`], from which [`pages`] makes the documents.
#![forbid(unsafe_code)]

pub mod args;
pub mod chart;
pub mod cli;
pub mod contender;
pub mod data;
pub mod definition;
pub mod entrant;
pub mod gpu;
pub mod growth;
pub mod hs;
pub mod machine;
pub mod matrix;
pub mod number;
pub mod own_data;
pub mod pages;
pub mod parallel;
pub mod print;
pub mod process;
pub mod record;
pub mod run;
pub mod session;
pub mod size;
pub mod summary;
pub mod sweep;
pub mod table;
pub mod timing;
pub mod verify;
