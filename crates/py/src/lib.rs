//! The Python package of fyke: `import fyke`. docs/python.md describes it.
//!
//! The extension module is in `python`, behind the feature of that name, so that a workspace build
//! needs no Python. What needs none is here: [`pieces`], which scans so that an interrupt is seen
//! soon, and [`positions`], which turns byte positions into character positions. `columns` searches
//! Arrow columns, and `polars` is the plugin for Polars; the feature has their libraries.
//!
//! `unsafe` code is in three files: `python/haystack.rs`, for buffers, `python/capsule.rs`, for the
//! Arrow C data interface, and `polars/abi.rs`, for the interface of Polars.
#![deny(unsafe_code)]

#[cfg(feature = "python")]
#[cfg_attr(test, allow(dead_code, unused_imports, reason = "`python` is not in unit tests"))]
mod columns;
pub mod pieces;
#[cfg(feature = "python")]
mod polars;
pub mod positions;
// Unit tests are programs, which cannot be linked without a library of Python.
#[cfg(all(feature = "python", not(test)))]
mod python;
