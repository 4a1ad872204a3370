//! `fyke explain`: the plan for a pattern set, without a scan.

use crate::args::{PatternArgs, parse_size};
use crate::cmd::engines;
use crate::cmd::scan::{MOST_THREADS, threads};
use crate::outcome::Outcome;
use crate::{patterns, warning};
use anyhow::anyhow;
use clap::{Args, value_parser};
use fyke::plan::{Plan, gpu_considered};
use fyke::registry;
use std::io::{self, Write};

/// Arguments of `fyke explain`.
#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    patterns: PatternArgs,

    /// How much would be scanned, with suffix K, M, G or T: a graphics processor pays from some size on
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Engine")]
    input_size: Option<u64>,

    /// Threads that would scan; 0 takes one for each processor
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    #[arg(value_parser = value_parser!(u16).range(..=MOST_THREADS), help_heading = "Engine")]
    threads: u16,
}

pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<Outcome> {
    let (size, threads) = (args.input_size, threads(args.threads));
    let args = &args.patterns;
    if args.engine == "help" {
        engines::print_table()?;
        return Ok(Outcome::Match);
    }
    let set = patterns::load(args)?.pattern_set(args.ignore_case)?;
    let mut out = io::stdout().lock();
    let options = patterns::options(args)?.expecting(size, threads);
    let (name, params) = registry::parse(&args.engine);
    if name == "auto" {
        let options = options.clone().params(params)?;
        write!(out, "{}", Plan::new(&set, &options)?)?;
        out.flush()?;
    } else if name == "gpu" {
        gpu_considered(&set, &options).iter().try_for_each(|c| writeln!(out, "{c}"))?;
        out.flush()?;
    }
    let matcher = registry::compile_with(&args.engine, &set, &options)
        .map_err(|refusal| anyhow!("engine {}: {refusal}", args.engine))?;
    warning::print_player(&args.engine);
    writeln!(out, "compiled   {}: {}", matcher.info().name, matcher.describe())?;
    let memory = matcher.footprint();
    writeln!(
        out,
        "memory     {} bytes, and {} of the patterns themselves",
        memory.host,
        set.memory()
    )?;
    out.flush()?;
    Ok(Outcome::Match)
}
