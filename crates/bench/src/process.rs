//! Whole processes: programs that start, read the patterns, search a file, and print.
//!
//! Processes are not compared with libraries. `-c` counts lines with a match, on which all programs
//! have to agree. `-o` prints matches that do not overlap. Some programs choose them leftmost-first
//! and others leftmost-longest, so these counts are recorded and not compared.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use fyke_rivals::program::{self, Call, Printed};
use fyke_rivals::{Output, PROGRAMS, Program, Refusal};

use crate::data::store::Prepared;
use crate::definition::{Cell, OutputName};
use crate::record::cpu::{CpuColumns, CpuRow, OWN_PROGRAM};
use crate::record::row::Status;
use crate::run::rows;
use crate::run::settings::RunSettings;
use crate::timing::clock::Clock;
use crate::timing::sampling::{self, Pass};

/// fyke's own program: the file that `FYKE_PROGRAM` names, or the one beside this program.
static FYKE: Fyke = Fyke;

#[derive(Debug)]
struct Fyke;

impl Fyke {
    fn file() -> Option<PathBuf> {
        if let Some(file) = env::var_os("FYKE_PROGRAM") {
            return Some(file.into());
        }
        let name = format!("fyke{}", env::consts::EXE_SUFFIX);
        let beside = env::current_exe().ok()?.with_file_name(name);
        beside.is_file().then_some(beside)
    }
}

impl Program for Fyke {
    fn name(&self) -> &'static str {
        OWN_PROGRAM
    }

    fn about(&self) -> &'static str {
        "fyke scan -f as a process, one thread"
    }

    fn version(&self) -> Result<String, Refusal> {
        let why = "no fyke program beside this one: build it, or name it in FYKE_PROGRAM";
        let file = Self::file().ok_or_else(|| Refusal(why.into()))?;
        if file.is_file() {
            return Ok(env!("CARGO_PKG_VERSION").into());
        }
        Err(Refusal(format!("FYKE_PROGRAM names {}, which is not a file", file.display())))
    }

    fn command(&self, call: &Call<'_>) -> Command {
        let mut command = Command::new(Self::file().unwrap_or_default());
        command.args(["scan", "--color=never", "--no-filename", "--threads=1"]);
        match call.output {
            Output::CountLines => command.args(["--count", "--lines"]),
            Output::OnlyMatching => {
                command.args(["--only-matching", "--no-label", "--semantics=leftmost-first"])
            }
        };
        if call.nocase {
            command.arg("-i");
        }
        command.arg("-f").arg(call.patterns).arg(call.haystack);
        command
    }
}

/// Runs the programs of a cell.
///
/// # Errors
/// The files they read cannot be written.
pub fn run(
    cell: &Cell,
    prepared: &Prepared,
    output: OutputName,
    settings: &RunSettings,
) -> Result<Vec<CpuRow>> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let (patterns, haystack) = (folder.path().join("patterns"), folder.path().join("haystack"));
    fs::write(&patterns, lines(prepared)).with_context(|| patterns.display().to_string())?;
    fs::write(&haystack, &*prepared.haystack).with_context(|| haystack.display().to_string())?;
    let nocase = prepared.set.nocase_count() > 0;
    let output = output.output();
    let call = Call { patterns: &patterns, haystack: &haystack, nocase, output };

    let programs = std::iter::once(&FYKE as &dyn Program).chain(PROGRAMS.iter().copied());
    let mut refused = Vec::new();
    let mut ran: Vec<(&dyn Program, CpuRow)> = Vec::new();
    for program in programs {
        let row = run_once(program, prepared, &call, rows::blank(cell, prepared));
        if row.status == Status::Verified { ran.push((program, row)) } else { refused.push(row) }
    }
    if output == Output::CountLines {
        compare(&mut ran);
    }
    if !settings.verify_only {
        time_all(&call, &mut ran, settings);
    }
    let mut all: Vec<CpuRow> = ran.into_iter().map(|(_, row)| row).collect();
    all.append(&mut refused);
    Ok(all)
}

fn lines(prepared: &Prepared) -> Vec<u8> {
    let mut text = Vec::new();
    for p in prepared.set.iter() {
        text.extend_from_slice(p.bytes);
        text.push(b'\n');
    }
    text
}

/// Runs a program once: what it printed, or why it does not take part.
fn run_once(program: &dyn Program, prepared: &Prepared, call: &Call<'_>, row: CpuRow) -> CpuRow {
    let row = CpuRow {
        contender: program.name().into(),
        extra: CpuColumns {
            side: "program".into(),
            version: program.version().unwrap_or_default(),
            golden: false,
            ..row.extra
        },
        ..row
    };
    match try_once(program, prepared, call) {
        Ok(printed) => CpuRow { status: Status::Verified, matches: Some(printed.count), ..row },
        Err(why) => CpuRow { reason: why.to_string(), ..row },
    }
}

fn try_once(
    program: &dyn Program,
    prepared: &Prepared,
    call: &Call<'_>,
) -> Result<Printed, Refusal> {
    program::check_lines(&prepared.set)?;
    program.version()?;
    program::run(program.command(call), call.output)
}

/// Programs that count lines have to agree. The last of the list that ran is taken as right: GNU
/// grep, if it is installed.
fn compare(ran: &mut [(&dyn Program, CpuRow)]) {
    let lines = |row: &CpuRow| row.matches.unwrap_or(0);
    let Some((right, by)) = ran.last().map(|(p, r)| (lines(r), p.name())) else { return };
    for (_, row) in ran.iter_mut().filter(|(_, r)| lines(r) != right) {
        row.status = Status::Wrong;
        row.reason = format!("counts {} lines, but {by} counts {right}", lines(row));
    }
}

fn time_all(call: &Call<'_>, ran: &mut [(&dyn Program, CpuRow)], settings: &RunSettings) {
    let mut timed: Vec<_> = ran.iter_mut().filter(|(_, r)| r.status == Status::Verified).collect();
    let mut passes: Vec<Pass<'_>> = timed.iter().map(|(p, _)| pass(*p, call)).collect();
    let samples = sampling::sample(&mut passes, &settings.budget);
    drop(passes);
    for ((_, row), samples) in timed.iter_mut().zip(&samples) {
        rows::timed(row, samples, Clock::Wall);
        // The time of other processes is not on this one's clock.
        let extra = &mut row.extra;
        (extra.cpu_min, extra.cpu_median, extra.cpu_mad) = (0.0, 0.0, 0.0);
    }
}

fn pass<'a>(program: &'a dyn Program, call: &'a Call<'_>) -> Pass<'a> {
    Box::new(move || {
        let printed = program::run(program.command(call), call.output);
        std::hint::black_box(printed).expect("ran before");
    })
}
