//! `fyke bench`: engines and rivals measured on the same data.

pub(crate) use fyke_bench::cli::{Args as BenchArgs, run};
