//! The matrix of `fyke bench cpu`, over a small benchmark folder and over files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use fyke_bench::definition;
use fyke_bench::matrix::cli::{Args, run_to};
use fyke_bench::matrix::layout;
use tempfile::TempDir;

const CELLS: &str = r#"
about = "test cells"
axis = "all kinds"
[[cell]]
name = "t/{kind}"
patterns.source.random = 4
patterns.min_len = 2
patterns.max_len = 9
patterns.count = 30
haystack.hostile = "{kind}"
haystack.size = "16 KiB"
sweep.kind = ["full", "pre", "suf", "mid", "run"]
[[cell]]
name = "t/packets"
patterns.source.random = 4
patterns.min_len = 2
patterns.count = 30
haystack.planted = 10
haystack.alphabet = 4
haystack.size = "16 KiB"
haystack.call = "64 B"
batch = true
"#;

const MATRIX: &str = r#"
rivals = ["aho-corasick-dfa"]
[[section]]
name = "first"
axis = "hostility"
about = "hostile ones"
cells = ["t/full", "t/pre"]
[[section]]
name = "rest"
axis = "everything"
about = "all others"
cells = ["t/*"]
"#;

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    args: Args,
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write("corpora.toml", "");
    write("definitions/t.toml", CELLS);
    write("matrix/cpu.toml", MATRIX);
    write("own/words", "he\nshe\nhers\n");
    write("own/bad", "he\n\nhers\n");
    write("own/text", "ushers and sheep");
    folder
}

fn try_cpu(folder: &Path, arguments: &[&str]) -> anyhow::Result<(ExitCode, String)> {
    let place = ["--benchmarks", folder.to_str().unwrap(), "--seconds", "0"];
    let line = ["cpu", "--engine", "ac-dfa"].iter().chain(&place).chain(arguments);
    let mut out = Vec::new();
    let code = run_to(&CommandLine::parse_from(line).args, &mut out)?;
    Ok((code, String::from_utf8(out).unwrap()))
}

fn cpu(folder: &Path, arguments: &[&str]) -> (ExitCode, String) {
    try_cpu(folder, arguments).unwrap()
}

/// What stands in a line of its own after a word.
fn after<'a>(text: &'a str, word: &str) -> &'a str {
    text.lines().find_map(|l| l.strip_prefix(word)).unwrap_or("")
}

#[test]
fn the_matrix_of_the_repository_names_cells_that_exist() {
    let benchmarks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
    let layout = layout::load(&benchmarks).unwrap();
    let groups = definition::load(&benchmarks.join("definitions")).unwrap();
    let count = |quick| {
        let sections = layout::sections(&layout, &groups, quick).unwrap();
        sections.iter().map(|p| p.cells.len()).sum::<usize>()
    };
    assert!(count(true) >= 60 && count(false) > count(true));
    let known = |r: &String| fyke_rivals::RIVALS.iter().any(|k| k.name() == r);
    assert!(layout.rivals.iter().all(known));
    let process = layout.sections.last().unwrap();
    assert_eq!(process.name, "processes", "processes run last");
}

