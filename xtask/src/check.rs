//! `cargo xtask check`: what a change has to pass, as far as it needs nothing installed. `.ci/run` does more.

use crate::cargo;
use anyhow::Result;
use std::process::ExitCode;

pub(crate) fn run() -> Result<ExitCode> {
    cargo::run(&["fmt", "--all", "--check"], &[])?;
    cargo::run(
        &["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"],
        &[],
    )?;
    let doc = ["doc", "--workspace", "--no-deps", "--all-features", "--quiet"];
    cargo::run(&doc, &[("RUSTDOCFLAGS", "-D warnings")])?;
    cargo::run(&["test", "--workspace"], &[])?;
    Ok(ExitCode::SUCCESS)
}
