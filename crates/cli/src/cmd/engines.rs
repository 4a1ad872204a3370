//! `fyke engines`: the registry, and what of it runs here.

use crate::outcome::Outcome;
use clap::Args;
use fyke::{Engine, registry};
use serde::Serialize;
use std::io::{self, Write};

/// Arguments of `fyke engines`.
#[derive(Args, Debug)]
pub(crate) struct EnginesArgs {
    /// Print one JSON object per engine
    #[arg(long)]
    json: bool,
}

/// An entry of the registry, as `--json` prints it.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    device: &'static str,
    family: &'static str,
    available: bool,
    /// Why it is not available.
    reason: Option<String>,
    about: &'static str,
    source: &'static str,
}

impl Entry {
    fn of(engine: &dyn Engine) -> Self {
        let info = engine.info();
        let refusal = engine.available().err();
        Entry {
            name: info.name,
            device: info.device.name(),
            family: info.family.name(),
            available: refusal.is_none(),
            reason: refusal.map(|r| r.to_string()),
            about: info.about,
            source: info.source,
        }
    }
}

pub(crate) fn run(args: &EnginesArgs) -> anyhow::Result<Outcome> {
    if args.json {
        print_json()?
    } else {
        print_table()?
    }
    Ok(Outcome::Match)
}

/// Prints the table, also for `--engine help`.
pub(crate) fn print_table() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for entry in registry::engines().into_iter().map(Entry::of) {
        let state = entry.reason.map_or("available".to_owned(), |r| format!("not available: {r}"));
        writeln!(out, "{:<10} {} {:<8} {state}", entry.name, entry.device, entry.family)?;
        writeln!(out, "           {}", entry.about)?;
        if entry.source != "-" {
            writeln!(out, "           {}", entry.source)?;
        }
    }
    out.flush()
}

fn print_json() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for entry in registry::engines().into_iter().map(Entry::of) {
        writeln!(out, "{}", serde_json::to_string(&entry)?)?;
    }
    out.flush()
}
