//! `cargo xtask release`: builds, checks and sums what a release consists of, and writes its notes.
//!
//! | part | is |
//! |---|---|
//! | `fyke-VERSION-TARGET.tar.gz` | the static command, licenses, README, man pages, completions |
//! | `fyke_cli-VERSION-*.whl` | the same command, for `pip install fyke-cli` |
//! | `fyke-VERSION-*.whl` | the Python package |
//! | `fyke.linux_amd64.duckdb_extension` | the extension for DuckDB |
//! | `fyke-VERSION.html` | the page of examples/web |
//! | `NOTES.md` | the version's section of CHANGELOG.md |
//! | `SHA256SUMS` | the sums of all these, for `sha256sum --check` |
//!
//! It needs the targets, a C compiler for the static one (Debian's package `musl-tools`), and
//! Python 3.11 with venv, into which it installs maturin, cargo-zigbuild, and DuckDB for a trial.
//! Nothing is uploaded.

mod archive;
mod notes;
mod parts;

use crate::web;
use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The target of the static command.
const TARGET: &str = "x86_64-unknown-linux-musl";

#[derive(Parser)]
pub(crate) struct Args {
    /// Check the notes, versions and names of a release and print its parts, but build nothing
    #[arg(long)]
    check: bool,
    /// The folder to write the parts to
    #[arg(short, long, default_value = "target/parts")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let version = version()?;
    let notes = notes::of(&fs::read_to_string("CHANGELOG.md").context("CHANGELOG.md")?, &version)?;
    let name = format!("fyke-{version}-{TARGET}");
    check_binstall(&version, &name)?;
    archive::check_documents()?;
    println!(
        "version {version}; notes of \"{}\", {} lines",
        notes.title,
        notes.text.lines().count()
    );
    if args.check {
        println!(
            "{name}.tar.gz, wheels of fyke-cli and fyke, the extension for DuckDB, \
             fyke-{version}.html, SHA256SUMS"
        );
        return Ok(ExitCode::SUCCESS);
    }

    parts::check_compilers()?;
    let output = std::path::absolute(&args.output)?;
    if output.exists() {
        fs::remove_dir_all(&output).with_context(|| format!("emptying {}", output.display()))?;
    }
    fs::create_dir_all(&output).with_context(|| format!("creating {}", output.display()))?;
    let command = parts::command()?;
    archive::write(&command, &name, &output)?;
    let tools = parts::Tools::install()?;
    parts::wheels(&tools, &output, &version)?;
    parts::extension(&tools, &command, &output)?;
    web::write(&output.join(format!("fyke-{version}.html")))?;
    fs::write(output.join("NOTES.md"), &notes.text).context("writing NOTES.md")?;
    sum(&output)?;
    if notes.title != version {
        bail!("CHANGELOG.md has no section {version}: these parts are for a trial");
    }
    Ok(ExitCode::SUCCESS)
}

/// The version of the workspace.
fn version() -> Result<String> {
    let text = fs::read_to_string("Cargo.toml").context("Cargo.toml")?;
    let manifest: toml::Table = text.parse().context("Cargo.toml")?;
    let version = &manifest["workspace"]["package"]["version"];
    Ok(version.as_str().context("the version is no string")?.to_owned())
}

/// Fails if `cargo binstall` would look for another name than that of the archive.
fn check_binstall(version: &str, name: &str) -> Result<()> {
    let path = "crates/cli/Cargo.toml";
    let text = fs::read_to_string(path).context(path)?;
    let manifest: toml::Table = text.parse().context(path)?;
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let filled = |key: &str| -> Result<String> {
        let template = binstall.get(key).and_then(toml::Value::as_str);
        let template = template.with_context(|| format!("{path}: no binstall.{key}"))?;
        let values = [
            ("{ version }", version),
            ("{ target }", TARGET),
            ("{ archive-suffix }", ".tar.gz"),
            ("{ bin }", "fyke"),
            ("{ binary-ext }", ""),
        ];
        Ok(values.iter().fold(template.to_owned(), |text, (key, value)| text.replace(key, value)))
    };
    let (url, inside) = (filled("pkg-url")?, filled("bin-dir")?);
    let expected = format!("/releases/download/v{version}/{name}.tar.gz");
    ensure!(url.ends_with(&expected), "{path}: binstall.pkg-url is {url}, not ...{expected}");
    let expected = format!("{name}/fyke");
    ensure!(inside == expected, "{path}: binstall.bin-dir is {inside}, not {expected}");
    Ok(())
}

/// Prints the size of every part and writes the sums.
fn sum(folder: &Path) -> Result<()> {
    let files = fs::read_dir(folder)?.map(|file| Ok(file?.path())).collect::<Result<Vec<_>>>();
    let mut files = files?;
    files.sort();
    let mut sums = String::new();
    for file in files {
        let bytes = fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        println!("{:>10} bytes  {name}", bytes.len());
        for byte in Sha256::digest(&bytes) {
            write!(sums, "{byte:02x}")?;
        }
        writeln!(sums, "  {name}")?;
    }
    fs::write(folder.join("SHA256SUMS"), sums).context("writing SHA256SUMS")
}
