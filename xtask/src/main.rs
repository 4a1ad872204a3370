//! Tasks of the workspace: `cargo xtask VERB`. One file a verb.

#![forbid(unsafe_code)]

mod bench;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Tasks of the fyke workspace",
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Measure fyke and other matchers on the same patterns and data, in a release build
    Bench(fyke_bench::cli::Args),
}

fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().verb {
        Verb::Bench(args) => bench::run(&args),
    }
}
