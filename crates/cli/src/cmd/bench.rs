//! `fyke bench`: engines and rival libraries, verified and then timed on the same data.

use anyhow::Result;
use clap::{Args, Subcommand};
use std::io;
use std::process::ExitCode;

/// Arguments of `fyke bench`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    own: fyke_bench::cli::Args,
}

/// The benchmarks other than those of `benchmarks/definitions`.
#[derive(Debug, Subcommand)]
enum Command {
    /// Reproduce a table or figure of a paper, and compare it with the paper
    #[cfg(feature = "papers")]
    Paper(fyke_papers::bench::Args),
    /// Measure the CPU engines and rivals on a matrix of pattern sets and data
    Cpu(Box<fyke_bench::matrix::cli::Args>),
    /// Measure the GPU engines on data in device memory
    Gpu(Box<fyke_bench::gpu::Args>),
    /// Compare fyke's libhs with a real one on a rule file: compile time, memory, scan time
    ///
    /// Both libraries are opened as programs open them. Before anything is timed they have to find the
    /// same matches in every call, else the exit code is 2. A ratio is their time or memory over ours:
    /// above 1, ours is better. The exit code is 1 if a library refused the set.
    Hs(Box<fyke_bench::hs::cli::Args>),
    /// Write the pages and figures that are generated from the records
    #[command(hide = true)]
    Pages(fyke_bench::pages::cli::Args),
}

pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    let out = &mut io::stdout().lock();
    match &args.command {
        None => fyke_bench::cli::run_to(&args.own, out),
        #[cfg(feature = "papers")]
        Some(Command::Paper(args)) => fyke_papers::bench::run_to(args, out),
        Some(Command::Cpu(args)) => fyke_bench::matrix::cli::run_to(args, out),
        Some(Command::Gpu(args)) => fyke_bench::gpu::cli::run_to(args, out),
        Some(Command::Hs(args)) => fyke_bench::hs::cli::run_to(args, out),
        Some(Command::Pages(args)) => fyke_bench::pages::cli::run_to(args, out),
    }
}
