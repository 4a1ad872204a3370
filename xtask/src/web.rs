//! `cargo xtask web`: builds the page of `examples/web`, one file that needs no server.

use crate::cargo;
use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Parser;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The sources of the page.
const PAGE: &str = "examples/web/page";

/// What cargo builds for the page.
const MODULE: &str = "wasm32-unknown-unknown/dist/fyke_web.wasm";

/// Every browser since 2023 has these instructions.
const FLAGS: (&str, &str) =
    ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-C target-feature=+simd128");

#[derive(Parser)]
pub(crate) struct Args {
    /// The page to write
    #[arg(short, long, default_value = "target/page/fyke.html")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    write(&args.output)?;
    Ok(ExitCode::SUCCESS)
}

/// Builds the module and writes the page.
pub(crate) fn write(output: &Path) -> Result<()> {
    let target = ["--target", "wasm32-unknown-unknown"];
    cargo::run(
        &[&["build", "--quiet", "--profile", "dist", "-p", "fyke-web"][..], &target].concat(),
        &[FLAGS],
    )?;
    let module = read(&cargo::target().join(MODULE))?;
    let page = page(&module)?;
    if let Some(folder) = output.parent() {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    fs::write(output, &page).with_context(|| format!("writing {}", output.display()))?;
    println!(
        "{}: {} bytes, of which the module was {}",
        output.display(),
        page.len(),
        module.len()
    );
    Ok(())
}

/// The page with its scripts and the module in it.
fn page(module: &[u8]) -> Result<String> {
    let text =
        |name: &str| Ok::<_, anyhow::Error>(String::from_utf8(read(&Path::new(PAGE).join(name))?)?);
    let mut page = text("index.html")?;
    let parts = [
        ("{fyke_web.wasm}", STANDARD.encode(module)),
        ("{worker.js}", text("worker.js")?),
        ("{page.js}", text("page.js")?),
    ];
    for (place, part) in parts {
        ensure!(!part.contains("</script"), "{place} would end its element");
        ensure!(page.matches(place).count() == 1, "{PAGE}/index.html needs one {place}");
        page = page.replace(place, &part);
    }
    Ok(page)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("reading {}", path.display()))
}
