//! Verifies and times a row.

use std::any::Any;

use anyhow::{Context, Result, bail, ensure};
use fyke::gpu::device::{self, Device, Fault};
use fyke::gpu::matcher::{GpuEngine, GpuMatcher, Workspace};
use fyke::gpu::resident::{Resident, SpreadHaystack, Timed};
use fyke::{Engine, Options};
use fyke_core::sink::Count;
use fyke_core::{Block, Fingerprint, Matcher, PatternSet, Scratch};

/// Samples of each row; the median counts.
pub const SAMPLES: usize = 7;

/// What every row is verified with: the processor's engine of the set.
pub const PROCESSOR: &str = "auto:gpu=no";

/// What was found and how fast.
pub struct Measured {
    /// The engine, with how it was measured.
    pub engine: String,
    /// `cuda` or `opencl`.
    pub backend: &'static str,
    /// The name of the device.
    pub device: String,
    /// Distinct patterns.
    pub patterns: usize,
    /// Bytes of the repeated text.
    pub bytes: u64,
    /// In the text once.
    pub matches: u64,
    /// Fingerprint of the matches in the text once.
    pub fingerprint: u64,
    /// Seconds of each sample, the least first.
    pub samples: Vec<f64>,
    /// Records that a search of the repeated text writes, or matches that it counts.
    pub records: u64,
    /// Matches were counted and no record was written.
    pub counted: bool,
    /// Places of the repeated text that passed a filter.
    pub candidates: u64,
    /// Median of the samples.
    pub seconds: f64,
    /// From the fastest to the slowest sample, as a share of the median.
    pub spread: f64,
    /// Seconds that reading the text takes the device.
    pub read_seconds: f64,
    /// What the engine says of itself.
    pub about: String,
}

/// The engine of a specification, with its options.
pub fn engine(spec: &str) -> Result<(&'static GpuEngine, Options)> {
    let (name, params) = fyke::registry::parse(spec);
    let engines: Vec<_> = fyke::registry::engines().into_iter().filter_map(of_gpu).collect();
    let Some(engine) = engines.iter().find(|e| e.info.name == name) else {
        let names: Vec<_> = engines.iter().map(|e| e.info.name).collect();
        bail!("--engine {name}: no GPU engine has this name; choose one of {}", names.join(", "));
    };
    Ok((engine, Options::with_params(params)?))
}

fn of_gpu(engine: &'static dyn Engine) -> Option<&'static GpuEngine> {
    (engine as &dyn Any).downcast_ref()
}

fn fingerprint(matcher: &dyn Matcher, text: &[u8]) -> Fingerprint {
    let mut sum = Fingerprint::default();
    let _ = matcher.scan(Block::whole(text), &mut Scratch::new(), &mut sum);
    sum
}

/// Fails if the device did: then the processor took its place.
pub fn no_fault() -> Result<()> {
    match fyke::gpu::faults::take().first() {
        None => Ok(()),
        Some(fault) => bail!("{}", fault.what),
    }
}

/// Compares what the device finds with what the processor finds.
fn verify(matcher: &GpuMatcher, set: &PatternSet, text: &[u8]) -> Result<Fingerprint> {
    let found = fingerprint(matcher, text);
    no_fault()?;
    check(&found, &expected(set, text)?)?;
    Ok(found)
}

/// What the processor finds in a text.
///
/// # Errors
/// No engine takes the set.
pub fn expected(set: &PatternSet, text: &[u8]) -> Result<Fingerprint> {
    Ok(fingerprint(&*fyke::registry::compile(PROCESSOR, set, None)?, text))
}

/// Compares what was found with what the processor finds.
pub fn check(found: &Fingerprint, expected: &Fingerprint) -> Result<()> {
    ensure!(
        (found.matches, found.sum) == (expected.matches, expected.sum),
        "WRONG: {} matches with fingerprint {:016x}, and not {} with {:016x}",
        found.matches,
        found.sum,
        expected.matches,
        expected.sum
    );
    Ok(())
}

/// The same for a number of matches that comes without records.
fn verify_count(matcher: &GpuMatcher, text: &[u8], expected: u64) -> Result<()> {
    let mut count = Count::default();
    let _ = matcher.scan(Block::whole(text), &mut Scratch::new(), &mut count);
    if let Some(fault) = fyke::gpu::faults::take().first() {
        bail!("{}", fault.what);
    }
    ensure!(count.matches == expected, "WRONG: counted {}, and not {expected}", count.matches);
    Ok(())
}

/// How a row is measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// The engine is shown the text beforehand.
    pub sample: bool,
    /// Matches are counted, and no record is written.
    pub counted: bool,
}

