//! The tables of the papers: every definition is sound, the claims hold for the papers' own
//! figures, and small tables run from end to end.

mod support;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use fyke_papers::bench::claim::Verdict;
use fyke_papers::bench::definition::Definition;
use fyke_papers::bench::grid::{Grid, is_computed};
use fyke_papers::bench::load;
use fyke_papers::bench::record::PaperRecord;
use fyke_papers::bench::settings::Resident;
use fyke_papers::bench::{Args, run_to};
use fyke_testkit::subject::Scope;

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    args: Args,
}

fn benchmarks() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks")
}

fn definitions() -> Vec<Definition> {
    load::load(&benchmarks().join("definitions/papers")).unwrap()
}

fn paper(arguments: &[&str]) -> (ExitCode, String) {
    let mut out = Vec::new();
    let line = ["paper"].iter().chain(arguments);
    let code = run_to(&CommandLine::parse_from(line).args, &mut out).unwrap();
    (code, String::from_utf8(out).unwrap())
}

#[test]
fn definitions_are_sound() {
    let all = definitions();
    assert!(all.len() > 10);
    for d in &all {
        assert!(!d.claims.is_empty() && !d.title.is_empty(), "{} says nothing", d.id);
        for row in 0..d.rows.len() {
            for column in 0..d.columns.len() {
                let Some(settings) = d.settings(row, column).unwrap() else { continue };
                fyke_core::Options::with_params(&settings.params).unwrap();
                let device = settings.engine.starts_with("gpu-");
                assert_eq!(
                    settings.metric.is_on_device(),
                    device,
                    "{}: the clock of the CPU",
                    d.id
                );
                let small = settings.resident.or(settings.haystack.as_ref().and_then(|h| {
                    Some(Resident { size: h.size.unwrap_or(h.quick?), quick: h.quick? })
                }));
                let quick = small.is_some_and(|r| r.quick.0 <= 4 << 20);
                assert!(!device || quick, "{}: PoCL takes too long", d.id);
                let timed = settings.metric.is_timed();
                let haystack = settings.haystack.as_ref();
                let quick = haystack.is_none_or(|h| h.quick.is_some() || h.planted.is_none());
                assert!(!timed || quick, "{}: a timed haystack without a quick size", d.id);
            }
        }
    }
}

/// The papers' claims hold for the papers' own figures, which checks both.
#[test]
fn claims_hold_for_the_figures_of_the_papers() {
    for d in &definitions() {
        let grid = Grid::of_paper(d);
        for claim in &d.claims {
            let verdict = claim.test(d, &grid).unwrap();
            let fails = matches!(verdict, Verdict::Fails(_));
            assert_eq!(fails, claim.paper_fails.is_some(), "{}: {}: {verdict:?}", d.id, claim.says);
        }
    }
}

/// Cells that a definition computes from other cells equal the figures that the paper printed.
#[test]
fn computed_cells_agree_with_the_papers() {
    for d in &definitions() {
        let printed = Grid::of_paper(d);
        let computed = Grid::of_measured(d, |r, c| d.paper_figure(r, c));
        for r in 0..d.rows.len() {
            for c in (0..d.columns.len()).filter(|c| is_computed(d, r, *c)) {
                let (Some(p), Some(q)) = (printed.get(r, c), computed.get(r, c)) else { continue };
                let off = (p - q).abs() / q;
                let place = format!("{} {} {}", d.id, d.rows[r].label, d.columns[c].label);
                assert!(off < 0.02, "{place}: printed {p}, computed {q}");
            }
        }
    }
}

#[test]
fn tables_are_listed_and_unknown_ones_are_errors() {
    let folder = benchmarks();
    let at = ["--benchmarks", folder.to_str().unwrap()];
    let (_, out) = paper(&[&["list"][..], &at].concat());
    assert!(out.contains("D-2-7") && out.contains("Bellekens 2013"), "{out}");
    let args = CommandLine::parse_from(["paper", "D-9-9", at[0], at[1]]).args;
    let error = run_to(&args, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("Z-III"), "{error}");
}

