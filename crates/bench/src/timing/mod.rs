//! Timing: clocks, samples in turn, statistics, and the read rate of the memory.

pub mod clock;
pub mod memory;
pub mod sampling;
pub mod stats;

pub use clock::{Clock, Span};
pub use stats::Stats;