#[test]
fn the_last_line_is_the_geometric_mean_and_the_worst() {
    let folder = folder();
    let records = folder.path().join("record");
    let (code, out) = cpu(folder.path(), &["--quick", "--record", records.to_str().unwrap()]);
    assert_eq!(code, ExitCode::SUCCESS, "{out}");
    assert!(out.contains("all 1 rivals complete"), "{out}");
    assert!(after(&out, "first").contains("2 cells: geomean "), "{out}");
    assert!(after(&out, "rest").contains("4 cells: geomean "), "{out}");
    assert!(after(&out, "ordered ").contains("6 cells: geomean "), "{out}");
    let last = out.lines().last().unwrap();
    assert!(last.starts_with("geomean ") && last.contains("x worst "), "{last}");

    let record = PathBuf::from(after(&out, "record: "));
    let text = fs::read_to_string(&record).unwrap();
    assert!(text.contains("# judged by: ac-dfa") && text.contains("# section first: hostility"));
    let (_, report) = cpu(folder.path(), &["--report", record.to_str().unwrap()]);
    assert!(report.contains("## Hostility (`first`)"), "{report}");
    let mean = last.split_whitespace().nth(1).unwrap();
    assert!(report.contains(&format!("| **all of these** | 6 | {mean} |")), "{report}");
    assert!(report.contains("## Cells where a rival is faster"), "{report}");
    let drawn = fs::read_to_string(folder.path().join("plots/ratios.svg")).unwrap();
    assert!(drawn.contains("first") && drawn.contains("rest"));
    assert!(report.contains("plots/ratios.svg)"), "{report}");
    let twice = ["--report", record.to_str().unwrap(), record.to_str().unwrap()];
    assert_eq!(cpu(folder.path(), &twice).1, report, "the same cells are not counted twice");
}

#[test]
fn cells_are_verified_without_being_timed() {
    let folder = folder();
    let (code, out) = cpu(folder.path(), &["--verify-only", "--filter", "rest"]);
    assert_eq!(code, ExitCode::SUCCESS, "{out}");
    assert!(out.contains("4 cells: 0 contenders timed, 12 verified only"), "{out}");
}

const REPLAYS: &str = r#"
about = "test cells"
axis = "sets"
[[cell]]
name = "r/{last}"
patterns.source.random = 4
patterns.min_len = 2
patterns.max_len = 4
patterns.count = 40
patterns.cut = true
patterns.also = { source.sample = "letters", min_len = 7, count = 9 }
haystack.corpus = "letters"
haystack.quick = "1 KiB"
sweep.last = [1]
[[cell]]
name = "r/sets"
patterns.source.sample = "letters"
patterns.min_len = 2
patterns.max_len = 6
patterns.count = 100
haystack.corpus = "letters"
replay = { sets = [2, 30, 90], calls = 40, min = "1 B", max = "50 B" }
"#;

const LETTERS: &str = r#"
[letters]
about = "random letters"
origin.random = { alphabet = 4, size = "4 KiB", seed = 1 }
"#;

#[test]
fn calls_with_many_sets_are_replayed() {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("corpora.toml", LETTERS);
    write("definitions/t.toml", REPLAYS);
    let section =
        "[[section]]\nname = 'sets'\naxis = 'sets'\nabout = 'small ones'\ncells = ['r/*']";
    write("matrix/cpu.toml", &format!("rivals = ['daachorse']\n{section}"));
    let (code, out) = cpu(folder.path(), &["--verify-only"]);
    assert_eq!(code, ExitCode::SUCCESS, "{out}");
    assert!(out.contains("r/1: 49 patterns of 2-7 bytes"), "{out}");
    assert!(out.contains("3 sets, 40 calls"), "{out}");
    // `grouped` takes replays only.
    assert!(out.contains("2 cells: 0 contenders timed, 7 verified only, 0 refused"), "{out}");

    let records = folder.path().join("record");
    let arguments = ["--quick", "--filter", "r/sets", "--record", records.to_str().unwrap()];
    let (_, out) = cpu(folder.path(), &arguments);
    assert!(out.contains("ns/call") && out.contains("compiles in "), "{out}");
    let (_, report) = cpu(folder.path(), &["--report", after(&out, "record: ")]);
    assert!(report.contains("in 3 sets |"), "{report}");
    assert!(report.contains("nanoseconds per call of a whole replay"), "{report}");
    assert!(report.contains("* r/sets: compiles in "), "{report}");
    assert!(report.contains(" grouped:ac-dfa |"), "{report}");
}

