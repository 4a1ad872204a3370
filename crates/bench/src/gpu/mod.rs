//! `fyke bench gpu`: the rows by which the GPU engines are judged.
//!
//! A row is a pattern set, a text and an engine. First the engine searches the text through the
//! call that users make, and count and fingerprint have to be those of a CPU engine. Then the text
//! is repeated in device memory and searched there, on the device's clock. The result is given as
//! a share of the rate of a kernel that only reads the same memory, measured in the same run.
//! `packets` measures rows of packets in host memory instead.

pub mod cli;
pub mod columns;
pub mod engine;
pub mod layout;
mod packets;
pub mod plot;
mod print;
pub mod resident;
mod spread;
mod stream;
pub mod turn;
pub mod verify;

pub use cli::Args;
pub use columns::{GpuColumns, GpuRecord, GpuRow};
