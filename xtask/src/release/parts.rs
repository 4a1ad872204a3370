//! What is compiled: the static command and the wheels, each run once before it is given away.

use super::TARGET;
use crate::cargo;
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler for SQLite in the static command. It must not link: what it makes of a movable
/// program asks for an interpreter, and crashes.
const COMPILERS: [(&str, &str); 1] = [("CC_x86_64_unknown_linux_musl", "musl-gcc")];

/// What builds wheels: with Zig's linker they run where an older C library is.
const TOOLS: [&str; 1] = ["maturin[zig]>=1.9,<2"];

/// Fails if a compiler is missing, which cargo would say after minutes.
pub(super) fn check_compilers() -> Result<()> {
    for (_, compiler) in COMPILERS {
        let started = Command::new(compiler).arg("--version").output();
        started.with_context(|| {
            format!("{compiler} does not start: install Debian's package musl-tools")
        })?;
    }
    Ok(())
}

/// Builds the static command.
pub(super) fn command() -> Result<PathBuf> {
    let args = ["build", "--quiet", "--locked", "--profile", "dist", "-p", "fyke-cli", "--target"];
    cargo::run(&[&args[..], &[TARGET]].concat(), &COMPILERS)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let path = std::path::absolute(Path::new(&target).join(TARGET).join("dist/fyke"))?;
    check_static(&path)?;
    check_scan(&path)?;
    Ok(path)
}

/// Fails if the command needs a library of the system.
fn check_static(path: &Path) -> Result<()> {
    let ldd = Command::new("ldd").arg(path).output().context("starting ldd")?;
    let said = String::from_utf8_lossy(&[ldd.stdout, ldd.stderr].concat()).into_owned();
    ensure!(
        said.contains("statically linked") || said.contains("not a dynamic executable"),
        "{} is not static: {said}",
        path.display()
    );
    Ok(())
}

/// Fails if the command does not find what is there.
fn check_scan(path: &Path) -> Result<()> {
    let found = output(Command::new(path).args(["scan", "-c", "-e", "MIT", "LICENSE-MIT"]))?;
    ensure!(String::from_utf8_lossy(&found).trim() != "0", "{} finds nothing", path.display());
    Ok(())
}

/// Builds both wheels, and installs each in an environment of its own.
pub(super) fn wheels(folder: &Path, version: &str) -> Result<()> {
    let tools = environment(Path::new("target/release-tools"))?;
    let pip = ["install", "--quiet", "--disable-pip-version-check"];
    output(Command::new(tools.join("pip")).args(pip).args(TOOLS))?;
    // Maturin looks for Zig in the path.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path: OsString =
        std::env::join_paths([tools.clone()].into_iter().chain(std::env::split_paths(&path)))?;
    let build = |args: &[&str]| {
        let mut maturin = Command::new(tools.join("maturin"));
        maturin.args(["build", "--quiet", "--locked", "--profile", "dist", "--out"]).arg(folder);
        output(maturin.args(args).env("PATH", &path).envs(COMPILERS))
    };
    // The command is static, so it runs with any C library.
    let command = ["--manifest-path", "crates/cli/Cargo.toml", "--target", TARGET];
    build(&[&command[..], &["--compatibility", "manylinux2014", "musllinux_1_1"]].concat())?;
    build(&["--zig", "--compatibility", "manylinux2014"])?;
    check_wheels(folder, version)
}

fn check_wheels(folder: &Path, version: &str) -> Result<()> {
    let trial = tempfile::tempdir()?;
    let programs = environment(&trial.path().join("trial"))?;
    let pip = ["install", "--quiet", "--disable-pip-version-check", "--no-index", "--find-links"];
    let mut install = Command::new(programs.join("pip"));
    output(install.args(pip).arg(folder).args(["fyke", "fyke-cli"]))?;
    let said = output(Command::new(programs.join("fyke")).arg("--version"))?;
    ensure!(String::from_utf8_lossy(&said).contains(version), "the wheel has another version");
    check_scan(&programs.join("fyke"))?;
    let script = "import fyke; assert list(fyke.Searcher(['b']).scan('abc')) == [(0, 1, 2)]";
    output(Command::new(programs.join("python")).args(["-c", script]))?;
    Ok(())
}

/// An environment of Python, made unless it exists. Returns the folder of its programs.
fn environment(path: &Path) -> Result<PathBuf> {
    let programs = std::path::absolute(path.join("bin"))?;
    if !programs.join("pip").exists() {
        output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(path))?;
    }
    Ok(programs)
}

/// What a program prints. A failure says what was printed.
pub(super) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("starting {command:?}"))?;
    let status = output.status;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(status.success(), "{command:?}: {status}\n{errors}");
    Ok(output.stdout)
}
