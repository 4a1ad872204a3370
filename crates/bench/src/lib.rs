//! Benchmarks: fyke's engines and other matchers on the same patterns and data.
//!
//! ```text
//! definitions/*.toml -> cells -> build -> VERIFY -> time in turn -> statistics -> CSV record -> tables
//! ```
//!
//! The method and its bias are written down in `benchmarks/README.md`. `fyke bench` runs [`cli`];
//! `cargo xtask bench` builds and runs `fyke bench` in release.
#![forbid(unsafe_code)]

pub mod chart;
pub mod cli;
pub mod common;
pub mod contender;
pub mod data;
pub mod definition;
pub mod figure;
pub mod gpu;
pub mod lanes;
pub mod machine;
pub mod matrix;
pub mod print;
pub mod process;
pub mod record;
pub mod run;
pub mod size;
pub mod summary;
pub mod sweep;
pub mod table;
pub mod timing;
pub mod verify;
