//! `fyke explain`: the plan for a pattern set, without a scan.

use super::engines;
use crate::number::{self, counted};
use crate::outcome::Outcome;
use crate::patterns::{self, Loaded, PatternArgs};
use crate::warning;
use clap::Args;
use fyke::plan::{Plan, gpu_considered};
use fyke::{Options, PatternSet, registry};
use std::io::{self, Write};

/// Arguments of `fyke explain`.
#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    patterns: PatternArgs,

    /// Size of the data to be scanned, with optional suffix K, M, G or T; a GPU is chosen only for
    /// large inputs
    #[arg(long, value_name = "SIZE", value_parser = number::size, help_heading = "Engine")]
    #[arg(allow_negative_numbers = true)]
    input_size: Option<u64>,

    /// Number of threads that would scan; 0 means one per CPU
    #[arg(short = 'j', long, value_name = "N", default_value = "0")]
    #[arg(value_parser = number::threads, allow_negative_numbers = true, help_heading = "Engine")]
    threads: usize,
}

pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<Outcome> {
    let engine = &*args.patterns.engine;
    if engine == "help" {
        engines::print_table()?;
        return Ok(Outcome::Match);
    }
    let patterns = patterns::load(&args.patterns)?;
    let set = patterns.pattern_set(args.patterns.ignore_case)?;
    let engine = patterns.engine(engine);
    let options = patterns::options(&args.patterns)?.expecting(args.input_size, args.threads);
    let mut out = io::stdout().lock();
    print_patterns(&mut out, &patterns, &set)?;
    print_plan(&mut out, engine, &set, &options)?;
    out.flush()?;
    let (matcher, made_from) = patterns.compile(engine, &set, &options)?;
    warning::print_opencl_on_cpu(engine);
    for part in matcher.parts() {
        let (bytes, role) = (part.footprint.host + part.footprint.device, part.role.name());
        let patterns = counted(part.patterns, "pattern");
        writeln!(out, "compiled   {part}: {role}, {patterns}, {bytes} bytes")?;
    }
    if let Some(made_from) = made_from {
        writeln!(out, "made       {made_from}")?;
    }
    writeln!(out, "details    {}", matcher.describe())?;
    let (tables, patterns) = (matcher.footprint().host, set.memory());
    writeln!(out, "memory     {tables} bytes of tables, {patterns} bytes of patterns")?;
    out.flush()?;
    Ok(Outcome::Match)
}

/// Prints what was read from the pattern files, and what is searched of it.
fn print_patterns(out: &mut impl Write, patterns: &Loaded, set: &PatternSet) -> io::Result<()> {
    let Loaded { rules, counts, .. } = patterns;
    if !counts.is_empty() {
        writeln!(out, "rules      {counts}")?;
    }
    let read = rules.len().max(set.id_count());
    let repeats = read - set.id_count();
    writeln!(out, "read       {}, {repeats} left out as repeats", counted(read, "pattern"))
}

/// Prints what `auto` or `gpu` considered; nothing for an engine that does not choose.
fn print_plan(
    out: &mut impl Write,
    engine: &str,
    set: &PatternSet,
    options: &Options,
) -> anyhow::Result<()> {
    let (name, params) = registry::parse(engine);
    if name == "auto" {
        write!(out, "{}", Plan::new(set, &options.clone().params(params)?)?)?;
    } else if name == "gpu" {
        gpu_considered(set, options).iter().try_for_each(|c| writeln!(out, "{c}"))?;
    }
    Ok(())
}
