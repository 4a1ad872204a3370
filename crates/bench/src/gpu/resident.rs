//! Times searches of text in device memory.

use anyhow::{Context, Result};
use fyke::gpu::device::Device;
use fyke::gpu::matcher::{GpuMatcher, Workspace};
use fyke::gpu::resident::{Resident, Timed};
use fyke_core::{Fingerprint, Matcher, PatternSet};

use super::engine::engine;
use super::verify::{verify, verify_count};
use crate::timing::stats::Stats;

/// Samples of each row.
pub const SAMPLES: usize = 7;

/// How a row is measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// The text is also the sample data of the engine.
    pub sample: bool,
    /// Matches are counted, and no records written.
    pub counted: bool,
    /// Nothing is timed.
    pub verify_only: bool,
}

/// The result of a row.
pub struct ResidentTimes {
    /// `cuda` or `opencl`.
    pub backend: &'static str,
    /// The name of the device.
    pub device: String,
    /// Count and fingerprint of the matches in the text once.
    pub found: Fingerprint,
    /// Records that a search of the repeated text writes, or matches that it counts.
    pub records: u64,
    /// Positions of the repeated text that passed a filter.
    pub candidates: u64,
    /// Nanoseconds of each sample.
    pub samples: Vec<f64>,
    /// Nanoseconds in which the device reads the text.
    pub read_ns: f64,
    /// What the engine compiled, for people.
    pub about: String,
}

impl ResidentTimes {
    /// Statistics of the samples.
    pub fn stats(&self) -> Stats {
        Stats::of(&self.samples)
    }
}

/// Measures a row. `bytes` of text are held on the device.
///
/// # Errors
/// The engine refuses the set, finds wrong matches, or the device fails.
pub fn resident(
    spec: &str,
    set: &PatternSet,
    text: &[u8],
    how: How,
    bytes: u64,
) -> Result<ResidentTimes> {
    let (engine, mut opt) = engine(spec)?;
    if how.sample {
        opt = opt.sampled(text);
    }
    let matcher = engine.compile_for_device(set, &opt)?;
    let found = verify(&matcher, set, text)?;
    if how.counted {
        verify_count(&matcher, text, found.matches)?;
    }
    let device = matcher.device().clone();
    let mut times = ResidentTimes {
        backend: device.properties().backend.name(),
        device: device.properties().name.clone(),
        found,
        records: 0,
        candidates: 0,
        samples: Vec::new(),
        read_ns: 0.0,
        about: matcher.describe(),
    };
    if !how.verify_only {
        let haystack = Resident::repeat(&device, text, bytes)?;
        let (samples, last) = time(&matcher, &device, &haystack, how.counted)?;
        (times.samples, times.records, times.candidates) = (samples, last.records, last.candidates);
        times.read_ns = haystack.read_seconds(&device)? * 1e9;
    }
    Ok(times)
}

fn time(
    matcher: &GpuMatcher,
    device: &Device,
    haystack: &Resident,
    counted: bool,
) -> Result<(Vec<f64>, Timed)> {
    let mut workspace = Workspace::open(device)?;
    let mut once = || -> Result<Timed> {
        if !counted {
            return Ok(matcher.time_resident(&mut workspace, haystack)?);
        }
        let timed = matcher.time_resident_count(&mut workspace, haystack);
        Ok(timed.with_context(|| format!("not counted: {}", matcher.why_uncounted()))??)
    };
    let mut last = once()?;
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        last = once()?;
        samples.push(last.seconds * 1e9);
    }
    Ok((samples, last))
}
