//! GPU engines of fyke.
//!
//! * [`engine`] is the registry: `engine/<name>` is the host half of an engine, `kernel/<name>.cu`
//!   the device half.
//! * [`device`] is one thin layer over CUDA and OpenCL. Both are loaded at run time; neither is
//!   needed to build fyke. [`faults`] keeps what went wrong there.
//! * [`matcher`] is the host side that engines share: tiles of a haystack go to the device, and
//!   matches come back.
//! * `pipeline` overlaps the copies of some tiles with the search of others; `pool` keeps the
//!   queues and buffers of finished scans for the next ones.
//! * [`resident`] searches haystacks that stay on the device, and measures the memory's read rate.
//! * [`forecast`] is what planners ask before a device is opened.
//! * [`sparse`] is the list of records that kernels write.

pub mod device;
pub mod engine;
pub mod faults;
pub mod forecast;
pub mod kernel;
pub mod matcher;
mod pipeline;
mod pool;
pub mod resident;
pub mod sparse;
#[cfg(test)]
mod testing;

pub use engine::ENGINES;
