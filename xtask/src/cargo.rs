//! Runs cargo and prints the command.

use anyhow::{Context, Result, ensure};
use std::process::Command;

/// Runs `cargo ARGS` with environment variables set.
pub(crate) fn run(args: &[&str], env: &[(&str, &str)]) -> Result<()> {
    eprintln!("cargo {}", args.join(" "));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(args)
        .envs(env.iter().copied())
        .status()
        .context("starting cargo")?;
    ensure!(status.success(), "cargo {} failed: {status}", args.join(" "));
    Ok(())
}
