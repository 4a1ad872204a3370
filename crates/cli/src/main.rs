//! The command line of fyke. Each verb is one file in `cmd`; `run` holds the scan itself.
//!
//! Exit codes: 0 if there was a match, 1 if there was none, 2 on an error. A closed output pipe
//! ends the program with 0 and no message. It dies of an interrupt, after a whole record.
#![forbid(unsafe_code)]

mod cmd;
mod color;
mod engine;
mod number;
mod outcome;
mod patterns;
mod run;
mod warning;

use outcome::Outcome;
use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "papers")]
    fyke::registry::add(fyke_papers::engines());
    let done = cmd::run(cmd::parse());
    warning::print_faults();
    match done {
        Ok(code) => code,
        Err(error) if outcome::is_closed_pipe(&error) => Outcome::Match.into(),
        Err(error) => {
            warning::print(format_args!("{error:#}"));
            Outcome::Error.into()
        }
    }
}
