//! Records: one CSV file for each run, one row for each contender of each cell.
//!
//! ```text
//! # name: value                       facts about the run: date, commit, CPU, ...
//! # section NAME: AXIS: ABOUT         what varies from cell to cell of a section
//! section,cell,contender,...          the columns that all benchmarks share, see [`Row`]
//! ```
//!
//! Behind the shared columns stand those of the benchmark: [`CpuColumns`] here,
//! [`GpuColumns`](crate::gpu::GpuColumns) for the GPU, and the papers have their own. A contender
//! that was refused has a row too, with the reason; so has a cell whose data is missing.

pub mod cpu;
pub mod file;
pub mod newest;
pub mod row;
#[cfg(test)]
mod tests;

pub use cpu::{CpuColumns, CpuRecord, CpuRow};
pub use file::{Heading, JUDGED, Record};
pub use row::{Row, Status};
