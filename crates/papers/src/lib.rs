//! The engines of the five papers that fyke began with, on CPU and GPU, and the papers' tables
//! measured again.
//!
//! * [`cpu`] and [`gpu`] are the registries, with one file or folder per engine.
//! * [`build`], [`bitmap`], [`passes`] and [`shift`] hold what several CPU engines share.
//! * [`cost`] counts the steps of a scan, as the papers do.
//! * [`model`] predicts the completion times of host-to-host strategies.
//! * `bench` runs the tables and figures of the papers and judges their claims.
//!
//! The product crates do not depend on this one; the command line registers both.

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
