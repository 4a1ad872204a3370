//! The tables and figures of the papers, printed again beside the papers' own figures.
//!
//! ```text
//! definitions/papers/<id>.toml -> cells -> compile, VERIFY, count, time in turn -> grid -> claims
//!                                                                    -> text, CSV, SVG
//! ```
//!
//! A definition holds the paper's figures and what the paper says about them; [`claim`] tests whether
//! that holds for ours. Nothing here knows a single table: a new one is a new file.

pub mod claim;
pub mod cli;
pub mod definition;
mod device;
pub mod grid;
pub mod host_to_host;
pub mod measure;
pub mod metric;
pub mod plot;
pub mod print;
pub mod settings;
pub mod write;

pub use cli::{Args, run_to};
pub use definition::Definition;
