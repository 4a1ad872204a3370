//! `cargo xtask generate`: the documents that are generated from the code.

use crate::cargo;
use anyhow::Result;
use std::process::ExitCode;

pub(crate) fn run() -> Result<ExitCode> {
    cargo::run(&["run", "--quiet", "--bin", "fyke", "--", "generate", "docs", "docs"], &[])?;
    Ok(ExitCode::SUCCESS)
}
