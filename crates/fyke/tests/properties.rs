//! Random sets and haystacks, on every engine.

#[path = "support/parallel.rs"]
mod parallel;

use fyke::registry;
use fyke_testkit::{Suite, properties};
use std::process::ExitCode;

fn main() -> ExitCode {
    properties::main(Suite::new(registry::engines(), parallel::parallel))
}
