//! The measurement on a device: the times of the stages of a segment, then of each strategy.

use super::report::{Prediction, time};
use crate::number;
use crate::patterns::{self, PatternArgs};
use anyhow::{Context, anyhow, bail, ensure};
use clap::Args;
use fyke::registry;
use fyke::{Matcher, PatternSet};
use fyke_bench::gpu::verify;
use fyke_bench::timing::Stats;
use fyke_gpu::matcher::GpuMatcher;
use fyke_papers::bench::host_to_host;
use fyke_papers::gpu::strategy::{HostToHost, Strategy};
use fyke_papers::model::Load;
use serde::Serialize;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The default engine, which is the paper's choice.
const ENGINE: &str = "gpu-ac3";

/// Maximum of `--repeat`. Text and states take five times as much pinned memory.
const MAX_REPEATED: u64 = 1 << 40;

/// A measurement on a device.
#[derive(Args, Debug)]
#[command(next_help_heading = "Or measured on a device")]
pub(super) struct MeasureArgs {
    /// Send FILE through a device
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bytes", "write", "process", "read"])]
    pub(super) measure: Option<PathBuf>,

    /// Repeat the file up to this size
    #[arg(long, value_name = "SIZE", value_parser = number::size, requires = "measure")]
    #[arg(allow_negative_numbers = true)]
    repeat: Option<u64>,

    #[command(flatten)]
    patterns: PatternArgs,
}

/// A measurement.
pub(super) struct Measured {
    pub(super) load: Load,
    engine: &'static str,
    device: String,
    bytes: u64,
    matches: u64,
    /// The strategies with their median times.
    seconds: Vec<(Strategy, f64)>,
}

/// Verifies each strategy on the device, then times it.
pub(super) fn measure(
    file: &Path,
    args: &MeasureArgs,
    segments: u64,
    ring: Option<u64>,
) -> anyhow::Result<Measured> {
    let set = patterns::load(&args.patterns)?.pattern_set(args.patterns.ignore_case)?;
    let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    ensure!(!text.is_empty(), "--measure {}: the file is empty", file.display());
    let bytes = args.repeat.unwrap_or(text.len() as u64);
    let in_range = (1..=MAX_REPEATED).contains(&bytes);
    ensure!(in_range, "--repeat {bytes}: give a size from 1 to {MAX_REPEATED} bytes");
    let matcher = compile(args, &set)?;
    let mut run = HostToHost::new(&matcher, &text, usize::try_from(bytes)?, segments as usize)?;
    let expected = verify::expected(&set, run.text())?;
    let strategies = [Strategy::A, Strategy::B]
        .into_iter()
        .chain(ring.map(|k| Strategy::Ring(k as usize)))
        .chain([Strategy::ZeroCopy]);
    let mut seconds = Vec::new();
    for strategy in strategies {
        let samples = host_to_host::strategy(&mut run, strategy, &expected);
        let samples = samples.with_context(|| format!("strategy {strategy}"))?;
        seconds.push((strategy, Stats::of(&samples).median));
    }
    Ok(Measured {
        load: run.load()?,
        engine: matcher.info().name,
        device: format!("{:?}", matcher.device()),
        bytes,
        matches: expected.matches,
        seconds,
    })
}

fn compile(args: &MeasureArgs, set: &PatternSet) -> anyhow::Result<GpuMatcher> {
    let spec = if args.patterns.engine == "auto" { ENGINE } else { &args.patterns.engine };
    let (name, params) = registry::parse(spec);
    let Some(engine) = fyke_papers::gpu::ENGINES.iter().find(|e| e.info.name == name) else {
        bail!("engine {name} does not run on a GPU: choose one of gpu-ac0 to gpu-ac4");
    };
    let options = patterns::options(&args.patterns)?.params(params)?;
    let refused = |refusal| anyhow!("engine {spec}: {refusal}; `fyke devices` lists the devices");
    engine.compile_for_device(set, &options).map_err(refused)
}

impl Measured {
    /// Prints the rows that follow the prediction.
    pub(super) fn print(
        &self,
        out: &mut impl Write,
        predicted: &[Prediction; 2],
    ) -> io::Result<()> {
        writeln!(
            out,
            "\nmeasured with {} on {}: {} bytes, {} matches",
            self.engine, self.device, self.bytes, self.matches
        )?;
        for (strategy, seconds) in &self.seconds {
            let name = strategy.to_string();
            let name = if name.len() == 1 { format!("strategy {name}") } else { name };
            write!(out, "{name:<13}{:<20}", time(*seconds))?;
            let [one, two] = [&predicted[0], &predicted[1]].map(|p| p.seconds(*strategy));
            match one.zip(two) {
                Some((one, two)) => writeln!(
                    out,
                    "{:.3} x predicted with one channel, {:.3} x with two",
                    seconds / one,
                    seconds / two
                )?,
                None => writeln!(out, "no prediction: kernels read host memory")?,
            }
        }
        Ok(())
    }

    /// The field `measured` of the JSON object.
    pub(super) fn json(&self) -> Json<'_> {
        let seconds = |s: Strategy| self.seconds.iter().find(|(of, _)| *of == s).map(|(_, t)| *t);
        let ring = self.seconds.iter().find(|(of, _)| matches!(of, Strategy::Ring(_)));
        Json {
            engine: self.engine,
            device: &self.device,
            bytes: self.bytes,
            matches: self.matches,
            strategy_a: seconds(Strategy::A),
            strategy_b: seconds(Strategy::B),
            ring: ring.map(|(_, t)| *t),
            zero_copy: seconds(Strategy::ZeroCopy),
        }
    }
}

/// The measurement as JSON. Times are in seconds.
#[derive(Serialize)]
pub(super) struct Json<'a> {
    engine: &'a str,
    device: &'a str,
    bytes: u64,
    matches: u64,
    strategy_a: Option<f64>,
    strategy_b: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<f64>,
    zero_copy: Option<f64>,
}
