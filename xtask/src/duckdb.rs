//! `cargo xtask duckdb`: builds the extension of crates/duckdb as a file that DuckDB loads.
//!
//! Such a file is a shared library with a footer of 512 bytes: eight fields of 32 bytes, of which
//! DuckDB reads the last one first, and 256 bytes for a signature. Ours is not signed.
//! Source: `ParseExtensionMetaData` of DuckDB.

use crate::cargo;
use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The version of the C API that DuckDB 2.0 has. DuckDB before 1.5.6 refuses the file: its table of
/// functions is shorter than that of our bindings, which would read beyond its end. DuckDB 1.5.6
/// has the same version and a table that is two functions shorter, so it cannot be refused.
const API_VERSION: &str = "v1.5.6";

const FIELD: usize = 32;
const SIGNATURE: usize = 256;

#[derive(Parser)]
pub(crate) struct Args {
    /// The profile of cargo to build with
    #[arg(long, default_value = "dist")]
    profile: String,
    /// The file to write; DuckDB takes the name of the extension from it
    #[arg(short, long, default_value = "target/duckdb/fyke.duckdb_extension")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let name = args.output.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ensure!(name.starts_with("fyke."), "the name of the file must be fyke.SOMETHING, not {name}");
    let package = ["-p", "fyke-duckdb", "--features", "extension"];
    cargo::run(&[&["build", "--quiet", "--profile", &args.profile][..], &package].concat(), &[])?;
    // The folder of the profile `dev` has the name of its predecessor.
    let folder = if args.profile == "dev" { "debug" } else { &args.profile };
    let library = cargo::target().join(folder);
    let library = library.join(format!("{DLL_PREFIX}fyke_duckdb{DLL_SUFFIX}"));
    if let Some(folder) = args.output.parent() {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    let bytes = write(&library, &platform()?, &args.output)?;
    println!("{}: {bytes} bytes", args.output.display());
    Ok(ExitCode::SUCCESS)
}

/// Writes a library of a platform as a file that DuckDB loads. Returns its bytes.
pub(crate) fn write(library: &Path, platform: &str, output: &Path) -> Result<usize> {
    let mut bytes = fs::read(library).with_context(|| format!("reading {}", library.display()))?;
    bytes.extend(footer(platform, env!("CARGO_PKG_VERSION")));
    fs::write(output, &bytes).with_context(|| format!("writing {}", output.display()))?;
    Ok(bytes.len())
}

/// DuckDB's name of this platform.
fn platform() -> Result<String> {
    let system = match OS {
        "linux" | "windows" => OS,
        "macos" => "osx",
        _ => bail!("DuckDB has no name for the system {OS}"),
    };
    let architecture = match ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        _ => bail!("DuckDB has no name for the architecture {ARCH}"),
    };
    let library = if cfg!(target_env = "musl") { "_musl" } else { "" };
    Ok(format!("{system}_{architecture}{library}"))
}

/// What DuckDB reads at the end of the file.
fn footer(platform: &str, version: &str) -> Vec<u8> {
    let version = format!("v{version}");
    // The kind of interface, behind three fields that are not used; and the version of the footer.
    let fields = ["", "", "", "C_STRUCT", &version, API_VERSION, platform, "4"];
    let mut footer = Vec::with_capacity(fields.len() * FIELD + SIGNATURE);
    for field in fields {
        assert!(field.len() <= FIELD, "{field} has more than {FIELD} bytes");
        let end = footer.len() + FIELD;
        footer.extend(field.as_bytes());
        footer.resize(end, 0);
    }
    footer.resize(footer.len() + SIGNATURE, 0);
    footer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_footer_has_its_fields_where_duckdb_reads_them() {
        let footer = footer("linux_amd64", "0.1.0");
        assert_eq!(footer.len(), 512);
        let field = |number: usize| {
            let field = &footer[32 * number..32 * (number + 1)];
            std::str::from_utf8(field).unwrap().trim_end_matches('\0').to_owned()
        };
        let fields: Vec<_> = (3..8).map(field).collect();
        assert_eq!(fields, ["C_STRUCT", "v0.1.0", API_VERSION, "linux_amd64", "4"]);
        assert!(footer[256..].iter().all(|&byte| byte == 0));
    }
}
