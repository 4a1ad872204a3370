//! Runs cargo and prints the command.

use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::process::Command;

/// Cargo, which the caller gives arguments.
pub(crate) fn command() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The folder that cargo builds in.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()).into()
}

/// Runs `cargo ARGS` with environment variables set.
pub(crate) fn run(args: &[&str], env: &[(&str, &str)]) -> Result<()> {
    eprintln!("cargo {}", args.join(" "));
    let status =
        command().args(args).envs(env.iter().copied()).status().context("starting cargo")?;
    ensure!(status.success(), "cargo {} failed: {status}", args.join(" "));
    Ok(())
}
