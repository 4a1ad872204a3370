//! `fyke bench cpu`: the matrix by which the CPU engines are judged.
//!
//! ```text
//! matrix/cpu.toml -> sections of cells -> run::measure -> one line per cell -> mean and worst
//! ```
//!
//! The matrix names cells of the definitions and has none of its own. Every match is read
//! (`touch`). One contender of fyke is compared with the fastest installed rival of each cell, so
//! that two figures in the last line of a run summarize how fyke compares.

pub mod cli;
pub mod layout;
pub mod plot;
pub mod print;
pub mod regret;
pub mod report;
