//! Requirements: `FYKE_REQUIRE` names what a test run must not go without.
//!
//! The value is a list of names, separated by commas. A name is one of:
//!
//! * an engine, `ac-dfa`: it must be available and must be checked at least once;
//! * an engine with one of its options, `gpu-dfa:backend=opencl`: the same for the variants that
//!   have the option;
//! * `data`: the data that is not in the repository, in `$FYKE_DATA` or `../shared/data`;
//! * `browser`: a browser that opens pages, `$FYKE_BROWSER` or one of [`BROWSERS`];
//! * `scalpel`: the program Scalpel 1.60, which carves are compared with;
//! * `ewf-tools`: the program ewfacquire, which makes E01 images;
//! * `libhs`: a real Hyperscan, which `fyke-hs` is compared with;
//! * `cc`: a C and a C++ compiler and the tools that come with them;
//! * `python-hyperscan`: the Python module of Hyperscan, which takes `fyke-hs` in its place;
//! * `suricata`: the program Suricata, which takes `fyke-hs` in place of Hyperscan;
//! * `valgrind`: the program valgrind, under which programs that use the C API run;
//! * `wasm32`: Rust's target wasm32-unknown-unknown, for which the page of examples/web is built.
//!
//! Without a requirement, what a machine lacks is a refusal: counted, printed, and not a failure.

use libtest_mimic::{Failed, Trial};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The environment variable that lists the requirements.
pub const REQUIRE: &str = "FYKE_REQUIRE";
/// The requirement that stands for the data outside the repository.
pub const DATA: &str = "data";
/// The requirement that stands for a browser.
pub const BROWSER: &str = "browser";
/// The environment variable that names the program of the browser.
pub const BROWSER_PROGRAM: &str = "FYKE_BROWSER";
/// Browsers that print a page, or draw it to a file, without a screen.
pub const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// The requirement that stands for the program Scalpel.
pub const SCALPEL: &str = "scalpel";
/// The requirement that stands for the programs of ewf-tools.
pub const EWF_TOOLS: &str = "ewf-tools";
/// The requirement that stands for a real Hyperscan.
pub const LIBHS: &str = "libhs";
/// The requirement that stands for a C and a C++ compiler and the tools that come with them.
pub const CC: &str = "cc";
/// The requirement that stands for the Python module of Hyperscan.
pub const PYTHON_HYPERSCAN: &str = "python-hyperscan";
/// The requirement that stands for the program Suricata.
pub const SURICATA: &str = "suricata";
/// The requirement that stands for the program valgrind.
pub const VALGRIND: &str = "valgrind";
/// The requirement that stands for Rust's target wasm32-unknown-unknown.
pub const WASM32: &str = "wasm32";
/// The environment variable that names the folder of that data.
pub const DATA_FOLDER: &str = "FYKE_DATA";

/// The names listed in the environment variable of this name.
pub fn names(variable: &str) -> Vec<String> {
    let list = std::env::var(variable).unwrap_or_default();
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(String::from).collect()
}

/// Whether the environment requires the data outside the repository.
pub fn is_data_required() -> bool {
    is_required(DATA)
}

/// Whether the environment requires this.
pub fn is_required(what: &str) -> bool {
    names(REQUIRE).iter().any(|name| name == what)
}

/// Whether a requirement is no engine.
pub fn is_no_engine(name: &str) -> bool {
    let other = [
        DATA,
        BROWSER,
        SCALPEL,
        EWF_TOOLS,
        LIBHS,
        CC,
        PYTHON_HYPERSCAN,
        SURICATA,
        VALGRIND,
        WASM32,
    ];
    other.contains(&name)
}

