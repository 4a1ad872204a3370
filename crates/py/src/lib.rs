//! The Python package of fyke: `import fyke`. docs/python.md describes it.
//!
//! The extension module is in `python`, behind the feature of that name, so that a workspace build
//! needs no Python. What needs none is here: [`pieces`], which scans so that an interrupt is seen
//! soon, and [`positions`], which turns byte positions into character positions.
//!
//! `unsafe` code is in two files: `python/haystack.rs`, for buffers, and `python/capsule.rs`, for
//! the Arrow C data interface.
#![deny(unsafe_code)]

pub mod pieces;
pub mod positions;
// Unit tests are programs, which cannot be linked without a library of Python.
#[cfg(all(feature = "python", not(test)))]
mod python;
