//! The tables and figures of the papers, measured again beside the papers' own figures.
//!
//! ```text
//! definitions/papers/<id>.toml -> cells -> compile, VERIFY, count, time in turn -> grid -> claims
//!                                                                    -> text, record, plots
//! ```
//!
//! A definition has the paper's figures and claims; [`claim`] tests whether the claims hold for the
//! measured figures. Code here names no single table: a new one is a new file.

mod carve;
pub mod cell_ref;
pub mod claim;
pub mod cli;
pub mod definition;
mod device;
pub mod grid;
pub mod host_to_host;
pub mod load;
pub mod measure;
pub mod metric;
pub mod plot;
pub mod print;
pub mod record;
pub mod settings;
mod skip;
#[cfg(test)]
mod tests;

pub use cli::{Args, run_to};
pub use definition::Definition;
