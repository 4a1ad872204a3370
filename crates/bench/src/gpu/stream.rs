//! Host to host: a haystack in the host's memory or in a file goes through the device, and the count comes back.
//!
//! The rate that others are set beside is that of plain copies from pinned memory, measured in the same run: nothing that
//! brings every byte to the device is faster.

use std::io::{Seek, Write};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use fyke::gpu::device::Device;
use fyke::gpu::matcher::GpuMatcher;
use fyke::gpu::resident;
use fyke::parallel::{self, Haystack};
use fyke_core::{Block, Count, Matcher, PatternSet, Scratch};
use fyke_io::source::{self, Opened};

use super::run;

/// Samples of each way; the median counts.
const SAMPLES: usize = 5;

/// Bytes that are copied to measure the rate of copies.
const COPIED: usize = 256 << 20;

/// What is set beside the rate of copies.
pub(super) struct Streamed {
    /// Where the haystack is, or `processor` for the host's own engine on all threads.
    pub(super) way: &'static str,
    pub(super) seconds: f64,
    pub(super) spread: f64,
    pub(super) matches: u64,
}

/// Ways of one set and text.
pub(super) struct Streams {
    pub(super) engine: String,
    pub(super) backend: &'static str,
    pub(super) device: String,
    pub(super) patterns: usize,
    pub(super) bytes: usize,
    /// Bytes a second of plain copies to the device.
    pub(super) copy_rate: f64,
    pub(super) ways: Vec<Streamed>,
}

/// Verifies and times the ways that `bytes` of repeated text can go.
pub(super) fn streams(
    spec: &str,
    set: &PatternSet,
    text: &[u8],
    bytes: usize,
    threads: usize,
) -> Result<Streams> {
    ensure!(!text.is_empty() && bytes > 0, "there is nothing to search");
    let (engine, opt) = run::engine(spec)?;
    let matcher = engine.compile_for_device(set, &opt)?;
    let device = matcher.device().clone();
    let mut pinned = device.pinned(bytes)?;
    pinned.chunks_mut(text.len()).for_each(|part| part.copy_from_slice(&text[..part.len()]));
    let memory = pinned.to_vec();
    let processor = fyke::registry::compile(run::PROCESSOR, set, None)?;
    let on_processor = || fold(&*processor, Haystack::Slice(&memory), threads);
    let ways = vec![
        timed("processor", &on_processor)?,
        timed("pinned", &|| Ok(scan(&matcher, &pinned)))?,
        timed("memory", &|| Ok(scan(&matcher, &memory)))?,
        in_file(&matcher, &memory, threads)?,
    ];
    run::no_fault()?;
    for way in &ways {
        let (found, expected) = (way.matches, ways[0].matches);
        ensure!(found == expected, "WRONG: {}: {found} matches, and not {expected}", way.way);
    }
    Ok(Streams {
        engine: spec.into(),
        backend: device.properties().backend.name(),
        device: device.properties().name.clone(),
        patterns: set.len(),
        bytes,
        copy_rate: copy_rate(&device, bytes)?,
        ways,
    })
}

fn copy_rate(device: &Device, bytes: usize) -> Result<f64> {
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

/// A file that was just written, so that it is in the system's cache, read by several threads as `fyke scan` does.
fn in_file(matcher: &GpuMatcher, haystack: &[u8], threads: usize) -> Result<Streamed> {
    let mut file = tempfile::NamedTempFile::new().context("a file for the haystack")?;
    file.write_all(haystack).context("writing a file for the haystack")?;
    file.rewind()?;
    let opened = source::open(file.path())?;
    let Opened::File(data) = opened else { anyhow::bail!("a plain file is not one") };
    let read = |at: u64, to: &mut [u8]| data.read_at(at, to);
    let way = || fold(matcher, Haystack::ReadAt { len: data.len(), read: &read }, threads);
    timed("file", &way)
}

fn timed(way: &'static str, run: &dyn Fn() -> Result<u64>) -> Result<Streamed> {
    let matches = run().context(way)?;
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        let start = Instant::now();
        ensure!(run()? == matches, "WRONG: {way}: not the same twice");
        samples.push(start.elapsed().as_secs_f64());
    }
    samples.sort_unstable_by(f64::total_cmp);
    let seconds = samples[SAMPLES / 2];
    Ok(Streamed { way, seconds, spread: (samples[SAMPLES - 1] - samples[0]) / seconds, matches })
}
