//! `fyke bench cpu`: the matrix by which the processor's engines are judged.
//!
//! ```text
//! matrix/cpu.toml -> sections of cells -> [run::measure] -> a line a cell -> geomean and worst
//! ```
//!
//! The matrix names cells of the definitions; it has none of its own. Every cell is timed with each
//! match read (`touch`), by one contender of ours against the best rival that is installed, so that
//! the last line of a run says in two figures how fyke stands.

pub mod cli;
pub mod growth;
pub mod layout;
pub mod own;
pub mod plot;
pub mod print;
pub mod report;

pub use cli::Args;
