//! Random sets and haystacks, on every engine of a paper.

mod support;

use fyke_testkit::properties;
use std::process::ExitCode;

fn main() -> ExitCode {
    properties::main(support::suite())
}
