//! `cargo xtask figures`: the pages, plots and headline figures that are generated from the
//! records.

use std::process::ExitCode;

use anyhow::{Context, Result};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; fail if a file differs from what would be written
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    // The build that measures the records, which usually exists then.
    command.args(["run", "--quiet", "--release", "--bin", "fyke", "--", "bench", "pages"]);
    if args.check {
        command.arg("--check");
    }
    let status = command.status().context("starting cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
