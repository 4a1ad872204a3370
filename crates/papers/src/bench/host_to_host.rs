//! Verifies and times the host-to-host strategies on a device.

use crate::gpu::strategy::{HostToHost, Strategy};
use anyhow::Result;
use fyke_bench::gpu::engine::engine;
use fyke_bench::gpu::resident::SAMPLES;
use fyke_bench::gpu::verify::check;
use fyke_core::{Fingerprint, PatternSet};

/// Runs a strategy once and verifies what it finds, then times it: seconds of each sample, on the
/// host's clock.
///
/// # Errors
/// It finds wrong matches, or the device fails.
pub fn strategy(
    run: &mut HostToHost<'_>,
    strategy: Strategy,
    expected: &Fingerprint,
) -> Result<Vec<f64>> {
    run.forget();
    run.run(strategy)?;
    let mut found = Fingerprint::default();
    let _ = run.deliver(&mut found);
    check(&found, expected)?;
    (0..SAMPLES).map(|_| Ok(run.run(strategy)?)).collect()
}

/// Verifies and times a strategy that copies `bytes` of text to the device in segments, and
/// results back: nanoseconds of each sample on the host's clock, and the matches. `expected` gives
/// the matches of that text.
pub(super) fn host_to_host(
    spec: &str,
    set: &PatternSet,
    text: &[u8],
    bytes: usize,
    (way, segments): (Strategy, usize),
    expected: impl FnOnce(&[u8]) -> Result<Fingerprint>,
) -> Result<(Vec<f64>, u64)> {
    let (engine, opt) = engine(spec)?;
    let matcher = engine.compile_for_device(set, &opt)?;
    let mut run = HostToHost::new(&matcher, text, bytes, segments)?;
    let expected = expected(run.text())?;
    let seconds = strategy(&mut run, way, &expected)?;
    Ok((seconds.iter().map(|s| s * 1e9).collect(), expected.matches))
}
