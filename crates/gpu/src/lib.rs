//! GPU engines of fyke.
//!
//! * [`engine`] is the registry: `engine/<name>.rs` is the host half of an engine, `kernel/<name>.cu` the device half.
//! * [`device`] is one small layer over CUDA and OpenCL: both are opened when the program runs, neither is needed to
//!   build it. [`faults`] keeps what went wrong there.
//! * [`matcher`] is what engines share: tiles of a haystack go to the device, what is found comes back.
//! * `pipeline` overlaps the copies of some tiles with the search of others.
//! * [`resident`] searches haystacks that stay on the device, and measures the rates that engines are judged by.
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

pub use engine::ENGINES;
