//! The test cases of other matchers, on every engine of a paper.

mod support;

use fyke_testkit::foreign;
use std::process::ExitCode;

fn main() -> ExitCode {
    foreign::main(support::suite())
}