/// Measures a row. `bytes` of text are held on the device.
pub fn resident(
    spec: &str,
    set: &PatternSet,
    text: &[u8],
    how: How,
    bytes: u64,
) -> Result<Measured> {
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
    let haystack = Resident::repeat(&device, text, bytes)?;
    let (samples, last) = time(&matcher, &device, &haystack, how.counted)?;
    let seconds = samples[SAMPLES / 2];
    Ok(Measured {
        engine: if how.sample { format!("{spec} sampled") } else { spec.into() },
        backend: device.properties().backend.name(),
        device: device.properties().name.clone(),
        patterns: set.len(),
        bytes,
        matches: found.matches,
        fingerprint: found.sum,
        records: last.records,
        counted: how.counted,
        candidates: last.candidates,
        seconds,
        spread: (samples[SAMPLES - 1] - samples[0]) / seconds,
        samples,
        read_seconds: haystack.read_seconds(&device)?,
        about: matcher.describe(),
    })
}

/// Verifies and times a text of so many bytes in the memory of several devices, the first ones of the kind that the
/// engine would take: the median of the samples in seconds, each that of its slowest device.
pub fn spread(
    spec: &str,
    set: &PatternSet,
    text: &[u8],
    how: How,
    bytes: u64,
    devices: usize,
) -> Result<f64> {
    let (engine, mut opt) = engine(spec)?;
    let (_, params) = fyke::registry::parse(spec);
    let first = first_of_kind(&opt, devices)?;
    opt = opt.params(&format!("{params},devices={first}"))?;
    if how.sample {
        opt = opt.sampled(text);
    }
    let matcher = engine.compile_for_device(set, &opt)?;
    verify(&matcher, set, text)?;
    let haystack = SpreadHaystack::repeat(&matcher, text, bytes)?;
    let open = |place| Workspace::open(matcher.on(place).device());
    let mut workspaces = (0..devices).map(open).collect::<Result<Vec<_>, _>>()?;
    let mut once = || matcher.time_spread(&mut workspaces, &haystack, how.counted);
    once()?;
    let one = |_| once().map(|timed| timed.seconds);
    let mut samples = (0..SAMPLES).map(one).collect::<Result<Vec<f64>, Fault>>()?;
    samples.sort_unstable_by(f64::total_cmp);
    Ok(samples[SAMPLES / 2])
}

/// The numbers of the first so many devices of those that options mean by `all`, as `devices=` takes them.
fn first_of_kind(opt: &Options, count: usize) -> Result<String> {
    let backend = opt.param("backend").unwrap_or("auto");
    let meant =
        device::open_all(&Options::with_params(&format!("backend={backend},devices=all"))?)?;
    ensure!(meant.len() >= count, "there are {} of the kind of the first", meant.len());
    let number = |d: &Device| device::inventory().devices.iter().position(|other| other.is(d));
    let numbers = meant.iter().take(count).filter_map(number);
    Ok(numbers.map(|n| n.to_string()).collect::<Vec<_>>().join("+"))
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
        Ok(timed.context("this engine does not count this set")??)
    };
    let mut last = once()?;
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        last = once()?;
        samples.push(last.seconds);
    }
    samples.sort_unstable_by(f64::total_cmp);
    Ok((samples, last))
}
