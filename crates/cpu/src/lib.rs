//! The CPU engines of fyke that are meant for use.
//!
//! * [`costs`] has the speed constants of all engines, and scales them to this machine.
//! * [`engine`] is the registry: one file or folder per engine.
//! * [`simd`] has the vector operations and detects what the CPU can run.
//! * [`parallel`] runs any matcher over one large haystack on several threads.

mod channel;
pub mod costs;
pub mod engine;
mod first_match;
pub mod parallel;
pub mod simd;
#[cfg(test)]
mod testing;

pub use engine::ENGINES;
