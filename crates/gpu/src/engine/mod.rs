//! The registry of GPU engines: a module line and a slice entry each, nothing else.

use fyke_core::Engine;

/// Every GPU engine.
pub static ENGINES: &[&dyn Engine] = &[];
