//! `cargo xtask bench`.

use std::env;
use std::process::{Command, ExitCode};

use anyhow::Context;

/// Runs the benchmark in a release build: builds one and hands over to it if this is another.
pub(crate) fn run(args: &fyke_bench::cli::Args) -> anyhow::Result<ExitCode> {
    if cfg!(debug_assertions) { hand_over() } else { fyke_bench::cli::run(args) }
}

fn hand_over() -> anyhow::Result<ExitCode> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--quiet", "--package", "xtask", "--"]);
    let status = command.args(env::args_os().skip(1)).status().context("cannot start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
