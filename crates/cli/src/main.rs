//! The command line of fyke. One verb is one file in `cmd`; what `scan` is made of lies in `run`.
//!
//! Exit codes: 0 a match was found, 1 none was, 2 something went wrong. A closed pipe ends quietly with
//! 0, an interrupt ends with 130 and whole records.
#![forbid(unsafe_code)]

mod args;
mod cmd;
mod color;
mod outcome;
mod patterns;
mod run;
mod warning;

use clap::{CommandFactory, FromArgMatches};
use outcome::Outcome;
use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "papers")]
    fyke::registry::add(fyke_papers::engines());
    let matches = args::Cli::command().get_matches();
    let cli = args::Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    let done = cmd::run(cli.command);
    warning::print_faults();
    match done {
        Ok(code) => code,
        Err(error) if outcome::is_closed_pipe(&error) => Outcome::Match.into(),
        Err(error) => {
            eprintln!("fyke: {error:#}");
            Outcome::Error.into()
        }
    }
}
