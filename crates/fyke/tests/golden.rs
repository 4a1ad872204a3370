//! Counts and fingerprints of real rule sets on real traffic, on every engine.

#[path = "support/parallel.rs"]
mod parallel;

use fyke::registry;
use fyke_testkit::{Suite, golden};
use std::process::ExitCode;

fn main() -> ExitCode {
    golden::main(Suite::new(registry::engines(), parallel::parallel))
}
