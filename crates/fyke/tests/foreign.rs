//! The test cases of other matchers, on every engine.

#[path = "support/parallel.rs"]
mod parallel;

use fyke::registry;
use fyke_testkit::{Suite, foreign};
use std::process::ExitCode;

fn main() -> ExitCode {
    foreign::main(Suite::new(registry::engines(), parallel::parallel))
}
