//! `cargo xtask check`: the checks that need only Rust. `.ci/run` has all of them.

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
