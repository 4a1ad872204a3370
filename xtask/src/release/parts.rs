//! What is compiled: the static command, the wheels and the extension for DuckDB, each run once
//! before it is given away.

use super::TARGET;
use crate::{cargo, duckdb};
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler for SQLite in the static command. It must not link: what it makes of a movable
/// program asks for an interpreter, and crashes.
const COMPILERS: [(&str, &str); 1] = [("CC_x86_64_unknown_linux_musl", "musl-gcc")];

/// What builds wheels and the extension: with Zig's linker they run where an older C library is.
const TOOLS: [&str; 2] = ["maturin[zig]>=1.9,<2", "cargo-zigbuild>=0.20,<1"];

/// The target of the extension for DuckDB, the oldest C library that it runs with, as for the
/// wheels, and DuckDB's name of the platform.
const EXTENSION: (&str, &str, &str) = ("x86_64-unknown-linux-gnu", "2.17", "linux_amd64");

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
    let path = std::path::absolute(cargo::target().join(TARGET).join("dist/fyke"))?;
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

/// The programs of [`TOOLS`].
pub(super) struct Tools {
    folder: PathBuf,
    /// Programs are looked for here, first in the folder of the tools: maturin starts Zig, and
    /// cargo its extensions.
    path: OsString,
}

impl Tools {
    /// Installs them.
    pub(super) fn install() -> Result<Tools> {
        let folder = environment(Path::new("target/release-tools"))?;
        output(Command::new(folder.join("pip")).args(PIP).args(TOOLS))?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = [folder.clone()].into_iter().chain(std::env::split_paths(&path));
        Ok(Tools { path: std::env::join_paths(all)?, folder })
    }
}

const PIP: [&str; 3] = ["install", "--quiet", "--disable-pip-version-check"];

/// Builds both wheels, and installs each in an environment of its own.
pub(super) fn wheels(tools: &Tools, folder: &Path, version: &str) -> Result<()> {
    let build = |args: &[&str]| {
        let mut maturin = Command::new(tools.folder.join("maturin"));
        maturin.args(["build", "--quiet", "--locked", "--profile", "dist", "--out"]).arg(folder);
        output(maturin.args(args).env("PATH", &tools.path).envs(COMPILERS))
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
    let mut install = Command::new(programs.join("pip"));
    let local = ["--no-index", "--find-links"];
    output(install.args(PIP).args(local).arg(folder).args(["fyke", "fyke-cli"]))?;
    let said = output(Command::new(programs.join("fyke")).arg("--version"))?;
    ensure!(String::from_utf8_lossy(&said).contains(version), "the wheel has another version");
    check_scan(&programs.join("fyke"))?;
    let script = "import fyke; assert list(fyke.Searcher(['b']).scan('abc')) == [(0, 1, 2)]";
    output(Command::new(programs.join("python")).args(["-c", script]))?;
    Ok(())
}

/// Builds the extension for DuckDB, and loads it.
pub(super) fn extension(tools: &Tools, command: &Path, folder: &Path) -> Result<()> {
    let (target, c_library, platform) = EXTENSION;
    let mut build = cargo::command();
    build.args(["zigbuild", "--quiet", "--locked", "--profile", "dist", "-p", "fyke-duckdb"]);
    build.args(["--features", "extension", "--target", &format!("{target}.{c_library}")]);
    output(build.env("PATH", &tools.path))?;
    let library = cargo::target().join(target).join("dist/libfyke_duckdb.so");
    // DuckDB takes the extension's name from the file's, up to the first dot.
    let file = folder.join(format!("fyke.{platform}.duckdb_extension"));
    duckdb::write(&library, platform, &file)?;
    check_extension(command, &file)
}

/// Fails if DuckDB does not find what is there by the extension.
fn check_extension(command: &Path, file: &Path) -> Result<()> {
    let trial = tempfile::tempdir()?;
    let programs = environment(&trial.path().join("trial"))?;
    output(Command::new(programs.join("pip")).args(PIP).arg("duckdb>=2"))?;
    let database = trial.path().join("db.fyke");
    output(Command::new(command).args(["compile", "-e", "needle", "-o"]).arg(&database))?;
    let script = "import duckdb, sys\n\
        connection = duckdb.connect(config={'allow_unsigned_extensions': 'true'})\n\
        connection.load_extension(sys.argv[1])\n\
        question = 'SELECT fyke_contains_any($1, $3), fyke_contains_any($2, $3)'\n\
        found = connection.execute(question, ['a needle', 'hay', sys.argv[2]]).fetchone()\n\
        assert found == (True, False), found";
    let mut python = Command::new(programs.join("python"));
    output(python.args(["-c", script]).arg(file).arg(&database)).map(drop)
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