/// The program of a browser: `$FYKE_BROWSER`, else the first of [`BROWSERS`] in `$PATH`.
///
/// # Errors
/// The reason to give when a test is refused for want of a browser.
pub fn browser() -> Result<PathBuf, String> {
    if let Some(program) = std::env::var_os(BROWSER_PROGRAM) {
        return Ok(program.into());
    }
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
    let mut programs = BROWSERS.iter().flat_map(|name| folders.iter().map(move |f| f.join(name)));
    programs.find(|program| program.is_file()).ok_or_else(|| {
        format!("no {} in the path; install one or set {BROWSER_PROGRAM}", BROWSERS.join(", "))
    })
}

/// The folder of the data outside the repository: `$FYKE_DATA`, else `../shared/data` beside the
/// repository. The folder may not exist.
pub fn data_folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os(DATA_FOLDER).map_or_else(beside, PathBuf::from)
}

/// The data folder, if `part` of it exists.
///
/// # Errors
/// The reason to give when a test is refused for want of the data.
pub fn data_with(part: &str) -> Result<PathBuf, String> {
    let folder = data_folder();
    match folder.join(part).try_exists() {
        Ok(true) => Ok(folder),
        _ => Err(format!(
            "no {part} in the data folder; set {DATA_FOLDER} to it or put it at ../shared/data"
        )),
    }
}

/// The program Scalpel 1.60.
///
/// # Errors
/// The reason to give when a test is refused for want of the program.
pub fn scalpel() -> Result<&'static str, String> {
    let program = "scalpel";
    let output = std::process::Command::new(program).arg("-V").output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    match String::from_utf8_lossy(&text).contains("Scalpel version 1.60") {
        true => Ok(program),
        false => Err("no program scalpel of version 1.60; install Debian's package scalpel".into()),
    }
}

/// The program ewfacquire, which makes E01 images of raw ones.
///
/// # Errors
/// The reason to give when a test is refused for want of the program.
pub fn ewfacquire() -> Result<&'static str, String> {
    let program = "ewfacquire";
    let output = std::process::Command::new(program).arg("-V").output();
    match output.is_ok_and(|output| output.status.success()) {
        true => Ok(program),
        false => Err("no program ewfacquire; install Debian's package ewf-tools".into()),
    }
}

/// Rust's target wasm32-unknown-unknown.
///
/// # Errors
/// The reason to give when a test is refused for want of the target.
pub fn wasm32() -> Result<&'static str, String> {
    let target = "wasm32-unknown-unknown";
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let args = ["--print", "target-libdir", "--target", target];
    let output = std::process::Command::new(rustc).args(args).output();
    let folder = output.map(|output| output.stdout).unwrap_or_default();
    match Path::new(String::from_utf8_lossy(&folder).trim()).is_dir() {
        true => Ok(target),
        false => Err(format!("no target {target}; run rustup target add {target}")),
    }
}

/// A test that cannot run without the data outside the repository: ignored, and a failure where
/// the data is required.
pub fn refused_trial(name: String, why: &str) -> Trial {
    let refusal = refusal(DATA, &name, why);
    let required = is_data_required();
    let result = move || if required { Err(Failed::from(refusal)) } else { Ok(()) };
    Trial::test(name, result).with_kind("refused").with_ignored_flag(!required)
}

/// Refuses a test of the standard harness, which has no ignored result at run time: prints the
/// reason to standard error, which the harness does not capture.
///
/// # Panics
/// The data outside the repository is required.
pub fn refuse(test: &str, why: &str) {
    refuse_without(DATA, test, why);
}

/// As [`refuse`], for want of another thing that the environment may require.
///
/// # Panics
/// It is required.
pub fn refuse_without(what: &str, test: &str, why: &str) {
    let refusal = refusal(what, test, why);
    assert!(!is_required(what), "{refusal}");
    // A closed standard error must not fail the test.
    let _ = writeln!(std::io::stderr(), "{refusal}");
}

fn refusal(what: &str, test: &str, why: &str) -> String {
    let required = if is_required(what) { format!(" ({REQUIRE} names {what})") } else { "".into() };
    format!("{test}: refused{required}: {why}")
}
