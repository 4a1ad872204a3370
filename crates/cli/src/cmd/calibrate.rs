//! `fyke calibrate`: measures the cost of the steps of engines on this machine.
//!
//! The planner ranks engines by costs of a reference machine. A calibration file has the times of
//! small probes on this machine. Every later command reads it (module `file`), and scales the
//! costs.

pub(crate) mod file;

use crate::outcome::Outcome;
use anyhow::{Context, anyhow};
use clap::Args;
use file::Calibration;
use fyke_cpu::costs::probe::{self, Probe};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, Write};
use std::path::PathBuf;

const NOTES: &str = "\
`auto` chooses engines by costs that were measured on an Intel CPU with AVX-512, and by a short \
test of this CPU's gathers. On another CPU a calibration tells it more. It takes about a minute; \
leave the machine idle meanwhile.

The file is $FYKE_CALIBRATION if that is set, else calibration.toml in the folder fyke of the \
user's configuration. Every fyke command reads it. A file that is damaged, of another version or \
of another machine is ignored with a warning. With FYKE_CALIBRATION= (empty) none is read.

Each line is a probe: nanoseconds per byte here, and the quotient of that and the reference \
machine's time.";

/// Arguments of `fyke calibrate`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(crate) struct CalibrateArgs {
    /// Write the calibration to this file instead
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &CalibrateArgs) -> anyhow::Result<Outcome> {
    let path = args.output.clone().or_else(file::default_path).ok_or_else(|| {
        anyhow!("there is no home folder to keep the calibration in; give a file with --output")
    })?;
    let reference = Calibration::reference();
    let found = measure();
    let mut out = io::stdout().lock();
    for (name, ns) in &found.ns {
        match reference.ns.get(name) {
            Some(reference) => writeln!(out, "{name:<24} {ns:>10.4} {:>6.2}x", ns / reference)?,
            None => writeln!(out, "{name:<24} {ns:>10.4}      -")?,
        }
    }
    out.flush()?;
    found.write(&path).with_context(|| format!("{}", path.display()))?;
    writeln!(io::stderr(), "fyke: wrote {}", path.display())?;
    Ok(Outcome::Match)
}

/// Runs every probe that this CPU can run.
fn measure() -> Calibration {
    let probes = probe::all();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("it is valid");
    let bar = ProgressBar::new(probes.len() as u64).with_style(style);
    let mut found = Calibration::of_this_machine();
    for probe in probes {
        bar.set_message(probe.name.clone());
        found.ns.extend(timed(&probe));
        bar.inc(1);
    }
    bar.finish_and_clear();
    found
}

fn timed(probe: &Probe) -> Option<(String, f32)> {
    // A probe is refused only if this CPU lacks its instruction set.
    probe.run().ok().map(|ns| (probe.name.clone(), ns))
}