const SMALL: &str = r#"
paper = "P"
where = "table 1"
title = "small"
unit = "ns for a byte"
base = { patterns = { source.random = 4, min_len = 6 }, metric = "ns-per-byte", haystack = { planted = 20, alphabet = 4, size = "16 KiB", quick = "8 KiB" } }
column = [
    { label = "1", x = 1, set.patterns.count = 1 },
    { label = "50", x = 50, set.patterns.count = 50 },
    { label = "two threads", x = 2, set = { threads = 2, patterns.count = 1 } },
]
[[row]]
label = "naive"
set.engine = "naive"
paper = [1, 50, "-"]
[[row]]
label = "ac-dfa"
set.engine = "ac-dfa"
[[row]]
label = "transitions"
set = { engine = "ac-dfa", metric = "cost:transitions / haystack-bytes" }
[[row]]
label = "states"
set = { engine = "ac-nfa", metric = "stats:states" }
[[row]]
label = "absent"
set.engine = "no-such-engine"
[[row]]
label = "speedup"
ratio = { of.row = "naive", to.row = "ac-dfa" }
[[claim]]
says = "each byte is one transition"
bound = { of.row = "transitions", at-least = 1, at-most = 1 }
[[claim]]
says = "there are no states"
bound = { of.row = "states", at-most = 0 }
[[claim]]
says = "the absent is fast"
bound = { of.row = "absent", at-most = 1 }
[plot]
x = "patterns"
y = "ns"
rows = ["naive", "ac-dfa"]
columns = ["1", "50"]
x-log = true
y-log = true
"#;

#[test]
fn a_small_table_runs_from_end_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let papers = folder.path().join("definitions/papers");
    fs::create_dir_all(&papers).unwrap();
    fs::write(folder.path().join("corpora.toml"), "").unwrap();
    fs::write(papers.join("P-1.toml"), SMALL).unwrap();
    let out = folder.path().to_str().unwrap();
    let arguments =
        ["p-1", "--quick", "--seconds", "0", "--benchmarks", out, "--plots", out, "--record", out];
    let (code, text) = paper(&arguments);
    assert_eq!(code, ExitCode::SUCCESS, "{text}");
    for line in [
        "holds: each byte is one transition: transitions at 1 is 1 (at least 1, at most 1)",
        "does not hold: there are no states",
        "cannot be told: the absent is fast: figures are missing",
        "skipped 3: there is no engine",
        "1 table: 1 claims hold, 1 do not, 1 cannot be told; 3 cells skipped, 0 wrong",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    let csv = fs::read_to_string(record(&text)).unwrap();
    assert!(csv.starts_with("# date: ") && csv.lines().any(|l| l.starts_with("P-1,naive at 50,")));
    let record = PaperRecord::parse(&csv).unwrap();
    let cell = |name: &str| record.rows.iter().find(|r| r.cell == name).unwrap();
    let timed = cell("naive at 50");
    assert!(timed.is_timed() && timed.extra.here.is_some() && timed.extra.paper == Some(50.0));
    // Two of the 50 random patterns are equal.
    assert_eq!((&*timed.contender, &*timed.extra.column, timed.patterns), ("naive", "50", 49));
    assert!(cell("absent at 1").reason.contains("there is no engine"));
    assert!(cell("speedup at 1").extra.here.is_some(), "computed cells are recorded too");
    let svg = fs::read_to_string(folder.path().join("P-1.svg")).unwrap();
    assert!(
        svg.contains("naive, paper") && svg.contains("ac-dfa, here") && svg.contains("patterns")
    );
}

/// The file of the record that a run wrote.
fn record(text: &str) -> &str {
    text.lines().find_map(|l| l.strip_prefix("record: ")).unwrap()
}

const DEVICE: &str = r#"
paper = "P"
where = "table 2"
title = "small, on a device"
unit = "ms"
base = { patterns = { source.random = 4, count = 20, min_len = 6 }, metric = "device:ms", haystack = { planted = 20, alphabet = 4, size = "16 KiB", quick = "8 KiB" } }
column = [
    { label = "once", x = 1 },
    { label = "ten times", x = 10, set.resident = { size = "64 GiB", quick = "80 KiB" } },
]
[[row]]
label = "AC0"
set.engine = "gpu-ac0"
[[row]]
label = "absent"
set.engine = "gpu-no-such-engine"
[[claim]]
says = "the absent is fast"
bound = { of.row = "absent", at-most = 1 }
"#;

/// Prints which engines this machine refuses. Fails if `FYKE_REQUIRE_PAPERS` names one of them.
fn refuse_without_device() {
    let suite = support::suite();
    suite.subjects(); // counts the refusals
    suite.conclude(Scope::Chosen).unwrap();
}

