//! The axis "whole process": programs that are started, read the patterns, and print.
//!
//! These are not compared with libraries, and what they print differs between them: `-c` counts
//! lines with a match, on which all have to agree; `-o` prints matches that do not overlap, chosen
//! leftmost-first by some and leftmost-longest by others, so counts are recorded and not compared.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use fyke_rivals::program::{self, Call, Printed};
use fyke_rivals::{Output, PROGRAMS, Program, Refusal};

use crate::data::Prepared;
use crate::definition::{Cell, OutputName};
use crate::record::{Row, Status};
use crate::run::{self, Plan};
use crate::timing::sampling::{self, Pass};

/// fyke's own program, if it is beside the one that runs or `FYKE_PROGRAM` names it.
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
        "fyke"
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
pub fn run(cell: &Cell, prepared: &Prepared, output: OutputName, plan: &Plan) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let (patterns, haystack) = (folder.path().join("patterns"), folder.path().join("haystack"));
    fs::write(&patterns, lines(prepared)).with_context(|| patterns.display().to_string())?;
    fs::write(&haystack, &*prepared.haystack).with_context(|| haystack.display().to_string())?;
    let nocase = prepared.set.nocase_count() > 0;
    let output = output.output();
    let call = Call { patterns: &patterns, haystack: &haystack, nocase, output };

    let programs = std::iter::once(&FYKE as &dyn Program).chain(PROGRAMS.iter().copied());
    let mut rows = Vec::new();
    let mut entered: Vec<(&dyn Program, Row)> = Vec::new();
    for program in programs {
        let row = enter(program, prepared, &call, run::blank(cell, prepared));
        if row.status == Status::Verified { entered.push((program, row)) } else { rows.push(row) }
    }
    if output == Output::CountLines {
        compare(&mut entered);
    }
    if !plan.verify_only {
        time_all(&call, &mut entered, plan);
    }
    let mut all: Vec<Row> = entered.into_iter().map(|(_, row)| row).collect();
    all.append(&mut rows);
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

/// Runs a program once, and says what it printed or why it does not take part.
fn enter(program: &dyn Program, prepared: &Prepared, call: &Call<'_>, row: Row) -> Row {
    let row = Row {
        contender: program.name().into(),
        side: "program".into(),
        version: program.version().unwrap_or_default(),
        golden: false,
        ..row
    };
    match try_once(program, prepared, call) {
        Ok(printed) => Row { status: Status::Verified, matches: printed.count, ..row },
        Err(why) => Row { reason: why.to_string(), ..row },
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

/// Programs that count lines have to agree; the last of the list, GNU grep, is taken as right.
fn compare(entered: &mut [(&dyn Program, Row)]) {
    let Some((right, by)) = entered.last().map(|(p, r)| (r.matches, p.name())) else { return };
    for (_, row) in entered.iter_mut().filter(|(_, r)| r.matches != right) {
        row.status = Status::Wrong;
        row.reason = format!("counts {} lines, but {by} counts {right}", row.matches);
    }
}

fn time_all(call: &Call<'_>, entered: &mut [(&dyn Program, Row)], plan: &Plan) {
    let mut timed: Vec<_> =
        entered.iter_mut().filter(|(_, r)| r.status == Status::Verified).collect();
    let mut passes: Vec<Pass<'_>> = timed.iter().map(|(p, _)| pass(*p, call)).collect();
    let samples = sampling::sample(&mut passes, &plan.budget);
    drop(passes);
    for ((_, row), samples) in timed.iter_mut().zip(&samples) {
        run::timed(row, samples, crate::timing::Clock::Wall);
        (row.cpu_min, row.cpu_median, row.cpu_mad) = (0.0, 0.0, 0.0);
    }
}

fn pass<'a>(program: &'a dyn Program, call: &'a Call<'_>) -> Pass<'a> {
    Box::new(move || {
        let printed = program::run(program.command(call), call.output);
        std::hint::black_box(printed).expect("ran before");
    })
}
