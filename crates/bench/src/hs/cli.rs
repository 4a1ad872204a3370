//! The command line of `fyke bench hs`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use fyke_core::PatternSet;
use fyke_io::rules::Format;
use fyke_rivals::libhs::Mode;

use super::columns::{HsRecord, HsRow};
use super::compile::{self, Entrant};
use super::haystacks::Haystacks;
use super::libraries::Libraries;
use super::way::WAYS;
use super::{print, rows, scan};
use crate::args::SharedArgs;
use crate::data::patterns;
use crate::machine::Facts;
use crate::own_data::{formats, read_patterns};
use crate::print as print_run;
use crate::record::file::Heading;
use crate::record::row::Status;
use crate::run::settings::{Defaults, RunSettings};
use crate::size::Size;

/// Compares fyke's libhs with a real one: compile time, memory, and scan time on a rule file.
///
/// Each call is verified before anything is timed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The rules or patterns; a name that ends in .xz is decompressed
    #[arg(value_name = "RULES")]
    pub rules: PathBuf,

    /// Files to scan [default: the captures of the repository]
    #[arg(value_name = "HAYSTACK")]
    pub haystacks: Vec<PathBuf>,

    /// The format of RULES
    #[arg(long, value_parser = formats(), default_value = Format::Lines.name())]
    #[arg(value_name = "FORMAT")]
    pub patterns_format: Format,

    /// Ignore the case of ASCII letters in all patterns, even where rules do not
    #[arg(short, long)]
    pub ignore_case: bool,

    /// Our library [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    pub ours: Option<PathBuf>,

    /// The library to compare with: Hyperscan, Vectorscan, or an earlier build of ours [default:
    /// $FYKE_HYPERSCAN, else the system's libhs.so.5]
    #[arg(long, value_name = "FILE")]
    pub theirs: Option<PathBuf>,

    /// Bytes of a packet, and of a chunk of a stream
    #[arg(long, value_name = "SIZE", default_value = "1200 B")]
    pub call: Size,

    /// Verify all calls and time nothing
    #[arg(long)]
    pub verify_only: bool,

    /// How to measure
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// The kind of these records.
const KIND: &str = "hs";

/// Seconds of samples for each way to scan, and milliseconds for compiling, by both libraries. A
/// real libhs takes seconds to compile a large set, hence few rounds.
const DEFAULTS: Defaults = Defaults { seconds: [5.0, 0.5], rebuild: [5000, 200], min_rounds: 5 };

/// Runs and prints to `out`.
///
/// # Errors
/// A file or library cannot be read, the libraries disagree, or writing fails.
pub fn run_to(args: &Args, out: &mut dyn Write) -> Result<ExitCode> {
    ensure!(args.call.0 > 0, "--call 0: give at least 1 byte");
    let set = read_set(args)?;
    let haystacks = Haystacks::read(&args.haystacks, args.call.0, &args.shared)?;
    let libraries = Libraries::open(args.ours.as_deref(), args.theirs.as_deref())?;
    let mut facts = Facts::gather();
    libraries.0.iter().for_each(|l| facts.add(l.name, l.describe()));
    let settings = RunSettings::new(&args.shared, args.verify_only, DEFAULTS, &mut facts)?;
    print_run::facts(out, &facts)?;
    if !args.verify_only && facts.get("profile") != "release" {
        writeln!(out, "warning: this is not a release build; its times mean nothing")?;
    }
    let cell = rows::cell_name(&args.rules);
    writeln!(out, "\n{cell}: {}", print::set_and_haystacks(&set, &haystacks))?;
    let mut record = HsRecord::new(facts);
    record.sections = vec![heading()];
    print::head(out, &libraries)?;
    for mode in [Mode::Block, Mode::Stream] {
        let blank = rows::blank(&cell, &set, &haystacks);
        let rows = measure(mode, args, &blank, &set, &haystacks, &libraries, &settings)?;
        print::mode(out, mode, &rows)?;
        record.rows.extend(rows);
    }
    finish(args, &record, out)
}

fn heading() -> Heading {
    let [name, axis, about] =
        ["hs", "ways to scan", "Fyke's libhs and another one on the same set"].map(String::from);
    Heading { name, axis, about }
}

fn read_set(args: &Args) -> Result<PatternSet> {
    let read = read_patterns(&args.rules, args.patterns_format)?;
    patterns::build(&read, args.ignore_case)
        .with_context(|| format!("pattern file {}", args.rules.display()))
}

/// Compiles for a mode, verifies and times its ways. Gives the rows of all, refused ones too.
fn measure(
    mode: Mode,
    args: &Args,
    blank: &HsRow,
    set: &PatternSet,
    haystacks: &Haystacks,
    libraries: &Libraries,
    settings: &RunSettings,
) -> Result<Vec<HsRow>> {
    let mut ways = WAYS.iter().filter(|w| w.mode == mode && args.shared.wants(w.name)).peekable();
    if ways.peek().is_none() {
        return Ok(Vec::new());
    }
    let compiled =
        libraries.0.each_ref().map(|l| compile::compile(l, set, mode, haystacks, settings));
    let entrants: Vec<&Entrant> = compiled.iter().flatten().collect();
    let times = match settings.verify_only {
        true => Vec::new(),
        false => compile::times(&entrants, set, mode, settings)?,
    };
    let mut all = Vec::new();
    for way in ways {
        let mut timed = scan::contest(way, &entrants, haystacks, settings)?.into_iter();
        let mut build = times.iter();
        for (library, compiled) in libraries.0.iter().zip(&compiled) {
            let row = rows::of(blank, way, library, haystacks);
            all.push(match (compiled, &mut timed) {
                (Err(why), _) => rows::refused(row, why),
                (Ok(entrant), timed) => {
                    let timed = timed.next().context("a library has no samples")?;
                    rows::measured(row, entrant, build.next(), timed, settings.clock)
                }
            });
        }
        let pair = all.len() - libraries.0.len();
        rows::rate(&mut all[pair..]);
    }
    Ok(all)
}

fn finish(args: &Args, record: &HsRecord, out: &mut dyn Write) -> Result<ExitCode> {
    if record.rows.is_empty() {
        bail!("no way to scan is left by --filter: they are {}", WAYS.map(|w| w.name).join(", "));
    }
    if let Some(folder) = &args.shared.record {
        writeln!(out, "record: {}", record.save(folder, KIND)?.display())?;
    }
    let refused = record.rows.iter().any(|r| r.status == Status::Refused);
    Ok(if refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
