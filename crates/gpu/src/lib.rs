//! GPU engines of fyke.
//!
//! * [`engine`] is the registry: `engine/<name>.rs` is the host half of an engine, `kernel/<name>.cu` the device half.
//! * [`device`] is one small layer over CUDA and OpenCL: both are opened when the program runs, neither is needed to
//!   build it. [`faults`] keeps what went wrong there.
//! * [`matcher`] is what engines share: tiles of a haystack go to the device, what is found comes back.
//! * `pipeline` overlaps the copies of some tiles with the search of others.
//! * [`resident`] searches haystacks that stay on the device, and measures the rates that engines are judged by.
//! * [`forecast`] is what planners ask before a device is opened.
//! * [`model`] is the model of completion times of host-to-host strategies, [`strategy`] runs them.

mod dense;
pub mod device;
pub mod engine;
pub mod faults;
pub mod forecast;
pub mod kernel;
pub mod matcher;
pub mod model;
mod passes;
mod pipeline;
mod pool;
pub mod resident;
mod reverse;
mod sparse;
pub mod strategy;
mod tran;

pub use engine::ENGINES;
