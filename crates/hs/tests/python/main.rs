//! python-hyperscan takes the library: a Python program sees the same as with a real Hyperscan.
//!
//! `.ci/install-python-hyperscan` builds the module. `FYKE_PYTHON_HYPERSCAN` names another folder.

#[path = "../common/mod.rs"]
mod common;

use fyke_testkit::require;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What the program prints, with every library.
const EXPECTED: &str = include_str!("expected.txt");
const MODULE: &str = "hyperscan/_hyperscan.so";

/// The folder of the module, or why there is none.
fn module() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("FYKE_PYTHON_HYPERSCAN");
    let folder = folder.map_or_else(|| root.join("target/python-hyperscan"), PathBuf::from);
    match folder.join(MODULE).is_file() {
        true => Ok(folder),
        false => Err("no python-hyperscan; run .ci/install-python-hyperscan".into()),
    }
}

/// Runs a program with a library in place of `libhs.so.5`.
fn python(library: &Path, args: &[&str]) -> Result<Output, String> {
    let module = module()?;
    let folder = tempfile::tempdir().unwrap();
    fs::copy(library, folder.path().join("libhs.so.5")).unwrap();
    let mut command = Command::new("python3");
    command.args(args).env("PYTHONPATH", module).env("LD_LIBRARY_PATH", folder.path());
    command.output().map_err(|e| format!("python3: {e}"))
}

/// What the program prints with a library.
fn printed(library: &Path) -> Result<String, String> {
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/client.py");
    let output = python(library, &[client])?;
    assert!(output.status.success(), "{output:?}");
    Ok(String::from_utf8(output.stdout).unwrap())
}

fn refuse(test: &str, why: &str) {
    require::refuse_without(require::PYTHON_HYPERSCAN, test, why);
}

#[test]
fn python_sees_the_matches_and_errors_of_hyperscan() {
    match printed(&common::own_file()) {
        Ok(text) => assert_eq!(text, EXPECTED),
        Err(why) => refuse("python_sees_the_matches_and_errors_of_hyperscan", &why),
    }
}

/// Otherwise the test above would compare a real library with itself.
#[test]
fn python_loads_this_library() {
    let code = "import hyperscan as h; d = h.Database(); d.compile([b'a']); print(d.info())";
    match python(&common::own_file(), &["-c", code]) {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(text.contains("Features: fyke-"), "{output:?}");
        }
        Err(why) => refuse("python_loads_this_library", &why),
    }
}

#[test]
fn the_expected_lines_are_those_of_a_real_hyperscan() {
    let test = "the_expected_lines_are_those_of_a_real_hyperscan";
    let real = match common::real_file() {
        Ok(real) => real,
        Err(why) => return require::refuse_without(require::LIBHS, test, &why),
    };
    match printed(&real) {
        Ok(text) => assert_eq!(text, EXPECTED),
        Err(why) => refuse(test, &why),
    }
}