#[test]
fn files_are_a_cell_of_their_own() {
    let folder = folder();
    let file = |name: &str| folder.path().join("own").join(name).display().to_string();
    let own = |patterns: &str, more: &[&str]| {
        let (patterns, text) = (file(patterns), file("text"));
        let files = ["--patterns", &patterns, "--haystack", &text, "-r", "daachorse", "--quick"];
        try_cpu(folder.path(), &[&files[..], more].concat())
    };
    let (_, out) = own("words", &[]).unwrap();
    assert!(out.contains("own/words: 3 patterns of 2-4 bytes in 16 B of text"), "{out}");
    assert!(out.lines().last().unwrap().ends_with("x own/words"), "{out}");
    let (_, out) = own("words", &["--call", "7"]).unwrap();
    assert!(out.contains("7 B per call"), "{out}");
    let error = own("bad", &[]).unwrap_err().to_string();
    assert!(error.contains("1 bad patterns") && error.contains("bad:2"), "{error}");
    assert!(own("nowhere", &[]).is_err());
    let error = own("words", &["--patterns-format", "hex"]).unwrap_err().to_string();
    assert!(error.contains("words:1"), "{error}");
}

#[test]
fn an_instruction_set_is_an_option_of_every_engine() {
    let folder = folder();
    let (_, out) = cpu(folder.path(), &["--quick", "--isa", "no-such", "--filter", "t/full"]);
    assert!(out.contains("ac-dfa:isa=no-such refused: "), "{out}");
    assert!(out.contains("cells without ac-dfa:isa=no-such: t/full"), "{out}");
}

#[test]
fn regret_compares_auto_with_its_choices() {
    let folder = folder();
    let records = folder.path().join("record");
    let place = ["--benchmarks", folder.path().to_str().unwrap(), "--seconds", "0"];
    let regret = |arguments: &[&str]| {
        let line = ["cpu", "--regret"].iter().chain(&place).chain(arguments);
        let mut out = Vec::new();
        let code = run_to(&CommandLine::parse_from(line).args, &mut out).unwrap();
        assert_eq!(code, ExitCode::SUCCESS);
        String::from_utf8(out).unwrap()
    };
    let record = ["--quick", "--filter", "first", "--record", records.to_str().unwrap()];
    let out = regret(&record);
    assert!(out.contains("auto's parts") && !out.contains("aho-corasick-dfa"), "{out}");
    // All patterns have 2 to 9 bytes.
    assert!(out.contains("refused 2 times: auto:cut=2: all patterns are on one side"), "{out}");
    assert!(!out.contains("refused 2 times: auto:cut=4"), "{out}");
    let last = out.lines().last().unwrap();
    assert!(last.starts_with("regret of 2 cells: geomean "), "{last}");
    let ratios = out.lines().filter_map(|l| l.strip_suffix('x')?.rsplit(' ').next()?.parse().ok());
    let ratios: Vec<f64> = ratios.collect();
    assert_eq!(ratios.len(), 4, "each cell has a line as it ends and one in the table: {out}");
    assert!(ratios.iter().all(|r| *r >= 1.0) && ratios[2] >= ratios[3], "{out}");

    let file = after(&out, "record: ");
    assert!(file.ends_with("-regret.csv"), "{file}");
    let report = regret(&["--report", file]);
    assert_eq!(report.lines().last(), Some(last), "{report}");

    let out = regret(&["--verify-only", "--engine", "ac-dfa", "--isa", "scalar"]);
    assert!(out.contains("6 cells: 0 contenders timed, 12 verified only, 0 refused"), "{out}");
    assert!(out.contains("auto:isa=scalar ") && !out.contains("ac-dfa:isa"), "{out}");
}

#[test]
fn regret_takes_replays() {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("corpora.toml", LETTERS);
    write("definitions/t.toml", REPLAYS);
    let section = "[[section]]\nname = 'sets'\naxis = 'sets'\nabout = 'small'\ncells = ['r/*']";
    write("matrix/cpu.toml", &format!("rivals = []\n{section}"));
    let (_, out) = cpu(folder.path(), &["--quick", "--regret", "--filter", "r/sets"]);
    assert!(out.contains("ns/call"), "{out}");
    assert!(out.lines().last().unwrap().starts_with("regret of 1 cells: "), "{out}");
}
