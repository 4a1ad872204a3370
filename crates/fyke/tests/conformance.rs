//! Runs every vector of `vectors/` on every engine, in many ways that must give the same matches.

#[path = "support/parallel.rs"]
mod parallel;

use fyke::registry;
use fyke_testkit::{Suite, conformance};
use std::process::ExitCode;

fn main() -> ExitCode {
    conformance::main(Suite::new(registry::engines(), parallel::parallel))
}
