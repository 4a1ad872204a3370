//! `fyke bench hs` with the library that cargo builds for this test, in both places.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use fyke_bench::hs::cli::{Args, run_to};
// The dependency makes cargo build the shared library.
use fyke_hs as _;
use tempfile::TempDir;

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    args: Args,
}

/// The shared library of `crates/hs`.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    let name = "libfyke_hs.so";
    let files = [folder.join(name), folder.join("..").join(name)];
    files.into_iter().find(|f| f.is_file()).expect("cargo builds the shared library")
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    write("words", b"he\nshe\nhers\n");
    write("web.rules", b"alert tcp any any -> any any (content:\"HE\"; nocase; sid:1;)\n");
    write("text", &b"ushers heHE\n".repeat(99));
    write("more", b"she");
    write("empty", b"");
    write("none", b"");
    folder
}

/// Runs in a folder; both libraries are ours unless `more` names others.
fn run(folder: &Path, line: &str) -> (Result<ExitCode, String>, String) {
    let library = library();
    let words = line.split_whitespace().map(|word| match word.strip_prefix('@') {
        Some(file) => folder.join(file).into_os_string(),
        None => word.into(),
    });
    let both = ["--ours".into(), library.clone().into(), "--theirs".into(), library.into()];
    let words = ["hs".into()].into_iter().chain(words).chain(both);
    let args = CommandLine::try_parse_from(words).unwrap_or_else(|e| panic!("{e}")).args;
    let mut out = Vec::new();
    let code = run_to(&args, &mut out).map_err(|e| format!("{e:#}"));
    (code, String::from_utf8(out).unwrap())
}

#[test]
fn every_way_is_verified_timed_and_recorded() {
    let folder = folder();
    let (code, out) = run(folder.path(), "@words @text @more --quick --seconds 0 --record @record");
    assert_eq!(code, Ok(ExitCode::SUCCESS), "{out}");
    for part in [
        "3 patterns of 2-4 bytes, 0 of which ignore case",
        "compile, ms",
        "database, KiB",
        "state of a stream, B",
        "block/whole, ns/B",
        "calls 2, matches 398",
        "stream/chunks, ns/B",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let record = out.lines().find_map(|l| l.strip_prefix("record: ")).unwrap();
    let text = fs::read_to_string(record).unwrap();
    assert_eq!(text.matches(",timed,").count(), 6, "{text}");
    for column in ["compile_ns", "database_bytes", "scratch_bytes", "stream_bytes", "call_ns"] {
        assert!(text.contains(column), "{column}: {text}");
    }
}

#[test]
fn rules_are_read_and_verified_without_times() {
    let folder = folder();
    let line = "@web.rules @text --patterns-format snort --verify-only --call 7";
    let (code, out) = run(folder.path(), line);
    assert_eq!(code, Ok(ExitCode::SUCCESS), "{out}");
    assert!(out.contains("1 patterns of 2-2 bytes, 1 of which ignore case"), "{out}");
    assert!(out.contains("calls 1, matches 297,") && out.contains("calls 170, "), "{out}");
    assert!(!out.contains("ns/B"), "{out}");
}

#[test]
fn a_set_that_takes_too_much_memory_is_refused() {
    let folder = folder();
    let line = "@words @text --verify-only --filter stream --memory-limit 1";
    let (code, out) = run(folder.path(), line);
    assert_eq!(code, Ok(ExitCode::FAILURE), "{out}");
    for name in ["ours", "theirs"] {
        assert!(out.contains(&format!("{name} refused: the database takes ")), "{out}");
    }
    assert!(!out.contains("block mode"), "{out}");
}

#[test]
fn bad_arguments_say_what_is_wrong() {
    let folder = folder();
    for (line, why) in [
        ("@none @text", "has no patterns"),
        ("@words @empty", "empty is empty"),
        ("@words @missing", "missing"),
        ("@words @text --call 0", "give at least 1 byte"),
        (
            "@words @text --verify-only --filter nothing",
            "block/whole, block/packets, stream/chunks",
        ),
    ] {
        let (code, out) = run(folder.path(), line);
        let error = code.expect_err(&out);
        assert!(error.contains(why), "{line}: {error}");
    }
}
