//! The command line: its verbs, one file each, and the dispatch to them.
//!
//! Each verb declares the arguments that it reads, and no verb imports this file. Help, man page,
//! completions and `docs/cli.md` are generated from these definitions.

mod bench;
mod calibrate;
mod carve;
mod compile;
mod devices;
mod engines;
mod explain;
mod flags;
mod generate;
#[cfg(feature = "papers")]
mod model;
mod scan;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes: 0 match found, 1 no match, 2 error. An interrupt ends fyke by its signal, which \
a shell shows as 130.";

/// Find every occurrence of every pattern of a set, in any amount of data
#[derive(Parser, Debug)]
#[command(name = "fyke", version, arg_required_else_help = true, after_help = EXIT_CODES)]
#[command(args_override_self = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Print every match of a pattern set in files, folders or standard input
    Scan(Box<scan::ScanArgs>),
    /// Write a pattern set as a database, which loads faster than it can be compiled
    Compile(Box<compile::CompileArgs>),
    /// Find files in disk images by their headers and footers
    Carve(Box<carve::CarveArgs>),
    /// List the engines, and whether each runs on this machine
    Engines(engines::EnginesArgs),
    /// List the GPUs that engines can use, and what is missing to use others
    Devices(devices::DevicesArgs),
    /// Show which engine a pattern set gets, why, and how much memory it takes
    Explain(explain::ExplainArgs),
    /// Verify engines and rival libraries on the same data, then time them
    Bench(Box<bench::BenchArgs>),
    /// Measure what engines cost on this machine, so that the choice among them fits it
    Calibrate(calibrate::CalibrateArgs),
    /// Predict the time to send data to a GPU, scan it there and read the results, and measure it
    #[cfg(feature = "papers")]
    Model(Box<model::ModelArgs>),
    /// Write man pages, shell completions or generated documents
    Generate(generate::GenerateArgs),
}

/// Parses the command line. Ends the process if it is wrong, or asks for help.
pub(crate) fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| flags::explain(error).exit())
}

/// Runs the verb that the command line names.
pub(crate) fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    if !matches!(cli.verb, Verb::Calibrate(_)) {
        calibrate::file::install();
    }
    let outcome = match cli.verb {
        Verb::Bench(args) => return bench::run(&args),
        Verb::Calibrate(args) => calibrate::run(&args),
        Verb::Scan(args) => scan::run(&args),
        Verb::Compile(args) => compile::run(*args),
        Verb::Carve(args) => carve::run(&args),
        Verb::Engines(args) => engines::run(&args),
        Verb::Devices(args) => devices::run(&args),
        Verb::Explain(args) => explain::run(&args),
        #[cfg(feature = "papers")]
        Verb::Model(args) => model::run(&args),
        Verb::Generate(args) => generate::run(&args, Cli::command()),
    };
    outcome.map(ExitCode::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_sound() {
        Cli::command().debug_assert();
    }
}
