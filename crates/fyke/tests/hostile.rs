//! Hostile sets and haystacks, on every product engine.

#[path = "support/parallel.rs"]
mod parallel;

use fyke::registry;
use fyke_testkit::{Suite, hostile};
use std::process::ExitCode;

fn main() -> ExitCode {
    hostile::main(Suite::new(registry::engines(), parallel::parallel))
}
