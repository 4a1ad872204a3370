//! Taking times: clocks, statistics, samples in turn, and the speed of the memory.

pub mod clock;
pub mod memory;
pub mod sampling;
pub mod stats;

pub use clock::{Clock, Span};
pub use stats::Stats;
