//! The command line of `fyke bench pages` and `cargo xtask figures`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use super::page::PAGES;
use super::{figures, markers};
use crate::data::place::Place;
use crate::gpu::columns::GpuRecord;
use crate::gpu::plot;
use crate::matrix::report;
use crate::record::cpu::CpuRecord;
use crate::record::newest::newest;

/// Writes the pages, plots and figures that are generated from the records.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write nothing; fail if a file differs from what would be written
    #[arg(long)]
    pub check: bool,

    /// The folder with definitions/ and record/ [default: benchmarks/ of the workspace]
    #[arg(long, value_name = "DIR")]
    pub benchmarks: Option<PathBuf>,
}

/// The records that GPU plots are drawn of. A later one replaces plots of an earlier one.
const GPU_PLOTS: [&str; 2] = ["ladder", "gpu"];
/// Where they are drawn.
const GPU_FOLDER: &str = "benchmarks/plots/gpu";

/// The documents with generated parts.
const QUOTING: [&str; 1] = ["README.md"];

/// Runs and prints to `out` what was written or is out of date.
///
/// # Errors
/// A record cannot be read, or a file cannot be written. The exit code is 1 if `--check` found a
/// file that is out of date.
pub fn run_to(args: &Args, out: &mut dyn Write) -> Result<ExitCode> {
    let benchmarks = Place::find(args.benchmarks.as_deref(), None)?.benchmarks;
    let root = std::path::absolute(&benchmarks)?;
    let root = root.parent().context("the folder of benchmarks has no parent")?;
    let generated = tempfile::tempdir().context("cannot create a temporary folder")?;
    generate(&benchmarks, root, generated.path())?;
    let mut files = Vec::new();
    list(generated.path(), &mut files)?;
    files.sort();
    let mut stale = 0;
    for file in files {
        let name = file.strip_prefix(generated.path())?;
        let (new, place) = (fs::read(&file)?, root.join(name));
        if fs::read(&place).is_ok_and(|old| old == new) {
            continue;
        }
        stale += 1;
        if args.check {
            writeln!(out, "out of date: {}", name.display())?;
            continue;
        }
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&place, new).with_context(|| place.display().to_string())?;
        writeln!(out, "wrote {}", name.display())?;
    }
    if args.check && stale > 0 {
        writeln!(out, "run `cargo xtask figures` and look at what changed")?;
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes every generated file under another root.
fn generate(benchmarks: &Path, root: &Path, to: &Path) -> Result<()> {
    let records = benchmarks.join("record");
    for page in &PAGES {
        let Some(record) = newest(&records, page.kind)? else { continue };
        let plots = to.join(page.plots);
        let text = report::write(&CpuRecord::load(&record)?, &plots, Path::new(page.link))?;
        put(&to.join(page.file), &text)?;
    }
    for kind in GPU_PLOTS {
        let Some(record) = newest(&records, kind)? else { continue };
        plot::draw(&GpuRecord::load(&record)?, &to.join(GPU_FOLDER))?;
    }
    for name in QUOTING {
        let file = root.join(name);
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let text = markers::replace(&text, &|part| figures::text(benchmarks, part));
        put(&to.join(name), &text.with_context(|| file.display().to_string())?)?;
    }
    Ok(())
}

fn put(file: &Path, text: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text).with_context(|| file.display().to_string())
}

/// The files under a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { list(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
