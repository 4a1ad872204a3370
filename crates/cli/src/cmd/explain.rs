//! `fyke explain`: the plan for a pattern set, without a scan.

use crate::args::PatternArgs;
use crate::cmd::engines;
use crate::outcome::Outcome;
use crate::patterns;
use anyhow::anyhow;
use clap::Args;
use fyke::plan::Plan;
use fyke::registry;
use std::io::{self, Write};

/// Arguments of `fyke explain`.
#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    patterns: PatternArgs,
}

pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<Outcome> {
    let args = &args.patterns;
    if args.engine == "help" {
        engines::print_table()?;
        return Ok(Outcome::Match);
    }
    let set = patterns::load(args)?.pattern_set(args.ignore_case)?;
    let mut out = io::stdout().lock();
    let options = patterns::options(args)?;
    let (name, params) = registry::parse(&args.engine);
    if name == "auto" {
        let options = options.clone().params(params)?;
        write!(out, "{}", Plan::new(&set, &options)?)?;
        out.flush()?;
    }
    let matcher = registry::compile_with(&args.engine, &set, &options)
        .map_err(|refusal| anyhow!("engine {}: {refusal}", args.engine))?;
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
