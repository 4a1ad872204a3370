//! Every vector of `vectors/`, expanded in ways that must not change the result, on every
//! engine of a paper.

mod support;

use fyke_testkit::conformance;
use std::process::ExitCode;

fn main() -> ExitCode {
    conformance::main(support::suite())
}
