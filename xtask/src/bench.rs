//! `cargo xtask bench`: `fyke bench` in a release build.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::Context;

/// What is passed on.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Arguments of `fyke bench`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Builds the program, which is also measured as a process, and runs its verb `bench`.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--quiet", "--bin", "fyke", "--", "bench"]).args(&args.args);
    let status = command.status().context("starting cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
