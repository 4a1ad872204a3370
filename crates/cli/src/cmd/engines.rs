//! `fyke engines`: the registry, and whether each engine runs on this machine.

use crate::outcome::Outcome;
use clap::Args;
use fyke::{Refusal, registry};
use fyke_core::Engine;
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

/// Prints the table. `--engine help` prints it too.
pub(crate) fn print_table() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for engine in registry::engines() {
        let (entry, state) = (Entry::of(engine), state(engine));
        writeln!(out, "{:<10} {} {:<8} {state}", entry.name, entry.device, entry.family)?;
        writeln!(out, "           {}", entry.about)?;
        if entry.source != "-" {
            writeln!(out, "           {}", entry.source)?;
        }
    }
    out.flush()
}

/// Whether an engine runs here. The reasons for a missing device are long and the same for many
/// engines, so the table refers to `fyke devices`.
fn state(engine: &dyn Engine) -> String {
    match engine.available() {
        Ok(()) => "available".to_owned(),
        Err(Refusal::NoDevice(_)) => "not available: no device, see `fyke devices`".to_owned(),
        Err(refusal) => format!("not available: {refusal}"),
    }
}

fn print_json() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for entry in registry::engines().into_iter().map(Entry::of) {
        writeln!(out, "{}", serde_json::to_string(&entry)?)?;
    }
    out.flush()
}
