//! Whole runs over a small benchmark folder: verify, time, record, report, compare.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use fyke_bench::cli::{Args, run_to};
use tempfile::TempDir;

const CORPORA: &str = r#"
[letters]
about = "random letters"
origin.random = { alphabet = 4, size = "64 KiB", seed = 1 }
golden = "letters.txt"
[absent]
about = "a file that nobody has"
origin.files = ["no/such.file"]
"#;

const CELLS: &str = r#"
about = "test cells"
axis = "all kinds"
[[cell]]
name = "t/{count}-{threads}"
patterns.source.random = 4
patterns.min_len = 2
patterns.max_len = 9
patterns.count = "{count}"
haystack.corpus = "letters"
threads = "{threads}"
sweep.count = [1, 50]
sweep.threads = [1, 2]
[[cell]]
name = "t/calls"
patterns.source.golden = "list"
haystack.corpus = "letters"
haystack.call = "64 B"
call_cost = true
[[cell]]
name = "t/planted"
patterns.source.golden = "list"
patterns.nocase = true
haystack.planted = 30
haystack.size = "16 KiB"
work = "touch"
[[cell]]
name = "t/absent"
patterns.source.golden = "list"
haystack.corpus = "absent"
[[cell]]
name = "t/golden"
patterns.source.golden = "list"
haystack.corpus = "letters"
[[cell]]
name = "t/{question}-{count}"
question = "{question}"
patterns.source.random = 4
patterns.min_len = 2
patterns.max_len = 4
patterns.count = "{count}"
haystack.corpus = "letters"
haystack.pieces = 99
haystack.call = "53 B"
sweep.question = ["is-match", "find", "leftmost", "find-iter", "leftmost-iter"]
sweep.count = [1, 30]
"#;

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    args: Args,
}

/// A benchmark folder and a data folder whose golden row says that `matches` are to be found.
fn folder(matches: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write("benchmarks/corpora.toml", CORPORA);
    write("benchmarks/definitions/t.toml", CELLS);
    write("data/golden/list.hex", "58797a7a79\n");
    let row = "list.hex x letters.txt cs | pats 1 | text 65536 | matches";
    write("data/golden/golden.txt", &format!("{row} {matches} distinct 0 sum 0000000000000000\n"));
    folder
}

fn bench(folder: &Path, arguments: &[&str]) -> (ExitCode, String) {
    let benchmarks = folder.join("benchmarks");
    let data = folder.join("data");
    let places = ["--benchmarks", benchmarks.to_str().unwrap(), "--data", data.to_str().unwrap()];
    let rivals =
        ["aho-corasick-dfa", "daachorse", "aho-corasick", "aho-corasick-leftmost", "memmem"];
    let rivals: Vec<&str> = rivals.iter().flat_map(|r| ["--rival", r]).collect();
    let line = ["bench"].iter().chain(&places).chain(&rivals).chain(arguments);
    let mut out = Vec::new();
    let code = run_to(&CommandLine::parse_from(line).args, &mut out).unwrap();
    (code, String::from_utf8(out).unwrap())
}

#[test]
fn every_cell_is_verified() {
    let folder = folder(0);
    let (code, out) = bench(folder.path(), &["--verify-only", "--all-engines"]);
    assert_eq!(code, ExitCode::SUCCESS, "{out}");
    assert!(out.contains("and with the golden row"), "{out}");
    assert!(out.contains("corpus absent: no no/such.file"), "{out}");
    assert!(out.contains("18 cells") && out.contains("0 wrong"), "{out}");
}

#[test]
fn every_rival_with_the_call_answers_a_question() {
    let folder = folder(0);
    let found = |cell: &str| {
        let arguments = ["--verify-only", "--engine", "ac-dfa", "--filter", cell];
        let (code, out) = bench(folder.path(), &arguments);
        assert_eq!(code, ExitCode::SUCCESS, "{out}");
        let line = out.lines().find(|l| l.contains(" agree on ")).unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        (words[0].to_string(), words[3].parse::<u64>().unwrap())
    };
    // fyke, daachorse, aho-corasick; memmem for one pattern; aho-corasick-leftmost for is-match.
    for (cell, contenders) in [("is-match-1", "5"), ("is-match-30", "4"), ("find-iter-30", "3")] {
        let (agree, matches) = found(cell);
        assert_eq!(agree, contenders, "{cell}");
        assert!(matches > 0, "{cell}");
    }
}

#[test]
fn a_golden_row_that_nobody_meets_fails_the_run() {
    let folder = folder(7);
    let (code, out) = bench(folder.path(), &["--verify-only", "--filter", "t/golden"]);
    assert_eq!(code, ExitCode::FAILURE);
    assert!(out.contains("WRONG: finds 0 matches"), "{out}");
    assert!(out.contains("the golden row has 7"), "{out}");
}

#[test]
fn a_timed_run_is_recorded_reported_and_compared() {
    let folder = folder(0);
    let records = folder.path().join("record");
    let record = ["--quick", "--seconds", "0", "--record", records.to_str().unwrap()];
    let (code, out) = bench(folder.path(), &record);
    assert_eq!(code, ExitCode::SUCCESS, "{out}");
    assert!(out.contains("ns per call without its bytes") && out.contains("geomean "), "{out}");

    let file = out.lines().find_map(|l| l.strip_prefix("record: ")).unwrap();
    let (_, report) = bench(folder.path(), &["--report", file]);
    assert!(report.contains("## All kinds (`t`)"), "{report}");
    assert!(out.contains("ns/call") && report.contains("Times are nanoseconds per call"));
    assert!(report.contains("| t/calls |") && report.contains("corpus absent"), "{report}");

    let compare = ["--quick", "--seconds", "0", "--filter", "t/1-1", "--baseline", file];
    let pair = ["--pair", "ac-dfa/daachorse"];
    let (_, out) = bench(folder.path(), &[&compare[..], &pair[..]].concat());
    assert!(out.contains("ac-dfa against daachorse: geomean"), "{out}");
    assert!(out.contains("x  t/1-1 ac-dfa"), "{out}");
}

#[test]
fn cells_are_listed() {
    let folder = folder(0);
    let (_, out) = bench(folder.path(), &["--list", "--filter", "t/50"]);
    assert!(out.contains("t/50-1") && out.contains("t/50-2") && !out.contains("t/calls"), "{out}");
}
