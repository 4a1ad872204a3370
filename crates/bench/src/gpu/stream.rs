//! Times searches of text in host memory or in a file: it is copied to the device, and counts
//! return.
//!
//! The bound is the rate of plain copies from pinned memory, measured in the same run: no search
//! that copies every byte to the device is faster.

use std::io::{Seek, Write};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use fyke::gpu::device::{Backend, Device};
use fyke::gpu::matcher::GpuMatcher;
use fyke::gpu::resident;
use fyke_core::{Block, Count, Matcher, PatternSet, Scratch};
use fyke_cpu::parallel::{self, Haystack};
use fyke_io::source::{self, Opened};

use super::engine::engine;
use super::verify::{CPU_ENGINE, WRONG, no_fault};
use crate::timing::stats::Stats;

/// Samples of each way.
const SAMPLES: usize = 5;

/// Bytes that are copied to measure the rate of copies.
const COPIED: usize = 256 << 20;

/// One way of the text through the device.
pub(super) struct WayTimes {
    /// Where the text is, or `cpu` for a CPU engine on all threads.
    pub(super) way: &'static str,
    /// Statistics of the samples, in nanoseconds.
    pub(super) stats: Stats,
    pub(super) matches: u64,
}

/// The ways of one set and text.
pub(super) struct StreamTimes {
    pub(super) backend: &'static str,
    pub(super) device: String,
    /// How many devices share the pieces of the text.
    pub(super) devices: usize,
    /// GB/s of plain copies to the device.
    pub(super) copy_rate: f64,
    pub(super) ways: Vec<WayTimes>,
}

/// Verifies and times each way with `bytes` of repeated text.
pub(super) fn streams(
    spec: &str,
    set: &PatternSet,
    text: &[u8],
    bytes: usize,
    threads: usize,
) -> Result<StreamTimes> {
    ensure!(!text.is_empty() && bytes > 0, "there is nothing to search");
    let (engine, opt) = engine(spec)?;
    let matcher = engine.compile_for_device(set, &opt)?;
    let device = matcher.device().clone();
    let mut pinned = device.pinned(bytes)?;
    pinned.chunks_mut(text.len()).for_each(|part| part.copy_from_slice(&text[..part.len()]));
    let memory = pinned.to_vec();
    let cpu = fyke::registry::compile(CPU_ENGINE, set, None)?;
    let on_cpu = || fold(&*cpu, Haystack::Slice(&memory), threads);
    let mut ways = vec![
        timed("cpu", &on_cpu)?,
        timed("pinned", &|| Ok(scan(&matcher, &pinned)))?,
        timed("memory", &|| Ok(scan(&matcher, &memory)))?,
        in_file(&matcher, &memory, threads)?,
    ];
    if device.properties().backend == Backend::Cuda {
        ways.push(registered(&matcher, &device, &memory)?);
    }
    no_fault()?;
    for way in &ways {
        let (found, expected) = (way.matches, ways[0].matches);
        ensure!(found == expected, "{WRONG}: {}: {found} matches, expected {expected}", way.way);
    }
    Ok(StreamTimes {
        backend: device.properties().backend.name(),
        device: device.properties().name.clone(),
        devices: matcher.devices(),
        copy_rate: copy_rate(&device, bytes)? / 1e9,
        ways,
    })
}

pub(super) fn copy_rate(device: &Device, bytes: usize) -> Result<f64> {
    Ok(resident::copy_rates(device, bytes.min(COPIED))?.write)
}

fn scan(matcher: &GpuMatcher, haystack: &[u8]) -> u64 {
    let mut count = Count::default();
    let _ = matcher.scan(Block::whole(haystack), &mut Scratch::new(), &mut count);
    count.matches
}

fn fold(matcher: &dyn Matcher, haystack: Haystack<'_>, threads: usize) -> Result<u64> {
    let counts = parallel::fold(matcher, haystack, threads, Count::default)?;
    Ok(counts.iter().map(|c| c.matches).sum())
}

/// Memory that is pinned where it lies, once for all scans. OpenCL would not pin it.
fn registered(matcher: &GpuMatcher, device: &Device, memory: &[u8]) -> Result<WayTimes> {
    device.with_registered(memory, || timed("registered", &|| Ok(scan(matcher, memory))))?
}

/// A file in the system's cache, because it was just written, read by several threads as `fyke
/// scan` does.
fn in_file(matcher: &GpuMatcher, haystack: &[u8], threads: usize) -> Result<WayTimes> {
    let mut file = tempfile::NamedTempFile::new().context("cannot create a temporary file")?;
    file.write_all(haystack).context("cannot write the temporary file")?;
    file.rewind()?;
    let opened = source::open(file.path())?;
    let Opened::File(data) = opened else {
        anyhow::bail!("the temporary file is not a plain file")
    };
    let read = |at: u64, to: &mut [u8]| data.read_at(at, to);
    let way = || fold(matcher, Haystack::ReadAt { len: data.len(), read: &read }, threads);
    timed("file", &way)
}

/// Runs a way once, then times it.
pub(super) fn timed(way: &'static str, run: &dyn Fn() -> Result<u64>) -> Result<WayTimes> {
    let matches = run().context(way)?;
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        let start = Instant::now();
        ensure!(run()? == matches, "{WRONG}: {way}: two runs find different matches");
        samples.push(start.elapsed().as_nanos() as f64);
    }
    Ok(WayTimes { way, stats: Stats::of(&samples), matches })
}