/// With a GPU the table has figures, without one it has a reason. With OpenCL on the CPU (PoCL), a
/// text that takes minutes is refused. `FYKE_REQUIRE_PAPERS` can require a GPU engine.
#[test]
fn a_table_is_measured_on_a_device_if_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let papers = folder.path().join("definitions/papers");
    fs::create_dir_all(&papers).unwrap();
    fs::write(folder.path().join("corpora.toml"), "").unwrap();
    fs::write(papers.join("P-2.toml"), DEVICE).unwrap();
    let at = folder.path().to_str().unwrap();
    let (code, text) = paper(&["p-2", "--quick", "--benchmarks", at, "--record", at]);
    assert_eq!(code, ExitCode::SUCCESS, "{text}");
    assert!(text.contains("skipped 2: there is no engine gpu-no-such-engine"), "{text}");
    let devices = &fyke::gpu::device::inventory().devices;
    if devices.is_empty() {
        refuse_without_device();
    }
    let (cells, shown) = if devices.is_empty() { (4, "skipped 2: ") } else { (2, "device: ") };
    assert!(text.contains(&format!("; {cells} cells skipped, 0 wrong")), "{text}");
    assert!(text.contains(shown), "{text}");
    let csv = fs::read_to_string(record(&text)).unwrap();
    assert!(csv.contains("P-2,AC0 at ten times,gpu-ac0,"), "{csv}");
    assert!(csv.contains(",AC0,ten times,ms,,"), "{csv}");
    if devices.first().is_some_and(|d| d.properties().is_cpu) {
        let (_, text) = paper(&["p-2", "--benchmarks", at]);
        assert!(
            text.contains("64 GiB would take minutes; use --quick (AC0 at ten times)"),
            "{text}"
        );
    }
}

const CARVE: &str = r#"
paper = "P"
where = "table 3"
title = "small, carved"
unit = "ns for a byte"
base = { patterns = { source.random = 4, count = 20, min_len = 3 }, metric = "ns-per-byte", haystack = { planted = 20, alphabet = 4, size = "16 KiB", quick = "8 KiB" }, engine = "ac-dfa" }
column = [
    { label = "memory", set.carve.buffer = "4 KiB" },
    { label = "disk", set.carve = { rate = "1 MiB", buffer = "4 KiB" } },
]
[[row]]
label = "sync"
set.carve.strategy = "sync"
[[row]]
label = "mars2"
set = { threads = 2, carve.strategy = "mars2" }
[[row]]
label = "read"
set.carve = { strategy = "sync", read-only = true }
[[row]]
label = "hits"
set = { metric = "matches", carve.strategy = "overlapped" }
[[row]]
label = "matches"
set.metric = "matches"
set.carve.strategy = "async"
[[row]]
label = "Scalpel"
set = { engine = "scalpel", carve.strategy = "sync" }
[[claim]]
says = "the disk gives a byte in more than 900 ns"
bound = { of = { row = "read", column = "disk" }, at-least = 900 }
"#;

#[test]
fn a_table_of_the_carver_runs_from_end_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let papers = folder.path().join("definitions/papers");
    fs::create_dir_all(&papers).unwrap();
    fs::write(folder.path().join("corpora.toml"), "").unwrap();
    fs::write(papers.join("P-3.toml"), CARVE).unwrap();
    let at = folder.path().to_str().unwrap();
    let (code, text) = paper(&["p-3", "--quick", "--benchmarks", at, "--record", at]);
    assert_eq!(code, ExitCode::SUCCESS, "{text}");
    assert!(text.contains("2 cells skipped, 0 wrong"), "{text}");
    assert!(text.contains("Scalpel 1.60 crashes on images of up to 10 MiB"), "{text}");
    let csv = fs::read_to_string(record(&text)).unwrap();
    let record = PaperRecord::parse(&csv).unwrap();
    let here = |cell: &str| record.rows.iter().find(|r| r.cell == cell).unwrap().extra.here;
    assert!(here("hits at memory").is_some_and(|hits| hits > 10.0), "{text}");
    assert_eq!(here("hits at memory"), here("matches at disk"));
    // 8 KiB take 8 ms on a disk of 1 MiB a second.
    assert!(here("read at disk").unwrap() > 900.0, "{text}");
}
