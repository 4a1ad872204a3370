//! The golden rows, on every engine of a paper.

mod support;

use fyke_testkit::golden;
use std::process::ExitCode;

fn main() -> ExitCode {
    golden::main(support::suite())
}
