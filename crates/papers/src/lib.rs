//! The matchers of the five papers that fyke began with, on CPU and GPU, and their tables measured
//! again.
//!
//! * [`cpu`] and [`gpu`] are the registries: one file or folder per engine.
//! * [`build`], [`bitmap`], [`passes`] and [`shift`] are what the CPU engines share.
//! * [`cost`] counts what a scan does, as the papers do.
//! * [`model`] predicts completion times of host-to-host strategies.
//! * [`bench`] runs the tables and figures of the papers and judges their claims.
//!
//! The product engines of [`fyke`] know nothing of this crate.

#[cfg(feature = "bench")]
pub mod bench;
pub mod bitmap;
pub mod build;
pub mod cost;
pub mod cpu;
pub mod gpu;
pub mod model;
pub mod passes;
pub mod shift;

use fyke_core::Engine;

/// Every engine of a paper, CPU engines first.
pub fn engines() -> Vec<&'static dyn Engine> {
    let gpu = gpu::ENGINES.iter().map(|&e| e as &'static dyn Engine);
    cpu::ENGINES.iter().copied().chain(gpu).collect()
}
