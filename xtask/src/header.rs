//! `cargo xtask header`: writes the C header of `crates/capi` from its sources.

use anyhow::{Context, Result, bail, ensure};
use cbindgen::{Builder, Config};
use clap::Parser;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The header.
const FILE: &str = "crates/capi/include/fyke.h";
/// The sources that it is made from, and the settings.
const SOURCES: &str = "crates/capi/src";
const SETTINGS: &str = "crates/capi/cbindgen.toml";
/// The order of the sources in the header. Others follow, by name.
const ORDER: [&str; 9] =
    ["abi", "builder", "searcher", "scan", "batch", "stream", "iter", "info", "error"];

#[derive(Parser)]
pub(crate) struct Args {
    /// Fail if the header is not up to date, and write nothing
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let header = header()?;
    if !args.check {
        fs::write(FILE, header).with_context(|| format!("writing {FILE}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let known = fs::read_to_string(FILE).with_context(|| format!("reading {FILE}"))?;
    if known != header {
        bail!("{FILE} is not what the sources say: run cargo xtask header");
    }
    Ok(ExitCode::SUCCESS)
}

/// The header as text.
fn header() -> Result<String> {
    let settings = Config::from_file(SETTINGS).map_err(anyhow::Error::msg)?;
    let sources = sources()?.into_iter();
    let builder = sources.fold(Builder::new().with_config(settings), Builder::with_src);
    let mut text = Vec::new();
    builder.generate().with_context(|| format!("reading {SOURCES}"))?.write(&mut text);
    // The head of a section of Rust's documentation.
    Ok(String::from_utf8(text)?.replace("// # Safety\n", "// Arguments:\n"))
}

/// The sources, in an order that does not depend on the machine.
fn sources() -> Result<Vec<PathBuf>> {
    let files = fs::read_dir(SOURCES).with_context(|| format!("reading {SOURCES}"))?;
    let mut files = files.map(|file| Ok(file?.path())).collect::<Result<Vec<_>>>()?;
    // The root has modules only, and cbindgen would follow them.
    files.retain(|file| file.extension() == Some("rs".as_ref()) && !file.ends_with("lib.rs"));
    ensure!(!files.is_empty(), "{SOURCES} has no sources");
    let place = |file: &Path| ORDER.iter().position(|name| file.file_stem() == Some(name.as_ref()));
    files.sort_by_key(|file| (place(file).unwrap_or(ORDER.len()), file.clone()));
    Ok(files)
}
